"""What the thesis' sweep varies, sizes and speeds: their names, and tables with a row for each seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from roambus.bridge.runs.layout import AGENT, SEED
from roambus.experiments.measurements.by_seed import NotMeasuredError
from roambus.experiments.measurements.measurements import Measurements

CONFIG, SPEED = "config", "speed"
THESIS_SPEED, THESIS_CONFIG = "8", "C16"
"""Where the thesis cuts through its sweep: the speed (m/s) of figures 4.5a to 4.8, the size of figure 4.5b."""
MFT, AODV = "mft", "aodv"
"""What the sweep calls the two protocols that it compares."""


def seed_table(
    measured: Measurements, agent: str, metric: str, configs: Sequence[str], speeds: Sequence[str]
) -> pd.DataFrame:
    """The metric with a column for each (config, speed); seeds that lack a value for any of them are left out."""
    runs = measured.runs[measured.runs[AGENT] == agent]
    for column in (metric, CONFIG, SPEED):
        if column not in runs:
            raise NotMeasuredError(f"no run has {column}")
    columns = [(config, speed) for config in configs for speed in speeds]
    table = runs.pivot(index=SEED, columns=[CONFIG, SPEED], values=metric)
    absent = [f"{agent} at {config} and {speed} m/s" for config, speed in columns if (config, speed) not in table]
    if absent:
        raise NotMeasuredError(f"there are no runs of {', '.join(absent)}")
    complete = table[columns].astype(float).dropna()
    if complete.empty:
        raise NotMeasuredError(f"no seed has {measured.title(metric)} of {agent} everywhere it is needed")
    return complete


def mean_by(table: pd.DataFrame, axis: str) -> pd.DataFrame:
    """A column for each value of the axis: the mean over the other axis."""
    return table.T.groupby(level=axis, sort=False).mean().T


def log2(table: pd.DataFrame) -> pd.DataFrame:
    """The logarithm of each value; nothing for a value of 0."""
    return table.where(table > 0).transform(np.log2)


def doublings(configs: Sequence[str]) -> list[float]:
    """The sizes of configurations C2, C4, ... in doublings: 1, 2, ..."""
    try:
        return [float(np.log2(int(config.removeprefix("C")))) for config in configs]
    except ValueError:
        raise NotMeasuredError(f"sizes are read from names such as C16, not {', '.join(configs)}") from None


def difference(measured: Measurements, agents: tuple[str, str], metric: str, at: tuple[str, str]) -> pd.Series[float]:
    """The first agent's metric minus the second's at (config, speed), for each seed."""
    first, second = (seed_table(measured, agent, metric, at[:1], at[1:])[at] for agent in agents)
    return (first - second).dropna()
