"""Tables of the ini's keys, and of Castalia's keys that the embedded radio treats differently.

Both come from the keys' declarations; tests compare these with Castalia's NED files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from roambus.bridge.ini.lookup import PER_MAC, PER_MANAGER, PER_NODE, SHARED
from roambus.bridge.keys import keys_of, path_of
from roambus.bridge.scenario import nodes, radio
from roambus.bridge.scenario.radio import ChannelSettings, MacSettings, RadioSettings
from roambus.python_protocol.settings import Setting, plain

_KEYS_COLUMNS = "| Key | Type | Unit | Range | Default | Meaning |\n|---|---|---|---|---|---|\n"

ERRORS_OF_READINGS = {path_of(RadioSettings, field) for field in ("rssi_offset_db", "rssi_noise_db")}
"""Keys of the embedded radio that Castalia lacks."""

PARTS: dict[str, tuple[Setting, ...]] = {
    "TunableMAC": tuple(one for one in (*radio.MAC_KEYS, *radio.ROUTING_KEYS) if one.name.startswith(radio.MAC)),
    "Radio (CC2420)": tuple(one for one in radio.KEYS if one.name not in ERRORS_OF_READINGS),
    "WirelessChannel": radio.CHANNEL_KEYS,
    "NoMobilityManager, LineMobilityManager": (*nodes.MOBILITY_KEYS, *nodes.MANAGER_KEYS["LineMobilityManager"]),
}
"""The keys by their module in Castalia."""

MODELLED = {
    one.name
    for one in (*keys_of(MacSettings), *keys_of(RadioSettings), *keys_of(ChannelSettings), *keys_of(nodes.Line))
} | {
    radio.FILE.name,
    radio.MODE.name,
    radio.TX_POWER.name,
    nodes.MANAGER.name,
    radio.TEMPORAL_FILE.name,
    radio.LOSSES_FILE.name,
}
"""Paths of keys that affect the embedded radio."""

OF_THE_RADIO = {
    radio.DATA_RATE.name: "only the rate of the radio's mode",
    radio.FRAME_OVERHEAD.name: "only the radio's",
}
"""Radio facts that the MAC repeats; another value is an error."""

_TRACE = "it controls Castalia's own trace"

WHY = {
    "sleepLevel": "the CC2420 has one level; for other radios the first is used",
    "state": "TunableMAC has its radio listen at once",
    "phyDataRate": "it comes from the radio parameters file",
    "phyFrameOverhead": "the radio has a key of this name, too",
    "collectTraceInfo": _TRACE,
    "printStateTransitions": _TRACE,
    "collisionModel": "the other models are for comparison with simulators that have no better one",
    "carrierFreq": "all nodes are on one channel",
    "carrierSenseInterruptEnabled": "TunableMAC does not use it",
    "backoffType": "there are no others",
    "zCellSize": "the field is flat",
    "zCoorDestination": "the field is flat",
    "MobilityManagerName": "these are Castalia's and those of roambus",
}
"""The reason the embedded radio lacks some values, by a path's last part."""


def key_tables() -> str:
    """Return a table for each module that has keys."""
    sections = [f"## {title}\n\n{_table(keys)}" for title, keys in (SHARED | PER_NODE).items()]
    managers = [f"### {manager}\n\n{_table(keys)}" for manager, keys in PER_MANAGER.items() if keys]
    macs = [f"### The MAC {mac}\n\n{_table(keys)}" for mac, keys in PER_MAC.items()]
    return "\n".join([*sections, *macs, *managers])


def castalia_table() -> str:
    """Return Castalia's keys that the embedded radio does not fully know."""
    differing = ((title, one) for title, keys in PARTS.items() for one in keys if verdict(one) != "yes")
    rows = "".join(f"| {title} | `{name_of(one)}` | {verdict(one)} | {why(one)} |\n" for title, one in differing)
    return f"| Module | Key | Embedded radio | Why |\n|---|---|---|---|\n{rows}"


def _table(keys: Iterable[Setting]) -> str:
    return _KEYS_COLUMNS + "".join(f"| {' | '.join(_cells(key))} |\n" for key in keys)


def _cells(key: Setting) -> Iterator[str]:
    default = "must be set" if key.default is None else f"`{key.default}`"
    within = _choices(key, '`""`') if key.choices else key.range_text()
    for cell in (f"`{key.name}`", key.kind.name, key.measure, within, default, key.meaning):
        yield cell.replace("|", r"\|")


def _choices(key: Setting, empty: str) -> str:
    return " or ".join(f"`{plain(choice)}`" if choice != "" else empty for choice in key.choices)


def verdict(one: Setting) -> str:
    """Return "yes", the embedded radio's accepted values, or "no effect"."""
    if one.choices:
        return f"only {_choices(one, 'an empty text')}"
    return "yes" if one.name in MODELLED else OF_THE_RADIO.get(one.name, "no effect")


def why(one: Setting) -> str:
    """Return why it lacks some values; empty if it knows all."""
    return "" if verdict(one) == "yes" else WHY.get(name_of(one), "")


def name_of(one: Setting) -> str:
    """Return the last part of its path."""
    return one.name.rpartition(".")[2]
