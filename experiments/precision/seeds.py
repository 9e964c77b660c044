"""How many seeds each point of a sweep needs, by what was measured of the first ones.

A point is called like the folder of its runs without the seed. All answers follow from the runs with the lowest seeds
alone, never from the order in which runs were made: the same command, given again, goes on where it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import pandas as pd

from roambus.bridge.runs.layout import AGENT, SEED
from roambus.experiments.evidence.claim import ClaimTest
from roambus.experiments.evidence.rule import Part
from roambus.experiments.measurements.by_seed import NotMeasuredError
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.precision.looks import looks, settled_at
from roambus.experiments.precision.stein import seeds_needed
from roambus.experiments.precision.width import Width
from roambus.experiments.sweeps.sweep import Sweep, point_name, points_of


@dataclass(frozen=True, slots=True)
class Precision:
    """What is asked for: how narrow, and of seeds at least `first` and at most `most` a point."""

    width: Width
    first: int
    most: int


class Wanted(NamedTuple):
    """The seeds that points need in all, and how many claims are settled at which number of seeds."""

    seeds: Mapping[str, int]
    settled: Mapping[str, int]


def for_metric(sweep: Sweep, measured: Measurements, metric: str, precision: Precision) -> Wanted:
    """The seeds of each point for an interval of this metric; raises UserError if there is no such metric."""
    measured.metric(metric)
    wanted = {}
    for name, runs in _runs_by_point(sweep, measured).items():
        first = runs[runs[SEED] < precision.first].sort_values(SEED)
        values = first[metric].dropna().astype(float).tolist() if metric in first else []
        wanted[name] = int(min(precision.most, seeds_needed(values, precision.width)))
    return Wanted(wanted, {})


def for_claims(sweep: Sweep, measured: Measurements, claims: Sequence[ClaimTest], precision: Precision) -> Wanted:
    """The seeds of each point for the verdicts on these claims: the points of a claim that is open get more."""
    schedule = looks(precision.first, precision.most)
    wanted = dict.fromkeys(points_of(sweep), precision.first)
    settled = {}
    for claim in claims:
        points = _points_of_claim(sweep, measured, claim, precision.first)
        look, is_known = settled_at(_Looks(sweep, measured, claim, points).parts_at, schedule, precision.width)
        if is_known:
            settled[claim.text] = schedule[look]
        for point in points:
            wanted[point] = max(wanted[point], schedule[look])
    return Wanted(wanted, settled)


@dataclass(frozen=True, slots=True)
class _Looks:
    """Looks at a claim with the first seeds of the points that it is about."""

    sweep: Sweep
    measured: Measurements
    claim: ClaimTest
    points: Sequence[str]

    def parts_at(self, seeds: int) -> Sequence[Part] | None:
        """The parts that the first so many seeds give; None if one of their runs is missing."""
        part = _with_runs(self.measured, self.measured.runs[SEED] < seeds)
        there = _runs_by_point(self.sweep, part)
        if any(len(there.get(point, ())) < seeds for point in self.points):
            return None
        return _parts(self.claim, part)


def _points_of_claim(sweep: Sweep, measured: Measurements, claim: ClaimTest, first: int) -> list[str]:
    """The points whose runs make a difference to the claim: without one of them its numbers change."""
    early = _with_runs(measured, measured.runs[SEED] < first)
    whole = str(_parts(claim, early))
    found = []
    for point, runs in _runs_by_point(sweep, early).items():
        without = _with_runs(early, pd.Series(early.runs.index != runs.index[-1], early.runs.index))
        if str(_parts(claim, without)) != whole:
            found.append(point)
    return found


def _parts(claim: ClaimTest, measured: Measurements) -> list[Part]:
    try:
        return list(claim.parts(measured))
    except NotMeasuredError:
        return []


def _with_runs(measured: Measurements, chosen: pd.Series[bool]) -> Measurements:
    """What was measured of these runs alone."""
    runs = measured.runs[chosen]
    place = [AGENT, *measured.axes, SEED]
    there = runs[place]
    tables = {name: table.merge(there, on=place) for name, table in measured.tables.items()}
    return replace(measured, runs=runs, tables=tables)


def _runs_by_point(sweep: Sweep, measured: Measurements) -> dict[str, pd.DataFrame]:
    """The runs of each point that has any."""
    axes = [axis.name for axis in sweep.axes]
    columns = [AGENT, *measured.axes]
    groups = measured.runs.groupby(columns, sort=False)
    asked = set(points_of(sweep))
    found = {}
    for labels, runs in groups:
        agent, *values = labels
        name = point_name(str(agent), zip(axes, map(str, values), strict=True))
        if name in asked:
            found[name] = runs.sort_values(SEED)
    return found
