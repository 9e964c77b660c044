"""The seeds that each point needs for a narrow interval, or for a claim's verdict.

A metric takes Stein's two stages (1945): n0 first seeds of variance s^2 give N = ceil((t s / d)^2) seeds, t with n0 - 1
degrees of freedom; adding seeds until the usual interval is narrow would stop too early. A claim has a few looks: the
last at 5 %, those before share one per cent (Bonferroni), so a verdict errs with at most six. A rate must also hold if
unseen runs are as bad as can be (`seeds_to_show`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from roambus.bridge.runs.layout import AGENT, SEED
from roambus.bridge.system.errors import UserError
from roambus.experiments.claims import Bound, ClaimTest, Part, Side, Verdict, judge
from roambus.experiments.measurements import Measurements, NotMeasuredError
from roambus.experiments.sweeps.sweep import Sweep, point_name, points_of
from roambus.spark.aggregation.intervals import CONFIDENCE, interval
from roambus.spark.metrics.metric import Support


@dataclass(frozen=True, slots=True)
class Width:
    """Half an interval's width: `number`, or with `relative` that share of the mean."""

    number: float
    relative: bool = False

    def at(self, mean: float) -> float:
        """The half width in the unit of the mean."""
        return self.number * abs(mean) if self.relative else self.number

    def __str__(self) -> str:
        return f"{100 * self.number:g} %" if self.relative else f"{self.number:g}"


def read_width(text: str, option: str = "--precision ") -> Width:
    """Reads 0.02, or 2%, of an option; raises UserError."""
    share = text.strip().endswith("%")
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise UserError(f"{option}{text}: write a number above 0, such as 0.02 or 2%")
    return Width(number / 100 if share else number, share)


EARLY_ERROR = 0.01
"""The error of all looks but the last together."""
GROWTH = 1.5
"""Ratio of a look's seeds to the previous one's."""


def looks(first: int, most: int) -> list[int]:
    """The numbers of seeds of a claim's looks: from `first`, at last `most`."""
    counts = itertools.accumulate(itertools.repeat(GROWTH), lambda seeds, by: math.ceil(seeds * by), initial=first)
    return [*itertools.takewhile(lambda seeds: seeds < most, counts), most]


def significance_of(look: int, count: int) -> float:
    """The error that an early look (0, 1, ...) may have, given the number of looks."""
    if not 0 <= look < count - 1:
        raise ValueError(f"look {look} of {count} is no early one")
    return EARLY_ERROR / (count - 1)


def is_settled(parts: Sequence[Part], width: Width, significance: float) -> bool:
    """Whether an early look settles a claim: by verdict, or still open with narrow intervals."""
    if judge(parts, significance) in (Verdict.HOLDS, Verdict.DOES_NOT_HOLD):
        return True
    return bool(parts) and all(half_width_at(part, significance) <= width.at(part.mean) for part in parts)


def half_width_at(part: Part, significance: float) -> float:
    """The half width at that significance; infinite without an interval."""
    if part.seeds < 2 or math.isnan(part.half_width):
        return math.inf
    usual, wanted = (float(stdtrit(part.seeds - 1, 1 - error / 2)) for error in (1 - CONFIDENCE, significance))
    return part.half_width * wanted / usual


def settled_at(
    parts_at: Callable[[int], Sequence[Part] | None], schedule: Sequence[int], width: Width
) -> tuple[int, bool]:
    """The look that settles a claim, and true; or the first with missing runs, and false.

    `parts_at` gives a claim's parts of the first seeds, None if runs are missing. The last look settles everything.
    """
    for look, seeds in enumerate(schedule):
        parts = parts_at(seeds)
        if parts is None:
            return look, False
        if look == len(schedule) - 1 or is_settled(parts, width, significance_of(look, len(schedule))):
            return look, True
    raise ValueError("there is no look")


def seeds_needed(first: Sequence[float], width: Width, within: Support = Support.ANY) -> float:
    """The seeds that a mean needs in all (Stein), from the first ones; infinite below two."""
    if len(first) < 2:
        return math.inf
    found, wanted = interval(first, within).half_width, width.at(float(np.mean(first)))
    if min(first) == max(first):
        return len(first)
    return max(len(first), math.ceil(len(first) * (found / wanted) ** 2)) if wanted and found < math.inf else math.inf


class Outcome(Enum):
    """The outcome of a look: a mean against its bound."""

    PASSES = "passes"
    FAILS = "fails"
    UNDECIDED = "undecided"


EARLY_PART, LAST_PART = 0.1, 0.6
"""A test's error, shared by the early looks together and the last."""


def judged(values: Sequence[float], bound: Bound, error: float, look: int, count: int) -> Outcome:
    """The outcome of one of so many looks at this error; exactly at the bound either is right."""
    if len(values) < 2:
        return Outcome.UNDECIDED
    part = EARLY_PART / (count - 1) if look < count - 1 else LAST_PART
    low, high = interval(values, bound.within, 1 - 2 * error * part)
    if min(values) == max(values):
        low = high = values[0]
    if low < bound.number < high:
        return Outcome.UNDECIDED
    if (low >= bound.number) if bound.side is Side.ABOVE else (high <= bound.number):
        is_shown = len(values) >= seeds_to_show(float(np.mean(values)), bound, error)
        return Outcome.PASSES if is_shown else Outcome.UNDECIDED
    return Outcome.FAILS


def seeds_to_show(mean: float, bound: Bound, error: float) -> float:
    """The seeds with which a share's mean keeps its side even if all unseen runs are as bad as can be.

    n seeds miss a share 1 - error^(1/n) of all runs as often as the test may err.
    """
    kept, needed = (mean, bound.number) if bound.side is Side.ABOVE else (1 - mean, 1 - bound.number)
    if bound.within is not Support.SHARE or needed <= 0:
        return 0
    return math.ceil(math.log(error) / math.log(needed / kept)) if kept > needed else math.inf


@dataclass(frozen=True, slots=True)
class Precision:
    """The requested width, with at least `first` and at most `most` seeds a point."""

    width: Width
    first: int
    most: int


class Wanted(NamedTuple):
    """The seeds that points need in all, and the number of claims settled at each number."""

    seeds: Mapping[str, int]
    settled: Mapping[str, int]


def for_metric(sweep: Sweep, measured: Measurements, metric: str, precision: Precision) -> Wanted:
    """Each point's seeds for a metric's interval; raises UserError for an unknown metric."""
    within, wanted = measured.metric(metric).support, {}
    for name, runs in _runs_by_point(sweep, measured).items():
        first = runs[runs[SEED] < precision.first].sort_values(SEED)
        values = first[metric].dropna().astype(float).tolist() if metric in first else []
        wanted[name] = int(min(precision.most, seeds_needed(values, precision.width, within)))
    return Wanted(wanted, {})


def for_claims(sweep: Sweep, measured: Measurements, claims: Sequence[ClaimTest], precision: Precision) -> Wanted:
    """Each point's seeds for these claims' verdicts: open claims get more."""
    schedule = looks(precision.first, precision.most)
    wanted = dict.fromkeys(points_of(sweep), precision.first)
    settled = {}
    for claim in claims:
        points = _points_of_claim(sweep, measured, claim, precision.first)
        parts_at = partial(_parts_at, sweep, measured, claim, points)
        look, is_known = settled_at(parts_at, schedule, precision.width)
        if is_known:
            settled[claim.text] = schedule[look]
        for point in points:
            wanted[point] = max(wanted[point], schedule[look])
    return Wanted(wanted, settled)


def _parts_at(
    sweep: Sweep, measured: Measurements, claim: ClaimTest, points: Sequence[str], seeds: int
) -> Sequence[Part] | None:
    part = _with_runs(measured, measured.runs[SEED] < seeds)
    there = _runs_by_point(sweep, part)
    if any(len(there.get(point, ())) < seeds for point in points):
        return None
    return _parts(claim, part)


def _points_of_claim(sweep: Sweep, measured: Measurements, claim: ClaimTest, first: int) -> list[str]:
    early = _with_runs(measured, measured.runs[SEED] < first)
    whole = str(_parts(claim, early))

    def matters(run: object) -> bool:
        without = _with_runs(early, pd.Series(early.runs.index != run, early.runs.index))
        return str(_parts(claim, without)) != whole

    return [point for point, runs in _runs_by_point(sweep, early).items() if matters(runs.index[-1])]


def _parts(claim: ClaimTest, measured: Measurements) -> list[Part]:
    try:
        return list(claim.parts(measured))
    except NotMeasuredError:
        return []


def _with_runs(measured: Measurements, chosen: pd.Series[bool]) -> Measurements:
    return replace(measured, runs=measured.runs[chosen])


def _runs_by_point(sweep: Sweep, measured: Measurements) -> dict[str, pd.DataFrame]:
    axes = [axis.name for axis in sweep.axes]
    found = {}
    for (agent, *values), runs in measured.runs.groupby([AGENT, *measured.axes], sort=False):
        found[point_name(str(agent), zip(axes, map(str, values), strict=True))] = runs.sort_values(SEED)
    return {name: found[name] for name in points_of(sweep) if name in found}
