"""The section of the docs that says which keys of Castalia the embedded radio does not know, or not wholly.

It is a part of the page that `roambus.bridge.ini.page` writes from the declarations; a test holds the declarations to
the modules of a Castalia that is there.
"""

from __future__ import annotations

from roambus.bridge.keys.key import Key, keys_of
from roambus.bridge.scenario import channel, mac, mobility, radio
from roambus.bridge.scenario.channel import ChannelSettings
from roambus.bridge.scenario.mac import MacSettings
from roambus.bridge.scenario.radio import RadioSettings

PARTS: dict[str, tuple[Key, ...]] = {
    "TunableMAC": tuple(one for one in mac.KEYS if one.path.startswith(mac.MAC)),
    "Radio (CC2420)": radio.KEYS,
    "WirelessChannel": channel.KEYS,
    "NoMobilityManager, LineMobilityManager": (*mobility.KEYS, *mobility.MANAGER_KEYS["LineMobilityManager"]),
}
"""The keys by the module of Castalia that has them."""

MODELLED = {
    one.path
    for one in (*keys_of(MacSettings), *keys_of(RadioSettings), *keys_of(ChannelSettings), *keys_of(mobility.Line))
} | {radio.FILE.path, radio.MODE.path, radio.TX_POWER.path, mobility.MANAGER.path, channel.TEMPORAL_FILE.path}
"""The paths of the keys that change what the embedded radio does."""

_TRACE = "it is about Castalia's own trace"

WHY = {
    "sleepLevel": "the CC2420 has one level; of other radios the first is taken",
    "state": "TunableMAC has its radio listen at once",
    "phyDataRate": "it must be the radio's, which is read from the radio parameters file",
    "phyFrameOverhead": "it must be the radio's own key of this name",
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

HEAD = """\
## What the embedded radio does with Castalia's keys

It does with the keys of Castalia's MAC, radio, channel and mobility managers what Castalia does, and
[Back-ends](backends.md#how-far-to-trust-each) says how that is tested; these are the exceptions. A value that it does
not know is an error. A key without effect is read and changes nothing.

| Module | Key | Embedded radio | Why |
|---|---|---|---|
"""


def verdict(one: Key) -> str:
    """Whether the embedded radio knows the key: all of it, some values, or none."""
    if one.only:
        choices = " or ".join(f"`{choice}`" if choice else "an empty text" for choice in one.choices())
        return f"only {choices}"
    return "yes" if one.path in MODELLED else "no effect"


def why(one: Key) -> str:
    """Why it does not know all values; empty if it does."""
    return "" if verdict(one) == "yes" else WHY.get(name_of(one), "")


def name_of(one: Key) -> str:
    """The last part of its path."""
    return one.path.rpartition(".")[2]


def section() -> str:
    """The section in Markdown, with the keys of which the radio does not know all."""
    rows = ((title, one) for title, keys in PARTS.items() for one in keys if verdict(one) != "yes")
    return HEAD + "".join(f"| {title} | `{name_of(one)}` | {verdict(one)} | {why(one)} |\n" for title, one in rows)
