"""The open choices of the thesis, the 32 readings of the design, and the sweep of any reading.

Thirteen choices have two levels: the reproduction's, and another that the text allows as well. A choice alone may
decide nothing, and two together everything, so the readings change half of the choices at a time. The columns are the
words of odd length over five base choices: a main effect shares its column with effects of three choices only
(resolution IV). Pairs of choices share columns with each other, and are named as such a chain. The fourteenth choice,
the messages that count, needs no runs: each run is counted both ways.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from roambus.experiments.studies.thesis.claims import AODV, CONFIG, MFT
from roambus.experiments.sweeps.sweep import read_seeds
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.python_protocol.mft.messages import MftParameters

_BASE = "ABCDE"
LINK = "link"
"""The choice that decides most; effects and models are also made for each of its levels alone."""
UNCOUNTED = "without-acks"
"""The choice that needs no runs: acknowledgements of the link layer are no messages."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A choice: its column of the design, its other level in words, and the settings of that level."""

    name: str
    word: str
    other: str
    settings: Mapping[str, object] = field(default_factory=dict)
    mft: Mapping[str, object] = field(default_factory=dict)
    aodv: Mapping[str, object] = field(default_factory=dict)


_BARE, _LONG = {"link_layer": False}, {"link_queue_limit": 2000}
_PARENT = "sticky_parent"
_UNCORRECTED = {name: value for name, value in MftParameters.profiles["as_published"].items() if name != _PARENT}
CHOICES = (
    Factor(LINK, "A", "no link layer below the protocols", mft=_BARE, aodv=_BARE),
    Factor("profile", "B", "hellos on active routes only, no RERR when a route times out", aodv={"profile": "rfc"}),
    Factor("answers", "C", "only destinations answer RREQs", aodv={"destination_only": True}),
    Factor("load", "D", "a notification every 4 s", settings={"publish_interval": 4}),
    Factor("places", "E", "nodes start in the steady state", settings={"start": "steady"}),
    Factor(
        "timers",
        "ABC",
        "a heartbeat every 4 s; NODE_TRAVERSAL_TIME 190 ms, NET_DIAMETER 12",
        mft={
            "heartbeat_interval": "4s",
            "parent_window": "2s",
            "leader_time_out_min": "10s",
            "leader_time_out_max": "20s",
            "exclusion": "12s",
        },
        aodv={"node_traversal_time": "190ms", "net_diameter": 12},
    ),
    Factor("queues", "ABD", "queues of 2,000 messages", mft=_LONG, aodv={**_LONG, "request_queue_limit": 2000}),
    Factor("start", "ABE", "publishing begins 20 s later", settings={"publish_start": 20}),
    Factor("payload", "ACD", "60 bytes of payload", settings={"payload": 60}),
    Factor("parent", "ACE", "the first sender of a round is the parent", mft={_PARENT: False}),
    Factor("corrections", "BCD", "MFT-PubSub's other corrections off", mft=_UNCORRECTED),
    Factor(
        "jitter",
        "BCE",
        "relays wait up to 20 ms, answers to broadcasts 100 ms",
        mft={"relay_jitter": "20ms"},
        aodv={"broadcast_jitter": "100ms"},
    ),
    Factor("back-off", "ADE", "the MAC's back-off does not grow", settings={"backoff_type": 1}),
)
NAMES = [choice.name for choice in CHOICES]

Reading = Mapping[str, bool]
"""By the name of each choice, whether it is the other way round."""


def readings() -> dict[str, Reading]:
    """The 32 rows of the design, by the names of their sweeps."""
    rows = []
    for signs in itertools.product((-1, 1), repeat=len(_BASE)):
        sign = dict(zip(_BASE, signs, strict=True))
        rows.append({choice.name: int(np.prod([sign[letter] for letter in choice.word])) > 0 for choice in CHOICES})
    return {f"{number:02}": row for number, row in enumerate(rows, start=1)}


def every_reading() -> pd.DataFrame:
    """All 8,192 readings, a column of booleans for each choice."""
    return pd.DataFrame(list(itertools.product((False, True), repeat=len(CHOICES))), columns=NAMES)


def changes(reading: Reading) -> str:
    """The names of the choices that are the other way round, with spaces."""
    return " ".join(name for name in NAMES if reading[name])


def reading_of(words: str) -> Reading:
    """The reading with these changes; raises KeyError for a word that is no choice."""
    chosen = words.split()
    if unknown := set(chosen) - set(NAMES):
        raise KeyError(f"no choice is called {', '.join(sorted(unknown))}")
    return {name: name in chosen for name in NAMES}


def reading_in(row: pd.Series[Any]) -> Reading:
    """The reading in a row of a table with a column for each choice."""
    return {name: bool(row[name]) for name in NAMES}


def signs(rows: pd.DataFrame) -> pd.DataFrame:
    """The readings of a table with a column for each choice, as -1 and 1."""
    return rows[NAMES].astype(int) * 2 - 1


def chains() -> list[list[str]]:
    """The pairs of choices, in groups that share a column of the design."""
    groups: dict[str, list[str]] = {}
    for first, two in itertools.combinations(CHOICES, 2):
        column = "".join(sorted(set(first.word) ^ set(two.word)))
        groups.setdefault(column, []).append(f"{first.name} x {two.name}")
    return list(groups.values())


def design_columns() -> dict[str, np.ndarray]:
    """The signs of each main effect and of each chain of pairs, in the order of readings."""
    table = signs(pd.DataFrame(list(readings().values())))
    columns = {name: table[name].to_numpy() for name in NAMES}
    for chain in chains():
        first, two = chain[0].split(" x ")
        columns[" = ".join(chain)] = (table[first] * table[two]).to_numpy()
    return columns


# Sweep files


class Extent(NamedTuple):
    """The runs of a reading: speeds in m/s, the seeds as in a sweep's file, and seconds."""

    speeds: Sequence[int]
    seeds: int | str
    time_limit: int = 200

    @property
    def publish_until(self) -> int:
        """Seconds with publications: as large a part as the 500 of 700 s in the thesis."""
        return round(self.time_limit * 5 / 7)

    @property
    def seed_count(self) -> int:
        """How many seeds there are; raises UserError."""
        return len(read_seeds("seeds", self.seeds))


SELECTING = 3
"""Seeds of the design, which selects readings. Seeds from this number on are fresh, and confirm them."""
DESIGN = Extent((2, 8), SELECTING)
CONFIRMING = Extent(DESIGN.speeds, "3..12")
"""Ten fresh seeds, with the speeds and times of the design. The thesis' 700 s take 3.5 times as long."""
AGAIN = Extent(DESIGN.speeds, "43..62")
"""The second round: no reading of the first had these seeds. Ten left the narrow claims to chance."""


def sweep_text(reading: Reading, extent: Extent) -> str:
    """The sweep of one reading: both protocols at all sizes."""
    settings: dict[str, object] = {"time_limit": extent.time_limit, "publish_until": extent.publish_until}
    parameters: dict[str, dict[str, object]] = {MFT: {}, AODV: {"profile": "thesis"}}
    for choice in (choice for choice in CHOICES if reading[choice.name]):
        settings |= choice.settings
        parameters[MFT] |= choice.mft
        parameters[AODV] |= choice.aodv
    lines = [
        'template = "thesis"',
        f"seeds = {_toml(extent.seeds)}",
        "",
        "[set]",
        *_assignments(settings),
        "",
        "[axes]",
    ]
    lines += [f"config.{name} = {{ {', '.join(_assignments(values))} }}" for name, values in _sizes().items()]
    lines += [f"speed = {list(extent.speeds)}", "", "[agents]"]
    for agent, given in parameters.items():
        lines.append(f"{agent}.parameters = {{ {', '.join(_assignments(given))} }}")
    return "\n".join(lines) + "\n"


@cache
def _sizes() -> Mapping[str, Mapping[str, object]]:
    """The settings of each size, by its name."""
    (sizes,) = (axis.values for axis in read_sweep("thesis").axes if axis.name == CONFIG)
    return sizes


def _assignments(values: Mapping[str, object]) -> list[str]:
    return [f"{name} = {_toml(value)}" for name, value in values.items()]


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def write_sweeps(folder: Path, chosen: Mapping[str, Reading], extent: Extent) -> None:
    """Write the sweep files of these readings, by name; raises OSError."""
    for name, reading in chosen.items():
        write_sweep(folder, name, reading, extent)


def write_sweep(folder: Path, name: str, reading: Reading, extent: Extent) -> None:
    """Write the sweep file of a reading; raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.toml").write_text(sweep_text(reading, extent), encoding="utf-8")


def extent_of(speeds: str, seeds: str, seconds: str) -> Extent:
    """The runs of a reading in a table of expectations."""
    return Extent([*map(int, speeds.split())], seeds, int(seconds))
