"""The page of the docs about the keys of the ini, written from their declarations.

It lists every key, and then says which of Castalia's the embedded radio does not know, or not wholly.
`python -m benchmarks.ini_keys_page docs/ini-keys.md` writes it; tests hold it to the declarations, and the keys to the
modules of a Castalia that is there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from roambus.bridge.ini.lookup import PER_MANAGER, PER_NODE, SHARED
from roambus.bridge.keys import keys_of, path_of
from roambus.bridge.scenario import nodes, radio
from roambus.bridge.scenario.radio import ChannelSettings, MacSettings, RadioSettings
from roambus.python_protocol.settings import Setting, plain

_KEYS_HEAD = """\
# Keys of the ini

Every key that a rendered ini may hold; `roambus render` prints such an ini, and [Templates and sweeps](sweeps.md) says
how it is made. A key that stands here has the default of Castalia's own module, so that leaving it out means the same
to Castalia and to the embedded radio. A key that does not stand here is an error with its line, and so is a value that
cannot be read, is out of range, or is not known to the embedded radio. With `--backend castalia` an ini can have
[more](castalia.md#other-macs-radios-and-models-of-collisions).

- A *number* has the unit that the column says, and is written without it. A *time with its unit* carries it: `100ms`.
- A key that *must be set* has no default.
- Keys of `SN.node[*]` can differ from node to node, as in `SN.node[3].xCoor` and `SN.node[1..4].xCoor`. Those of the
  MAC, of the routing and of the radio except its transmit power, the agent and the processing delay are the same for
  all nodes.

`python -m benchmarks.ini_keys_page docs/ini-keys.md` writes this page from the declarations of the keys.
"""
_KEYS_COLUMNS = "| Key | Type | Unit | Range | Default | Meaning |\n|---|---|---|---|---|---|\n"

ERRORS_OF_READINGS = {path_of(RadioSettings, field) for field in ("rssi_offset_db", "rssi_noise_db")}
"""The keys of the embedded radio that no Castalia has."""

PARTS: dict[str, tuple[Setting, ...]] = {
    "TunableMAC": tuple(one for one in radio.MAC_KEYS if one.name.startswith(radio.MAC)),
    "Radio (CC2420)": tuple(one for one in radio.KEYS if one.name not in ERRORS_OF_READINGS),
    "WirelessChannel": radio.CHANNEL_KEYS,
    "NoMobilityManager, LineMobilityManager": (*nodes.MOBILITY_KEYS, *nodes.MANAGER_KEYS["LineMobilityManager"]),
}
"""The keys by the module of Castalia that has them."""

MODELLED = {
    one.name
    for one in (*keys_of(MacSettings), *keys_of(RadioSettings), *keys_of(ChannelSettings), *keys_of(nodes.Line))
} | {radio.FILE.name, radio.MODE.name, radio.TX_POWER.name, nodes.MANAGER.name, radio.TEMPORAL_FILE.name}
"""The paths of the keys that change what the embedded radio does."""

OF_THE_RADIO = {
    radio.DATA_RATE.name: "only the rate of the radio's mode",
    radio.FRAME_OVERHEAD.name: "only the radio's",
}
"""What the MAC is told of its radio; any other value is an error."""

_TRACE = "it is about Castalia's own trace"

WHY = {
    "sleepLevel": "the CC2420 has one level; of other radios the first is taken",
    "state": "TunableMAC has its radio listen at once",
    "phyDataRate": "it comes from the radio parameters file",
    "phyFrameOverhead": "the radio has a key of this name, too",
    "collectTraceInfo": _TRACE,
    "printStateTransitions": _TRACE,
    "collisionModel": "the other models are for comparison with simulators that have no better one",
    "carrierFreq": "all nodes are on one channel",
    "carrierSenseInterruptEnabled": "TunableMAC does not use it",
    "backoffType": "these are all that there are",
    "zCellSize": "the field is flat",
    "zCoorDestination": "the field is flat",
    "pathLossMapFile": "losses are drawn from the model; given ones are not read",
    "MobilityManagerName": "these are Castalia's own and those that come with roambus",
}
"""Why the embedded radio does not know all values of a key, by the last part of its path."""

_CASTALIA_HEAD = """\
## What the embedded radio does with Castalia's keys

It does with the keys of Castalia's MAC, radio, channel and mobility managers what Castalia does, and
[Back-ends](backends.md#how-far-to-trust-each) says how that is tested; these are the exceptions. A value that it does
not know is an error. A key without effect is read and changes nothing.

| Module | Key | Embedded radio | Why |
|---|---|---|---|
"""


def page() -> str:
    """The whole page in Markdown: a table for each module."""
    shared = (f"## {title}\n\n{_table(keys)}" for title, keys in (SHARED | PER_NODE).items())
    managers = (f"### {manager}\n\n{_table(keys)}" for manager, keys in PER_MANAGER.items() if keys)
    unknown = ((title, one) for title, keys in PARTS.items() for one in keys if verdict(one) != "yes")
    rows = "".join(f"| {title} | `{name_of(one)}` | {verdict(one)} | {why(one)} |\n" for title, one in unknown)
    return "\n".join([_KEYS_HEAD, *shared, *managers, _CASTALIA_HEAD + rows])


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
    """Whether the embedded radio knows the key: all of it, some values, or none."""
    if one.choices:
        return f"only {_choices(one, 'an empty text')}"
    return "yes" if one.name in MODELLED else OF_THE_RADIO.get(one.name, "no effect")


def why(one: Setting) -> str:
    """Why it does not know all values; empty if it does."""
    return "" if verdict(one) == "yes" else WHY.get(name_of(one), "")


def name_of(one: Setting) -> str:
    """The last part of its path."""
    return one.name.rpartition(".")[2]


def main(arguments: list[str]) -> int:
    """Writes the page to the file that is given."""
    Path(arguments[0]).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
