"""All readings that were run together: one row for each, the effect of single choices, and a second round.

Rows of the design and confirmed readings are one table, at the speeds that all of them have. Equal readings are one
row, with the seeds of all. The design's chains do not say which pair of choices acts. Two readings that differ in one
choice do: nothing else was changed, and they have their seeds in common.

The second round has the readings that a model of all rows ranks first. A reading that was confirmed is not asked for
again. The order is that of ten claims or more: the first round looked for the largest number to expect, and many
readings tie there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pandas as pd

from docs.writers.factorial.design import (
    AGAIN,
    DESIGN,
    NAMES,
    UNCOUNTED,
    Reading,
    changes,
    reading_in,
    reading_of,
)
from docs.writers.factorial.effects import HALF, SIGNIFICANT, P
from docs.writers.factorial.quantities import (
    CLAIM,
    KEYS,
    MARGIN,
    PART,
    READING,
    SEEDS,
    margins_of,
    row_means,
    with_choices,
)
from docs.writers.factorial.ranking import ranked, top
from roambus.bridge.runs.layout import SEED
from roambus.experiments.claims import SIGNIFICANCE, Side, holm, make_part
from roambus.experiments.measurements import Measurements
from roambus.experiments.studies.thesis.claims import SPEED
from roambus.spark.aggregation.aggregate import mean_points

NEXT = 2
"""Readings of the second round."""
SECOND = "next"
"""The names of the second round's readings begin so."""
ORDER = "10 or more"
CHOICE, PAIRS = "choice", "pairs"


def pooled_margins(results: Iterable[tuple[Reading, Measurements]]) -> pd.DataFrame:
    """The margins of each different reading, named by its changes, with the seeds of all its results."""
    read = ((changes(reading), _at_common_speeds(measured)) for reading, measured in results)
    return margins_of(read).drop_duplicates([*KEYS, SEED])


def pooled_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of `row_means` with a column for each choice, of the parts that all readings have."""
    rows = row_means(table)
    named = {name: reading_of(name) for name in rows[READING].unique()}
    # Claims on a speed of their own have no row of the design.
    everywhere = rows.groupby([CLAIM, PART])[READING].transform("nunique") == len(named)
    return with_choices(rows[everywhere], named)


def _at_common_speeds(measured: Measurements) -> Measurements:
    runs = measured.runs[measured.runs[SPEED].isin([str(speed) for speed in DESIGN.speeds])]
    return replace(measured, runs=runs, points=mean_points(runs))


def next_readings(rows: pd.DataFrame, confirmed: Iterable[Reading]) -> pd.DataFrame:
    """The readings of the second round, with their names and the probability of each claim."""
    table = ranked(rows, AGAIN.seed_count)
    known = {changes(reading) for reading in confirmed}
    fresh = table[[changes(reading_in(row)) not in known for _, row in table[NAMES].iterrows()]]
    return top(fresh.sort_values(ORDER, ascending=False, kind="stable"), NEXT, SECOND)


# Readings that differ in one choice


def single_changes(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each choice and part: the change of the margin by this choice alone, acknowledgements counted.

    A seed's change is the mean over all pairs of readings that differ in this choice only. Holm's correction is over
    the whole table.
    """
    counted = table[table[UNCOUNTED] == 0]
    wide = counted.pivot_table(index=[CLAIM, PART, SEED], columns=READING, values=MARGIN, sort=False)
    by_choice: dict[str, list[pd.Series[float]]] = {}
    for choice, first, other in _pairs(wide.columns):
        change = (wide[other] - wide[first]).dropna()
        if not change.empty:
            by_choice.setdefault(choice, []).append(change)
    rows = [row for choice, found in by_choice.items() for row in _changes_of(choice, found)]
    made = pd.DataFrame(rows, columns=[CHOICE, PAIRS, CLAIM, PART, "change", HALF, SEEDS, P])
    made[SIGNIFICANT] = [p < SIGNIFICANCE for p in holm(made[P].tolist())]
    return made


def _pairs(names: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each choice with two readings: without it, and with it."""
    for first, other in itertools.permutations(names, 2):
        fewer, more = set(first.split()), set(other.split())
        if fewer < more and len(more - fewer) == 1:
            yield (more - fewer).pop(), first, other


def _changes_of(choice: str, found: list[pd.Series[float]]) -> Iterator[tuple[object, ...]]:
    each = pd.concat(found, axis=1).dropna().mean(axis=1).rename(MARGIN).reset_index()
    for (claim, label), of_part in each.groupby([CLAIM, PART], sort=False):
        part = make_part(str(label), of_part.set_index(SEED)[MARGIN], Side.ABOVE)
        yield choice, len(found), claim, label, part.mean, part.half_width, part.seeds, part.p
