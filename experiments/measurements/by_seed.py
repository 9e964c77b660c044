"""What claims are computed from: tables with a row a seed, so that runs of equal seeds are compared with each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from roambus.bridge.runs.layout import AGENT, SEED
from roambus.experiments.measurements.measurements import CONFIG, SPEED, Measurements
from roambus.spark.metrics import catalogue


class NotMeasuredError(Exception):
    """What is missing for a claim."""


def seed_table(
    measured: Measurements, agent: str, metric: str, configs: Sequence[str], speeds: Sequence[str]
) -> pd.DataFrame:
    """The metric with a column for each (config, speed); seeds that lack a value for any of them are left out."""
    runs = measured.runs[measured.runs[AGENT] == agent]
    if metric not in runs:
        raise NotMeasuredError(f"no run has {metric}")
    columns = [(config, speed) for config in configs for speed in speeds]
    table = runs.pivot(index=SEED, columns=[CONFIG, SPEED], values=metric)
    absent = [f"{agent} at {config} and {speed} m/s" for config, speed in columns if (config, speed) not in table]
    if absent:
        raise NotMeasuredError(f"there are no runs of {', '.join(absent)}")
    complete = table[columns].astype(float).dropna()
    if complete.empty:
        raise NotMeasuredError(f"no seed has {catalogue.TITLES.get(metric, metric)} of {agent} everywhere it is needed")
    return complete


def by_seed(measured: Measurements, metric: str, /, **place: str) -> pd.Series[float]:
    """The metric at one place, agent included: one value a seed; raises NotMeasuredError if there is none."""
    runs = measured.runs
    for column, value in place.items():
        runs = runs[runs[column] == value]
    if metric not in runs or runs[metric].dropna().empty:
        where = ", ".join(f"{column} {value}" for column, value in place.items())
        raise NotMeasuredError(f"no run has {metric} at {where}")
    return runs.set_index(SEED)[metric].astype(float).dropna()


def mean_by(table: pd.DataFrame, axis: str) -> pd.DataFrame:
    """A column for each value of the axis: the mean over the other axis."""
    return table.T.groupby(level=axis, sort=False).mean().T


def slopes(table: pd.DataFrame, x: Sequence[float]) -> pd.Series[float]:
    """The least-squares slope of each row over x, one value a column."""
    if len(x) < 2:
        raise NotMeasuredError("a trend needs at least two values of the axis")
    centred = np.asarray(x) - np.mean(x)
    return pd.Series(table.to_numpy() @ centred / (centred @ centred), table.index)


def log2(table: pd.DataFrame) -> pd.DataFrame:
    """The logarithm of each value; none of 0."""
    return table.where(table > 0).transform(np.log2)


def doublings(configs: Sequence[str]) -> list[float]:
    """The sizes of configurations C2, C4, ... in doublings: 1, 2, ..."""
    try:
        return [float(np.log2(int(config.removeprefix("C")))) for config in configs]
    except ValueError:
        raise NotMeasuredError(f"sizes are read from names such as C16, not {', '.join(configs)}") from None


def difference(measured: Measurements, agents: tuple[str, str], metric: str, at: tuple[str, str]) -> pd.Series[float]:
    """First agent minus second at (config, speed), by seed."""
    first, second = (seed_table(measured, agent, metric, at[:1], at[1:])[at] for agent in agents)
    return (first - second).dropna()
