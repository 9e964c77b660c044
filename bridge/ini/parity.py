"""The page of the docs that says which keys of Castalia the embedded radio knows, written from the declarations.

`python -m roambus.bridge.ini.parity docs/castalia-keys.md` writes it; a test holds it to the declarations, and another
to the modules of a Castalia that is there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

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
# Castalia's keys on the embedded radio

Every key of Castalia's MAC, radio, channel and mobility managers that our templates use, and whether the embedded
radio does what Castalia does with it. A value that it does not know is an error; a key without effect is read and
changes nothing. [Keys of the ini](ini-keys.md) has types, ranges and meanings, and
[Back-ends](backends.md#how-far-to-trust-each) how the keys are held to Castalia.
`python -m roambus.bridge.ini.parity docs/castalia-keys.md` writes this page from the declarations of the keys.
"""
COLUMNS = "| Key | Embedded radio | Why not all |\n|---|---|---|\n"


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


def page() -> str:
    """The whole page in Markdown: a table for each module."""
    return "\n".join([HEAD, *_sections()])


def _sections() -> Iterator[str]:
    for title, keys in PARTS.items():
        rows = "".join(f"| `{name_of(one)}` | {verdict(one)} | {why(one)} |\n" for one in keys)
        yield f"## {title}\n\n{COLUMNS}{rows}"


def main(arguments: list[str]) -> int:
    """Writes the page to the file that is given."""
    Path(arguments[0]).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
