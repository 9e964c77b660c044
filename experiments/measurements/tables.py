"""Tables of what was measured, as texts: a row for each point of a sweep, a column for each metric or message type.

A point is an agent at one value of each axis. A cell has the mean over the seeds, with half of its 95 % interval.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.measurements.names import agent_name, axis_heading
from roambus.spark.aggregation.points import HALF_WIDTH, MEAN, METRIC
from roambus.spark.metrics import catalogue


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts: the first `places` columns say which point a row is; `points` says the same without titles."""

    places: int
    headings: list[str]
    rows: list[list[str]]
    points: list[dict[str, str]]


def metrics_table(measured: Measurements) -> Table:
    """A row for each point, a column for each metric that was measured anywhere."""
    present = set(measured.points[METRIC])
    chosen = {metric.column: metric.axis_title for metric in measured.metrics if metric.column in present}
    return _table(measured, chosen)


def table_of(measured: Measurements, metrics: Sequence[str]) -> Table:
    """A row for each point, a column for each of these metrics."""
    return _table(measured, {metric: measured.title(metric) for metric in metrics})


def sent_table(measured: Measurements) -> Table:
    """A row for each point, a column for each message type that was ever sent."""
    sent = measured.points[measured.points[METRIC].str.startswith(catalogue.SENT_PREFIX) & (measured.points[MEAN] > 0)]
    columns = {name: name.removeprefix(catalogue.SENT_PREFIX) for name in sent[METRIC].unique()}
    return _table(_without_unknown(measured, columns), columns)


def _without_unknown(measured: Measurements, sent: Collection[str]) -> Measurements:
    """Without the zeros of types that an agent never sends anywhere: it was not measured how many it sends."""
    points = measured.points
    totals = points[points[METRIC].isin(sent)].groupby([AGENT, METRIC])[MEAN].transform("sum")
    return replace(measured, points=points.drop(index=totals.index[totals == 0]))


def _table(measured: Measurements, columns: dict[str, str]) -> Table:
    places = [AGENT, *measured.axes]
    cells = measured.points.assign(cell=[format_mean(*pair) for pair in zip(*_mean_and_width(measured), strict=True)])
    wide = cells.pivot(index=places, columns=METRIC, values="cell").reindex(columns=list(columns)).fillna("")
    order = {axis: {value: rank for rank, value in enumerate(measured.values(axis))} for axis in places}
    ordered = wide.reset_index().sort_values(places, key=lambda column: column.map(order[str(column.name)]))
    points = [{axis: str(row[axis]) for axis in places} for row in ordered[places].to_dict("records")]
    ordered[AGENT] = ordered[AGENT].map(agent_name)
    return Table(len(places), [*map(axis_heading, places), *columns.values()], ordered.to_numpy().tolist(), points)


def _mean_and_width(measured: Measurements) -> tuple[pd.Series[float], pd.Series[float]]:
    return measured.points[MEAN], measured.points[HALF_WIDTH]


def format_mean(mean: float, half_width: float) -> str:
    """Mean and half width, with as many decimals as the mean deserves: "0.912 ± 0.034"."""
    decimals = max(0, 3 - math.ceil(math.log10(abs(mean)))) if mean and abs(mean) < 1000 else 0
    decimals = min(decimals, 4)
    interval = "" if math.isnan(half_width) else f" ± {half_width:,.{decimals}f}"
    return f"{mean:,.{decimals}f}{interval}"
