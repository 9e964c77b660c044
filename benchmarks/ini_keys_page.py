"""The page of the docs about the keys of the ini, written from their declarations.

It lists every key, and then the keys of Castalia that the embedded radio does not know, or only in part.
`python -m benchmarks.ini_keys_page docs/ini-keys.md` writes it; tests compare it with the declarations, and the keys
with the modules of Castalia, if there is one.
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

Look up here every key that a rendered ini may contain. `roambus render` prints such an ini, and [Templates and
sweeps](sweeps.md) says how to write a template for it:

```sh
roambus render thesis --agent mft --set config=C4
```

If a key is absent, it has the default in this table, which is that of Castalia's own module. Any other key is an error
that names the line; so is a value that cannot be read, is out of range, or is not known to the embedded radio. With
`--backend castalia` an ini can have [more](castalia.md#other-macs-radios-and-models-of-collisions).

- Write a *number* without its unit, which the column names. Write a *time with its unit*: `100ms`.
- A key that *must be set* has no default.
- Keys of `SN.node[*]` can differ from node to node, as in `SN.node[3].xCoor` and `SN.node[1..4].xCoor`. All nodes share
  the keys of the MAC, of the routing and of the radio except its transmit power, the agent and the processing delay.

`python -m benchmarks.ini_keys_page docs/ini-keys.md` writes this page from the declarations of the keys.
"""
_KEYS_COLUMNS = "| Key | Type | Unit | Range | Default | Meaning |\n|---|---|---|---|---|---|\n"

ERRORS_OF_READINGS = {path_of(RadioSettings, field) for field in ("rssi_offset_db", "rssi_noise_db")}
"""The keys of the embedded radio that no Castalia has."""

PARTS: dict[str, tuple[Setting, ...]] = {
    "TunableMAC": tuple(one for one in (*radio.MAC_KEYS, *radio.ROUTING_KEYS) if one.name.startswith(radio.MAC)),
    "Radio (CC2420)": tuple(one for one in radio.KEYS if one.name not in ERRORS_OF_READINGS),
    "WirelessChannel": radio.CHANNEL_KEYS,
    "NoMobilityManager, LineMobilityManager": (*nodes.MOBILITY_KEYS, *nodes.MANAGER_KEYS["LineMobilityManager"]),
}
"""The keys by the module of Castalia that has them."""

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
"""The paths of the keys that change what the embedded radio does."""

OF_THE_RADIO = {
    radio.DATA_RATE.name: "only the rate of the radio's mode",
    radio.FRAME_OVERHEAD.name: "only the radio's",
}
"""What the MAC is told of its radio; any other value is an error."""

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
"""Why the embedded radio does not know all values of a key, by the last part of its path."""

_CASTALIA_HEAD = """\
## What the embedded radio does with Castalia's keys

The embedded radio treats the keys of Castalia's MAC, radio, channel and mobility managers as Castalia does;
[Back-ends](backends.md#how-far-to-trust-each) says how that is tested. This table lists the exceptions. A value that
the embedded radio does not know is an error. A key without effect is read and ignored.

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
