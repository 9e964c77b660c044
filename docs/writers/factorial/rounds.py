"""The second round of readings: those that a model of all rows that were run ranks first, and how the first one did.

Rows of the design and confirmed readings are one table, at the speeds that all of them have. Equal readings are one
row, with the seeds of all. A reading that was confirmed is not asked for again. The order is that of ten claims or
more: the first round looked for the largest number to expect, and many readings tie there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from docs.writers.factorial.design import AGAIN_SEEDS, DESIGN, NAMES, Reading, changes, reading_in
from docs.writers.factorial.quantities import CLAIM, KEYS, PART, READING, margins_of, row_means
from docs.writers.factorial.ranking import ranked, top
from roambus.bridge.runs.layout import SEED
from roambus.experiments.measurements import Measurements
from roambus.experiments.studies.thesis.claims import SPEED
from roambus.spark.aggregation.aggregate import mean_points

NEXT = 2
"""Readings of the second round."""
ORDER = "10 or more"


def pooled_rows(results: Iterable[tuple[Reading, Measurements]]) -> pd.DataFrame:
    """The rows of `row_means` with a column for each choice: one for each different reading."""
    read = [(reading, _at_common_speeds(measured)) for reading, measured in results]
    by_name = {changes(reading): reading for reading, _ in read}
    table = margins_of((changes(reading), measured) for reading, measured in read)
    rows = row_means(table.drop_duplicates([*KEYS, SEED]))
    # Claims on a speed of their own have no row of the design.
    everywhere = rows.groupby([CLAIM, PART])[READING].transform("nunique") == len(by_name)
    choices = pd.DataFrame(list(by_name.values()), columns=NAMES).assign(**{READING: list(by_name)})
    return rows[everywhere].merge(choices, on=READING)


def _at_common_speeds(measured: Measurements) -> Measurements:
    runs = measured.runs[measured.runs[SPEED].isin([str(speed) for speed in DESIGN.speeds])]
    return replace(measured, runs=runs, points=mean_points(runs))


def next_readings(rows: pd.DataFrame, confirmed: Iterable[Reading]) -> pd.DataFrame:
    """The readings of the second round, with their names and the probability of each claim."""
    table = ranked(rows, AGAIN_SEEDS)
    known = {changes(reading) for reading in confirmed}
    fresh = table[[changes(reading_in(row)) not in known for _, row in table[NAMES].iterrows()]]
    return top(fresh.sort_values(ORDER, ascending=False, kind="stable"), NEXT, "next")
