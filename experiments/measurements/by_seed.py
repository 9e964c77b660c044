"""What claims are computed from: one value for each seed, so that runs of equal seeds are compared with each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from roambus.bridge.runs.layout import SEED
from roambus.experiments.measurements.measurements import Measurements


class NotMeasuredError(Exception):
    """What is missing for a claim."""


def by_seed(measured: Measurements, metric: str, /, **place: str) -> pd.Series[float]:
    """The metric at one place, agent included: one value a seed; raises NotMeasuredError if there is none."""
    runs = measured.runs
    for column, value in place.items():
        runs = runs[runs[column] == value]
    if metric not in runs or runs[metric].dropna().empty:
        where = ", ".join(f"{column} {value}" for column, value in place.items())
        raise NotMeasuredError(f"no run has {metric} at {where}")
    return runs.set_index(SEED)[metric].astype(float).dropna()


def slopes(table: pd.DataFrame, x: Sequence[float]) -> pd.Series[float]:
    """The least-squares slope of each row over x, one value a column."""
    if len(x) < 2:
        raise NotMeasuredError("a trend needs at least two values of the axis")
    centred = np.asarray(x) - np.mean(x)
    return pd.Series(table.to_numpy() @ centred / (centred @ centred), table.index)
