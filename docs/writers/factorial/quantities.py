"""The quantities of a reading: a margin for each part of a claim and each seed, and the verdicts that they give.

A margin is a part's quantity less its bound, positive on the claimed side. Verdicts follow from margins alone, so that
any choice of seeds, and each count of messages, is judged by one rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from docs.writers.factorial.design import UNCOUNTED, Reading
from roambus.bridge.runs.layout import SEED
from roambus.experiments.claims import ClaimTest, Part, Side, Verdict, judge, make_part
from roambus.experiments.measurements import Measurements, NotMeasuredError
from roambus.experiments.studies.thesis.claims import FURTHER_CLAIMS, THESIS_CLAIMS
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c

CLAIMS: Mapping[int, ClaimTest] = dict(enumerate((*THESIS_CLAIMS, *FURTHER_CLAIMS), start=1))
CLAIM, PART, READING, MARGIN = "claim", "part", "reading", "margin"
MEAN, SD, SEEDS = "mean", "sd", "seeds"
KEYS = [READING, UNCOUNTED, CLAIM, PART]
"""The columns that say which quantity of which result a row is about."""


def margins(measured: Measurements, tests: Mapping[int, ClaimTest] = CLAIMS) -> pd.DataFrame:
    """The columns claim, part, seed and margin; a seed that lacks a run of a claim has none of it."""
    rows = []
    for seed, runs in measured.runs.groupby(SEED):
        # Claims are about runs; the points, which are means over all seeds, stay behind.
        alone = replace(measured, runs=runs)
        for number, test in tests.items():
            rows += [(number, part.label, int(str(seed)), margin_of(part)) for part in _parts(test, alone)]
    return pd.DataFrame(rows, columns=[CLAIM, PART, SEED, MARGIN])


def _parts(test: ClaimTest, measured: Measurements) -> list[Part]:
    try:
        return list(test.parts(measured))
    except NotMeasuredError:
        return []


def margin_of(part: Part) -> float:
    """The part's mean less its bound, positive on the claimed side."""
    return (part.mean - part.bound.number) * (1 if part.bound.side is Side.ABOVE else -1)


_ACKS = f"{c.SENT_PREFIX}ACK"


def without_acknowledgements(measured: Measurements) -> Measurements:
    """The same runs, with the link layer's acknowledgements not counted as messages."""
    runs = measured.runs
    left = runs[c.MESSAGES] - runs.get(_ACKS, 0)
    per_node = runs[c.MESSAGES_PER_NODE] * (left / runs[c.MESSAGES])  # to the bit the same where there are none
    counted = runs.assign(**{c.MESSAGES: left, c.MESSAGES_PER_NODE: per_node})
    return replace(measured, runs=counted, points=mean_points(counted))


def margins_of(results: Iterable[tuple[str, Measurements]]) -> pd.DataFrame:
    """The margins of each reading, with acknowledgements counted as messages (0) and without (1)."""
    found = []
    for name, measured in results:
        for uncounted, counted in enumerate((measured, without_acknowledgements(measured))):
            table = margins(counted)
            table[READING], table[UNCOUNTED] = name, uncounted
            found.append(table)
    return pd.concat(found, ignore_index=True)


def verdicts(table: pd.DataFrame) -> dict[int, Verdict]:
    """The verdict on each claim, from the margins of one result."""
    return {number: judge(parts) for number, parts in parts_of(table).items()}


def parts_of(table: pd.DataFrame) -> dict[int, list[Part]]:
    """The parts of each claim, from the margins of one result; each bound is 0 and its claimed side above."""
    found: dict[int, list[Part]] = {}
    for (number, label), rows in table.groupby([CLAIM, PART], sort=False):
        part = make_part(str(label), rows.set_index(SEED)[MARGIN], Side.ABOVE)
        found.setdefault(int(str(number)), []).append(part)
    return found


def results(table: pd.DataFrame) -> Iterator[tuple[str, int, pd.DataFrame]]:
    """Each reading, whether acknowledgements do not count, and its margins."""
    for (name, uncounted), rows in table.groupby([READING, UNCOUNTED], sort=False):
        yield str(name), int(str(uncounted)), rows


def row_means(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each reading, count and part: mean, standard deviation between seeds, and number of seeds."""
    grouped = table.groupby(KEYS, sort=False)[MARGIN]
    columns = {MEAN: grouped.mean(), SD: grouped.std(), SEEDS: grouped.count()}
    return pd.concat(columns, axis=1).reset_index()


def with_choices(rows: pd.DataFrame, named: Mapping[str, Reading]) -> pd.DataFrame:
    """The rows of `row_means`, with a column of booleans for each choice of their readings."""
    return rows.merge(pd.DataFrame([{READING: name, **reading} for name, reading in named.items()]), on=READING)


def pooled_sd(rows: pd.DataFrame) -> float:
    """The standard deviation between seeds, pooled over the rows of `row_means` that have more than one seed."""
    freedom = rows[SEEDS] - 1
    several = freedom > 0
    return float(np.sqrt((rows[SD] ** 2 * freedom)[several].sum() / max(int(freedom[several].sum()), 1)))
