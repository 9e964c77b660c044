"""Tests agents against each other, seed by seed, for runs of one seed share movement and radio.

Two agents are compared at each place of the sweep by a two-sided paired t-test over the seeds that both have. The
p-values of all tests of a table are adjusted by Holm's method.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pandas as pd

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.evidence.rule import Part, Side, holm, make_part
from roambus.experiments.measurements.by_seed import NotMeasuredError, by_seed
from roambus.experiments.measurements.measurements import Measurements
from roambus.spark.aggregation.points import HALF_WIDTH, N

MINUS, DIFFERENCE, P, P_HOLM, NOTE = "minus", "difference", "p", "p_holm", "note"
FEWEST_SEEDS = 3
"""So many seeds must two agents have in common for a test."""

Pair = tuple[str, str]
Place = tuple[str, ...]


def all_pairs(agents: Sequence[str]) -> list[Pair]:
    """Each two agents once, in their order."""
    return list(itertools.combinations(agents, 2))


def paired_tests(measured: Measurements, metric: str, pairs: Sequence[Pair]) -> pd.DataFrame:
    """A row for each pair at each place of the sweep: agent, minus, the axes, then what the test says.

    `difference` is the mean over the seeds that both have of the first agent's metric minus the second's, `half_width`
    half its 95 % interval, `n` the number of these seeds, `p` of the two-sided paired t-test, and `p_holm` the same
    adjusted by Holm for all tests of the table. With fewer than three seeds there is no p; then `note` says so.
    """
    places = list(itertools.product(*(measured.values(axis) for axis in measured.axes)))
    samples = {
        (agent, place): _sample(measured, metric, agent, place) for agent in {*sum(pairs, ())} for place in places
    }
    rows = [
        {AGENT: a, MINUS: b, **_named(measured, place), **_tested(samples[a, place], samples[b, place])}
        for (a, b), place in itertools.product(pairs, places)
    ]
    table = pd.DataFrame(rows, columns=[AGENT, MINUS, *map(axis_column, measured.axes), *_MEASURED])
    tested = table[P].notna()
    table.loc[tested, P_HOLM] = holm(list(table.loc[tested, P]))
    return table


_MEASURED = (DIFFERENCE, HALF_WIDTH, N, P, P_HOLM, NOTE)


def axis_column(axis: str) -> str:
    """The column of an axis in tables; an axis that is called like another column gets a prefix."""
    return f"axis_{axis}" if axis in (MINUS, *_MEASURED) else axis


def _named(measured: Measurements, place: Place) -> dict[str, str]:
    return {axis_column(axis): value for axis, value in zip(measured.axes, place, strict=True)}


def _sample(measured: Measurements, metric: str, agent: str, place: Place) -> pd.Series[float]:
    """One value for each seed; empty if there is none."""
    try:
        return by_seed(measured, metric, **{AGENT: agent}, **dict(zip(measured.axes, place, strict=True)))
    except NotMeasuredError:
        return pd.Series(dtype=float)


def _tested(first: pd.Series[float], second: pd.Series[float]) -> dict[str, object]:
    part: Part = make_part("", first - second, Side.ABOVE)
    enough = part.seeds >= FEWEST_SEEDS
    note = "" if enough else f"fewer than {FEWEST_SEEDS} common seeds"
    p = part.p if enough else math.nan
    return {DIFFERENCE: part.mean, HALF_WIDTH: part.half_width, N: part.seeds, P: p, P_HOLM: math.nan, NOTE: note}
