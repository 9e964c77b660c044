"""The tables of results: a row for each run with its place in front, and means over seeds with their intervals.

A run's place are the levels of its folder: agent, axes and seed. A point is a place without the seed; its mean and its
Student-t interval are over the seeds that have a value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from roambus.bridge.runs.layout import AGENT, SEED
from roambus.spark.metrics import catalogue
from roambus.spark.metrics.extra import EXTRA
from roambus.spark.metrics.run_metrics import SENT

CONFIDENCE = 0.95
METRIC, MEAN, HALF_WIDTH, N = "metric", "mean", "half_width", "n"

_RESERVED = {METRIC, MEAN, HALF_WIDTH, N, *(metric.column for metric in catalogue.METRICS)}
_AXIS_PREFIX = "axis_"


def name_runs(metrics: pd.DataFrame, extra: Sequence[str] = ()) -> pd.DataFrame:
    """One row a run: agent, axes and seed, then the metrics, those of a study (`extra`), and the message types sent.

    `metrics` is what `roambus.spark.aggregation.aggregate.compute_metrics` gives.
    """
    places = name_places(metrics.index, extra)
    known = metrics[[metric.column for metric in catalogue.METRICS]]
    table = pd.concat([places, known, _extra_columns(metrics, extra), _sent_columns(metrics)], axis=1)
    ordered = table.sort_values(list(places.columns), key=lambda column: column.map(natural_order))
    return ordered.reset_index(drop=True)


def name_places(runs: pd.Index[str], reserved: Sequence[str] = ()) -> pd.DataFrame:
    """Agent, axes and seed of each run; no axis is called like a metric or like what is `reserved`."""
    return pd.DataFrame([_levels(str(run), {*_RESERVED, *reserved}) for run in runs], index=runs)


def _extra_columns(metrics: pd.DataFrame, extra: Sequence[str]) -> pd.DataFrame:
    """The metrics of a study, NaN where a run has nothing to measure."""
    return pd.DataFrame([dict(row) for row in metrics.get(EXTRA, ())], index=metrics.index, columns=list(extra))


def _sent_columns(metrics: pd.DataFrame) -> pd.DataFrame:
    """A column for each message type that any run sent, 0 where a run sent none."""
    table = pd.DataFrame(list(metrics[SENT]), index=metrics.index)
    return table[sorted(table.columns)].fillna(0).astype("int64").add_prefix(catalogue.SENT_PREFIX)


def _levels(run: str, reserved: Collection[str]) -> dict[str, str | int]:
    """The levels of a run's folder in their order; an axis that is called like one of our columns gets a prefix."""
    levels = dict(part.split("=", 1) for part in run.split("/"))
    named = {f"{_AXIS_PREFIX}{name}" if name in reserved else name: value for name, value in levels.items()}
    return {**named, SEED: int(named[SEED])}


def natural_order(value: object) -> tuple[tuple[int, float, str], ...]:
    """A sort key that puts C4 before C16 and 8 before 10."""
    words = re.findall(r"\d+(?:\.\d+)?|[^\d]+", str(value))
    return tuple((0, float(word), "") if word[0].isdecimal() else (1, 0.0, word) for word in words)


def axes_of(runs: pd.DataFrame) -> list[str]:
    """The names of the axes: the columns between agent and seed."""
    columns = list(runs.columns)
    return columns[columns.index(AGENT) + 1 : columns.index(SEED)]


def mean_points(runs: pd.DataFrame) -> pd.DataFrame:
    """Long form: a row for each metric of each point, with mean, half width of the 95 % interval, and n.

    Seeds without a value for a metric do not count in its n. With n = 1 there is no interval, with n = 0 no row.
    """
    place = [AGENT, *axes_of(runs)]
    metrics = [column for column in runs.columns if column not in (*place, SEED)]
    long = runs.melt(place, metrics, METRIC, "value").dropna(subset="value")
    groups = long.astype({"value": float}).groupby([*place, METRIC], sort=False)["value"]
    table = pd.DataFrame({MEAN: groups.mean(), HALF_WIDTH: groups.agg(half_width), N: groups.size()}).reset_index()
    order = {metric: position for position, metric in enumerate(metrics)}
    keys = [table[name].map(natural_order) for name in place] + [table[METRIC].map(order)]
    positions = sorted(table.index, key=lambda row: tuple(key[row] for key in keys))
    return table.loc[positions].reset_index(drop=True)


def half_width(values: Sequence[float] | pd.Series[float]) -> float:
    """Half the width of the 95 % Student-t interval of the mean; NaN for a single value."""
    n = len(values)
    if n < 2:
        return math.nan
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1) * np.std(values, ddof=1) / math.sqrt(n))
