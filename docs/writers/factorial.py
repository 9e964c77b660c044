"""Whether a reading of the thesis exists under which its claims hold: a fractional factorial over the open choices.

python -m docs.writers.factorial design DIR          writes a sweep file for each of the 32 readings, and the design
python -m docs.writers.factorial analyse DIR --out DIR   reads DIR/results/NN, aggregated, and writes the tables

Thirteen choices have two levels: the reproduction's, and another that the text allows as well. A choice alone may
decide nothing, and two together everything, so the readings change half of the choices at a time. The columns are the
words of odd length over five base choices: a main effect shares its column with effects of three choices only
(resolution IV). Pairs of choices share columns with each other, and are told as such a chain. The fourteenth choice,
what counts as a message, needs no runs: each is counted both ways.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
import pandas as pd
from scipy import stats

from docs.writers.open_choices import without_acknowledgements
from roambus.bridge.errors import RoambusError, UserError
from roambus.bridge.runs.layout import SEED
from roambus.experiments.claims import ClaimTest, Side, Verdict, judge
from roambus.experiments.measurements import Measurements, NotMeasuredError, read_measurements
from roambus.experiments.studies.thesis.claims import AODV, CONFIG, FURTHER_CLAIMS, MFT, THESIS_CLAIMS
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.python_protocol.mft.messages import MftParameters
from roambus.spark.aggregation.aggregate import mean_points

CLAIMS: Mapping[int, ClaimTest] = dict(enumerate((*THESIS_CLAIMS, *FURTHER_CLAIMS), start=1))
_BASE = "ABCDE"
UNCOUNTED = "without-acks"
"""The choice that needs no runs: acknowledgements of the link layer are no messages."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice: its column of the design, its other level in words, and what that sets."""

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
    Choice("link", "A", "no link layer below the protocols", mft=_BARE, aodv=_BARE),
    Choice("profile", "B", "hellos on active routes only, no RERR when a route times out", aodv={"profile": "rfc"}),
    Choice("answers", "C", "only destinations answer RREQs", aodv={"destination_only": True}),
    Choice("load", "D", "a notification every 4 s", settings={"publish_interval": 4}),
    Choice("places", "E", "nodes start in the steady state", settings={"start": "steady"}),
    Choice(
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
    Choice("queues", "ABD", "queues of 2,000 messages", mft=_LONG, aodv={**_LONG, "request_queue_limit": 2000}),
    Choice("start", "ABE", "publishing begins 20 s later", settings={"publish_start": 20}),
    Choice("payload", "ACD", "60 bytes of payload", settings={"payload": 60}),
    Choice("parent", "ACE", "the first sender of a round is the parent", mft={_PARENT: False}),
    Choice("corrections", "BCD", "MFT-PubSub's other corrections off", mft=_UNCORRECTED),
    Choice(
        "jitter",
        "BCE",
        "relays wait up to 20 ms, answers to broadcasts 100 ms",
        mft={"relay_jitter": "20ms"},
        aodv={"broadcast_jitter": "100ms"},
    ),
    Choice("backoff", "ADE", "the MAC's back-off does not grow", settings={"backoff_type": 1}),
)

Reading = Mapping[str, bool]
"""By the name of each choice, whether it is the other way round."""


def readings() -> list[dict[str, bool]]:
    """The 32 rows of the design."""
    rows = []
    for signs in itertools.product((-1, 1), repeat=len(_BASE)):
        sign = dict(zip(_BASE, signs, strict=True))
        rows.append({choice.name: int(np.prod([sign[letter] for letter in choice.word])) > 0 for choice in CHOICES})
    return rows


def chains() -> list[list[str]]:
    """The pairs of choices, in groups that share a column of the design."""
    groups: dict[str, list[str]] = {}
    for one, two in itertools.combinations(CHOICES, 2):
        column = "".join(sorted(set(one.word) ^ set(two.word)))
        groups.setdefault(column, []).append(f"{one.name} x {two.name}")
    return list(groups.values())


# Sweep files


def sweep_text(reading: Reading, speeds: Sequence[int], seeds: int) -> str:
    """The sweep of one reading: both protocols at all sizes, 200 s."""
    chosen = [choice for choice in CHOICES if reading[choice.name]]
    settings: dict[str, object] = {"time_limit": 200, "publish_until": 143}
    parameters: dict[str, dict[str, object]] = {MFT: {}, AODV: {"profile": "thesis"}}
    for choice in chosen:
        settings |= choice.settings
        parameters[MFT] |= choice.mft
        parameters[AODV] |= choice.aodv
    lines = ['template = "thesis"', f"seeds = {seeds}", "", "[set]", *_assignments(settings), "", "[axes]"]
    (sizes,) = (axis.values for axis in read_sweep("thesis").axes if axis.name == CONFIG)
    for name, values in sizes.items():
        lines.append(f"config.{name} = {{ {', '.join(_assignments(values))} }}")
    lines += [f"speed = {list(speeds)}", "", "[agents]"]
    for agent, given in parameters.items():
        lines.append(f"{agent}.parameters = {{ {', '.join(_assignments(given))} }}")
    return "\n".join(lines) + "\n"


def _assignments(values: Mapping[str, object]) -> list[str]:
    return [f"{name} = {_toml(value)}" for name, value in values.items()]


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def write_design(folder: Path, seeds: int) -> None:
    """Write the sweep files, named by the design's rows; raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, reading in enumerate(readings(), start=1):
        (folder / f"{number:02}.toml").write_text(sweep_text(reading, (2, 8), seeds), encoding="utf-8")


# Quantities


class Judged(NamedTuple):
    """One reading's claims: its verdicts, and a margin for each claim's part and seed."""

    verdicts: dict[int, Verdict]
    margins: pd.DataFrame


def judged(measured: Measurements) -> Judged:
    """Judge each claim; a margin is a part's quantity less its bound, positive on the claimed side."""
    verdicts, margins = {}, []
    for number, test in CLAIMS.items():
        try:
            verdicts[number] = judge(list(test.parts(measured)))
        except NotMeasuredError:
            continue
        margins += [(number, *margin) for margin in _margins(test, measured)]
    return Judged(verdicts, pd.DataFrame(margins, columns=["claim", "part", "seed", "margin"]))


def _margins(test: ClaimTest, measured: Measurements) -> Iterator[tuple[str, int, float]]:
    for seed, runs in measured.runs.groupby(SEED):
        alone = replace(measured, runs=runs, points=mean_points(runs))
        for part in test.parts(alone):
            sign = 1 if part.bound.side is Side.ABOVE else -1
            yield part.label, int(str(seed)), sign * (part.mean - part.bound.number)


def read_judged(folder: Path) -> dict[tuple[int, bool], Judged]:
    """Each reading's claims, with acknowledgements counted as messages and without; raises UserError."""
    found = {}
    for number in range(1, len(readings()) + 1):
        measured = read_measurements(folder / f"{number:02}")
        found[number, False] = judged(measured)
        found[number, True] = judged(without_acknowledgements(measured))
    return found


# Effects


def effects(found: Mapping[tuple[int, bool], Judged]) -> pd.DataFrame:
    """A row for each part of a claim and each effect: half its difference, its 95 % interval, its p.

    The model is a mean, the reading and the seed; what is left is the error. Claims on messages have a further effect,
    of counting acknowledgements or not.
    """
    rows = []
    columns = design_columns()
    counted = _stacked(found, uncounted=False)
    uncounted = _stacked(found, uncounted=True)
    for (claim, part), margins in counted.items():
        table = margins.dropna(axis=1)
        residual = table.sub(table.mean(axis=1), axis=0).sub(table.mean(axis=0), axis=1) + table.to_numpy().mean()
        freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
        error = float(np.sqrt((residual.to_numpy() ** 2).sum() / freedom / table.size)) if freedom else np.nan
        for name, signs in columns.items():
            effect = float((table.mean(axis=1).to_numpy() * signs).mean())
            rows.append((claim, part, name, effect, *_inference(effect, error, freedom)))
        rows.append((claim, part, "mean", float(table.to_numpy().mean()), *_inference(1.0, error, freedom)))
        change = (uncounted[claim, part] - margins).to_numpy()
        rows.append((claim, part, UNCOUNTED, float(np.nanmean(change)) / 2, np.nan, np.nan))
    return pd.DataFrame(rows, columns=["claim", "part", "effect", "half", "interval", "p"])


def _inference(effect: float, error: float, freedom: int) -> tuple[float, float]:
    if not freedom or not error:
        return np.nan, np.nan
    half_width = float(stats.t.ppf(0.975, freedom)) * error
    return half_width, float(2 * stats.t.sf(abs(effect) / error, freedom))


def design_columns() -> dict[str, np.ndarray]:
    """The signs of each main effect and of each chain of pairs, in the order of readings."""
    table = pd.DataFrame(readings()).astype(int) * 2 - 1
    columns = {choice.name: table[choice.name].to_numpy() for choice in CHOICES}
    for chain in chains():
        one, two = chain[0].split(" x ")
        columns[" = ".join(chain)] = (table[one] * table[two]).to_numpy()
    return columns


def _stacked(found: Mapping[tuple[int, bool], Judged], uncounted: bool) -> dict[tuple[int, str], pd.DataFrame]:
    """By claim and part, a table of margins: a row for each reading, a column for each seed."""
    parts = [one.margins.assign(reading=number) for (number, way), one in found.items() if way is uncounted]
    whole = pd.concat(parts, ignore_index=True)
    return {
        (int(str(claim)), str(part)): rows.pivot(index="reading", columns="seed", values="margin")
        for (claim, part), rows in whole.groupby(["claim", "part"], sort=False)
    }


# The best readings


def predicted(table: pd.DataFrame) -> pd.DataFrame:
    """All readings, with the number of claims of which the main effects put every part on the claimed side.

    Ties are broken by the smallest of the margins, each as a multiple of its error.
    """
    names = [choice.name for choice in CHOICES] + [UNCOUNTED]
    signs = np.array(list(itertools.product((-1, 1), repeat=len(names))))
    holds: dict[int, np.ndarray] = {}
    for (claim, _), rows in table.groupby(["claim", "part"], sort=False):
        by_effect = rows.set_index("effect")["half"]
        margin = by_effect["mean"] + signs[:, :-1] @ by_effect[names[:-1]].to_numpy()
        margin = margin + (signs[:, -1] + 1) * by_effect[UNCOUNTED]
        number = int(str(claim))
        holds[number] = holds.get(number, np.ones(len(signs), dtype=bool)) & (margin > 0)
    result = pd.DataFrame(signs > 0, columns=names)
    result["claims"] = np.sum(list(holds.values()), axis=0)
    result["which"] = [" ".join(str(n) for n, ok in holds.items() if ok[row]) for row in range(len(signs))]
    result["changes"] = (signs > 0).sum(axis=1)
    return result.sort_values(["claims", "changes"], ascending=[False, True], kind="stable")


def verdict_table(found: Mapping[tuple[int, bool], Judged]) -> pd.DataFrame:
    """A row for each reading and count of messages: its choices, each claim's verdict, and how many hold."""
    rows, design = [], readings()
    for (number, uncounted), one in found.items():
        chosen = {name: int(way) for name, way in design[number - 1].items()}
        verdicts = {f"claim {claim}": verdict.value for claim, verdict in one.verdicts.items()}
        holding = sum(verdict is Verdict.HOLDS for verdict in one.verdicts.values())
        rows.append({"reading": number, **chosen, UNCOUNTED: int(uncounted), "hold": holding, **verdicts})
    return pd.DataFrame(rows)


def write_tables(folder: Path, out: Path) -> None:
    """Write the design with its verdicts, and the effects; raises UserError, OSError."""
    found = read_judged(folder)
    table = effects(found)
    out.mkdir(parents=True, exist_ok=True)
    verdict_table(found).to_csv(out / "readings.csv", index=False)
    table.to_csv(out / "effects.csv", index=False, float_format="%.4g")
    click.echo(predicted(table).head(20).to_string())


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the design, or the tables; see the head of this file."""
    parser = argparse.ArgumentParser(description="a fractional factorial over the thesis' open choices")
    parser.add_argument("task", choices=("design", "analyse"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args(arguments)
    try:
        if asked.task == "design":
            write_design(asked.folder, asked.seeds)
        elif asked.out is None:
            raise UserError("--out says where the tables go")
        else:
            write_tables(asked.folder, asked.out)
    except (RoambusError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
