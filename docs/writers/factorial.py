"""Whether a reading of the thesis exists under which its claims hold: a fractional factorial over the open choices.

python -m docs.writers.factorial design DIR                  writes DIR/NN.toml, the sweep of each of the 32 readings
python -m docs.writers.factorial analyse DIR --out PAGES     reads DIR/results, aggregated, and writes the tables
python -m docs.writers.factorial best DIR                    writes DIR/best-N.toml, the sweeps of four readings
python -m docs.writers.factorial confirm DIR --out PAGES     reads DIR/results/best-N, and writes their verdicts

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

from roambus.bridge.runs.layout import SEED
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.experiments.claims import SIGNIFICANCE, ClaimTest, Part, Side, Verdict, holm, judge
from roambus.experiments.measurements import Measurements, NotMeasuredError, read_measurements
from roambus.experiments.studies.thesis.claims import AODV, CONFIG, FURTHER_CLAIMS, MFT, THESIS_CLAIMS
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.python_protocol.mft.messages import MftParameters
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c

CLAIMS: Mapping[int, ClaimTest] = dict(enumerate((*THESIS_CLAIMS, *FURTHER_CLAIMS), start=1))
_BASE = "ABCDE"
UNCOUNTED = "without-acks"
"""The choice that needs no runs: acknowledgements of the link layer are no messages."""


@dataclass(frozen=True, slots=True)
class Factor:
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
    Factor("link", "A", "no link layer below the protocols", mft=_BARE, aodv=_BARE),
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

Reading = Mapping[str, bool]
"""By the name of each choice, whether it is the other way round."""
Row = tuple[int, bool]
"""A reading's number, and whether acknowledgements are left out of its messages."""
PREDICTIONS = Path(__file__).parents[1] / "results" / "open-choices-together-predictions.csv"


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
    for first, two in itertools.combinations(CHOICES, 2):
        column = "".join(sorted(set(first.word) ^ set(two.word)))
        groups.setdefault(column, []).append(f"{first.name} x {two.name}")
    return list(groups.values())


# Sweep files


DESIGN_SPEEDS, CONFIRM_SPEEDS = (2, 8), (2, 6, 8)
"""In m/s; claim 5 alone asks for 6."""
CONFIRM_SEEDS = 10


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
        (folder / f"{number:02}.toml").write_text(sweep_text(reading, DESIGN_SPEEDS, seeds), encoding="utf-8")


# Quantities


class Judged(NamedTuple):
    """One reading's claims: its verdicts, and a margin for each claim's part and seed."""

    verdicts: dict[int, Verdict]
    margins: pd.DataFrame


def judged(measured: Measurements) -> Judged:
    """Judge each claim; a margin is a part's quantity less its bound, positive on the claimed side."""
    verdicts, margins = {}, []
    # Claims are about runs; the points, which are means over all seeds, stay behind.
    seeds = [(int(str(seed)), replace(measured, runs=runs)) for seed, runs in measured.runs.groupby(SEED)]
    for number, test in CLAIMS.items():
        try:
            verdicts[number] = judge(list(test.parts(measured)))
        except NotMeasuredError:
            continue
        for seed, alone in seeds:
            margins += [(number, part.label, seed, _margin(part)) for part in test.parts(alone)]
    return Judged(verdicts, pd.DataFrame(margins, columns=["claim", "part", "seed", "margin"]))


def _margin(part: Part) -> float:
    return (part.mean - part.bound.number) * (1 if part.bound.side is Side.ABOVE else -1)


_ACKS = f"{c.SENT_PREFIX}ACK"


def without_acknowledgements(measured: Measurements) -> Measurements:
    """The same runs, with the link layer's acknowledgements not counted as messages."""
    runs = measured.runs
    left = runs[c.MESSAGES] - runs.get(_ACKS, 0)
    per_node = runs[c.MESSAGES_PER_NODE] * left / runs[c.MESSAGES]
    counted = runs.assign(**{c.MESSAGES: left, c.MESSAGES_PER_NODE: per_node})
    return replace(measured, runs=counted, points=mean_points(counted))


def read_judged(folders: Mapping[int, Path]) -> dict[Row, Judged]:
    """Each reading's claims, with acknowledgements counted as messages and without; raises UserError."""
    found = {}
    for number, folder in folders.items():
        measured = read_measurements(folder)
        found[number, False] = judged(measured)
        found[number, True] = judged(without_acknowledgements(measured))
    return found


# Effects


def effects(found: Mapping[Row, Judged]) -> pd.DataFrame:
    """A row for each part of a claim, each way to count messages and each effect.

    It has half the effect's difference, its 95 % interval, its p, and whether it is significant at 5 % by Holm's
    correction over the choices' effects on the part. The model is a mean, the reading and the seed; what is left is
    the error.
    """
    rows = []
    for uncounted in (False, True):
        for (claim, part), margins in _stacked(found, uncounted).items():
            rows += [(claim, part, int(uncounted), *effect) for effect in _effects_on(margins)]
    return pd.DataFrame(rows, columns=["claim", "part", UNCOUNTED, "effect", "half", "interval", "p", "significant"])


def _effects_on(margins: pd.DataFrame) -> Iterator[tuple[str, float, float, float, bool]]:
    table = margins.dropna(axis=1)
    residual = table.sub(table.mean(axis=1), axis=0).sub(table.mean(axis=0), axis=1) + table.to_numpy().mean()
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    # Without a second seed, or without any difference between seeds, there is no error to measure an effect by.
    error = float(np.sqrt((residual.to_numpy() ** 2).sum() / freedom / table.size)) if freedom else 0.0
    by_reading = table.mean(axis=1).to_numpy()
    halves = {name: float((by_reading * signs).mean()) for name, signs in design_columns().items()}
    halves["mean"] = float(by_reading.mean())
    width = float(stats.t.ppf(0.975, freedom)) * error if error else np.nan
    p = [float(2 * stats.t.sf(abs(half) / error, freedom)) if error else 1.0 for half in halves.values()]
    adjusted = holm(p[: len(CHOICES)]) + p[len(CHOICES) :]
    for (name, half), raw, corrected in zip(halves.items(), p, adjusted, strict=True):
        yield name, half, width, raw, corrected < SIGNIFICANCE


def design_columns() -> dict[str, np.ndarray]:
    """The signs of each main effect and of each chain of pairs, in the order of readings."""
    table = pd.DataFrame(readings()).astype(int) * 2 - 1
    columns = {choice.name: table[choice.name].to_numpy() for choice in CHOICES}
    for chain in chains():
        first, two = chain[0].split(" x ")
        columns[" = ".join(chain)] = (table[first] * table[two]).to_numpy()
    return columns


def _stacked(found: Mapping[Row, Judged], uncounted: bool) -> dict[tuple[int, str], pd.DataFrame]:
    """By claim and part, a table of margins: a row for each reading, a column for each seed."""
    parts = [factorial.margins.assign(reading=number) for (number, way), factorial in found.items() if way is uncounted]
    whole = pd.concat(parts, ignore_index=True)
    return {
        (int(str(claim)), str(part)): rows.pivot(index="reading", columns="seed", values="margin")
        for (claim, part), rows in whole.groupby(["claim", "part"], sort=False)
    }


def against_predictions(table: pd.DataFrame, expected: pd.DataFrame) -> pd.DataFrame:
    """A row for each choice and claim: the sign that was predicted, and that of the significant effects on its parts.

    Both are empty for none. The effect of counting messages is the difference of the means, without a test.
    """
    rows = []
    for claim in map(str, CLAIMS):
        if claim not in expected:
            continue
        on_claim = table[table["claim"] == int(claim)]
        for choice in expected.index:
            if choice == UNCOUNTED:
                means = on_claim[on_claim["effect"] == "mean"].pivot(index="part", columns=UNCOUNTED, values="half")
                halves = (means[1] - means[0])[lambda change: change != 0]
            else:
                effect = on_claim[(on_claim["effect"] == choice) & (on_claim[UNCOUNTED] == 0)]
                halves = effect.loc[effect["significant"], "half"]
            found = "".join(sign for sign, there in (("+", (halves > 0).any()), ("-", (halves < 0).any())) if there)
            rows.append((choice, int(claim), expected.loc[choice, claim], found))
    return pd.DataFrame(rows, columns=["choice", "claim", "predicted", "found"])


# The best readings


def predicted(table: pd.DataFrame) -> pd.DataFrame:
    """All readings, the number of claims that the main effects let hold, and which; the best first.

    A claim counts if every part's margin is above zero by more than the 95 % interval of its prediction. Of equal
    readings the one with fewer changes comes first.
    """
    names = [choice.name for choice in CHOICES]
    signs = np.array(list(itertools.product((-1, 1), repeat=len(names))))
    wide = np.sqrt(len(names) + 1)
    results = []
    for uncounted, counted in table.groupby(UNCOUNTED):
        holds: dict[int, np.ndarray] = {}
        for (claim, _), rows in counted.groupby(["claim", "part"], sort=False):
            by_effect = rows.set_index("effect")
            half = by_effect["half"]
            margin = half["mean"] + signs @ half[names].to_numpy()
            number = int(str(claim))
            certain = margin > wide * np.nan_to_num(by_effect["interval"].iloc[0])
            holds[number] = holds.get(number, np.ones(len(signs), dtype=bool)) & certain
        result = pd.DataFrame(signs > 0, columns=names)
        result[UNCOUNTED] = bool(uncounted)
        result["claims"] = np.sum(list(holds.values()), axis=0)
        result["which"] = [" ".join(str(n) for n, ok in holds.items() if ok[row]) for row in range(len(signs))]
        results.append(result)
    every = pd.concat(results, ignore_index=True)
    every["changes"] = every[[*names, UNCOUNTED]].sum(axis=1)
    return every.sort_values(["claims", "changes"], ascending=[False, True], kind="stable")


def best_readings(table: pd.DataFrame, number: int = 3) -> list[dict[str, bool]]:
    """The readings with the most claims, each with another set of them, as rows of the design."""
    best = predicted(table).drop_duplicates("which")
    rows = best[[choice.name for choice in CHOICES]].drop_duplicates().head(number)
    return [{name: bool(row[name]) for name in rows.columns} for _, row in rows.iterrows()]


# Tables


def verdict_table(found: Mapping[Row, Judged], design: Mapping[int, Reading]) -> pd.DataFrame:
    """A row for each reading and count of messages: its choices, each claim's verdict, and how many hold."""
    rows = []
    for (number, uncounted), factorial in found.items():
        chosen = {name: int(way) for name, way in design[number].items()}
        verdicts = {f"claim {claim}": verdict.value for claim, verdict in factorial.verdicts.items()}
        holding = sum(verdict is Verdict.HOLDS for verdict in factorial.verdicts.values())
        rows.append({"reading": number, **chosen, UNCOUNTED: int(uncounted), "hold": holding, **verdicts})
    return pd.DataFrame(rows)


def claim_table(found: Mapping[Row, Judged], table: pd.DataFrame) -> pd.DataFrame:
    """A row for each claim: in how many results it holds and does not, and which choices help and harm it.

    It leans to its side in a result where the means of all its parts do. A choice helps or harms if its effect on a
    part is significant; a choice can do both, on different parts.
    """
    mains = table[table["effect"].isin([choice.name for choice in CHOICES]) & table["significant"]]
    rows = []
    for number in sorted(set(table["claim"])):
        said = [reading.verdicts[number] for reading in found.values()]
        leaning = sum(_leans(reading.margins[reading.margins["claim"] == number]) for reading in found.values())
        on_claim = mains[(mains["claim"] == number) & (mains[UNCOUNTED] == 0)]
        sides = [on_claim.loc[side, "effect"].unique() for side in (on_claim["half"] > 0, on_claim["half"] < 0)]
        counts = (said.count(Verdict.HOLDS), leaning, said.count(Verdict.DOES_NOT_HOLD))
        rows.append((number, CLAIMS[number].text, *counts, *(" ".join(side) for side in sides)))
    return pd.DataFrame(rows, columns=["claim", "text", "holds", "leans", "does not hold", "helped by", "harmed by"])


def _leans(margins: pd.DataFrame) -> bool:
    return bool((margins.groupby("part")["margin"].mean() > 0).all())


def write_tables(folder: Path, out: Path) -> None:
    """Write the design with its verdicts, claims, effects and how they were predicted; raises UserError, OSError."""
    found = _design_results(folder)
    table = effects(found)
    out.mkdir(parents=True, exist_ok=True)
    verdict_table(found, dict(enumerate(readings(), start=1))).to_csv(out / "readings.csv", index=False)
    claim_table(found, table).to_csv(out / "claims.csv", index=False)
    # Most claims are not about messages, and have the same effects for both counts.
    unlike = table.drop_duplicates([column for column in table if column != UNCOUNTED])
    unlike.to_csv(out / "effects.csv", index=False, float_format="%.3g")
    against_predictions(table, pd.read_csv(PREDICTIONS, index_col="choice", dtype=str, keep_default_na=False)).to_csv(
        out / "predictions.csv", index=False
    )
    click.echo(predicted(table).drop_duplicates("which").head(20).to_string(index=False))


def _design_results(folder: Path) -> dict[Row, Judged]:
    return read_judged({number: folder / "results" / f"{number:02}" for number in range(1, len(readings()) + 1)})


def _best(folder: Path) -> dict[int, Reading]:
    """The three readings that the model names, and the design's own with the most verdicts that hold, by number."""
    found = _design_results(folder)
    (own, _), _ = max(found.items(), key=lambda entry: [*entry[1].verdicts.values()].count(Verdict.HOLDS))
    return dict(enumerate([*best_readings(effects(found)), readings()[own - 1]], start=1))


def write_best(folder: Path) -> None:
    """Write the sweeps of the best readings; raises UserError, OSError."""
    for number, reading in _best(folder).items():
        text = sweep_text(reading, CONFIRM_SPEEDS, CONFIRM_SEEDS)
        (folder / f"best-{number}.toml").write_text(text, encoding="utf-8")


def write_confirmed(folder: Path, out: Path) -> None:
    """Write the verdicts of the best readings, run with more seeds; raises UserError, OSError."""
    design = _best(folder)
    found = read_judged({number: folder / "results" / f"best-{number}" for number in design})
    out.mkdir(parents=True, exist_ok=True)
    verdict_table(found, design).to_csv(out / "best.csv", index=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes sweeps or tables; see the head of this file."""
    parser = argparse.ArgumentParser(description="a fractional factorial over the thesis' open choices")
    parser.add_argument("task", choices=("design", "analyse", "best", "confirm"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args(arguments)
    try:
        match asked.task:
            case "design":
                write_design(asked.folder, asked.seeds)
            case "best":
                write_best(asked.folder)
            case _ if asked.out is None:
                raise UserError("--out says where the tables go")
            case "analyse":
                write_tables(asked.folder, asked.out)
            case _:
                write_confirmed(asked.folder, asked.out)
    except (RoambusError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
