"""Tables of the points of a sweep for pages of results: a row for each point, with its mean and interval as texts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.measurements import Measurements, format_mean
from roambus.spark.aggregation.aggregate import HIGH, LOW, MEAN, METRIC
from roambus.spark.metrics import catalogue


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts: the first `places` columns name the point."""

    places: int
    headings: list[str]
    rows: list[list[str]]


def table_of(measured: Measurements, metrics: Sequence[str]) -> Table:
    """A row for each point, a column for each of these metrics."""
    return _table(measured, {metric: measured.title(metric) for metric in metrics})


def sent_table(measured: Measurements) -> Table:
    """A row for each point, a column for each sent message type."""
    sent = measured.points[measured.points[METRIC].str.startswith(catalogue.SENT_PREFIX) & (measured.points[MEAN] > 0)]
    columns = {name: name.removeprefix(catalogue.SENT_PREFIX) for name in sent[METRIC].unique()}
    return _table(_without_unknown(measured, columns), columns)


def _without_unknown(measured: Measurements, sent: Collection[str]) -> Measurements:
    points = measured.points
    totals = points[points[METRIC].isin(sent)].groupby([AGENT, METRIC])[MEAN].transform("sum")
    return replace(measured, points=points.drop(index=totals.index[totals == 0]))


def _table(measured: Measurements, columns: dict[str, str]) -> Table:
    places = [AGENT, *measured.axes]
    cells = measured.points.assign(
        cell=list(map(format_mean, *(measured.points[column] for column in (MEAN, LOW, HIGH))))
    )
    wide = cells.pivot(index=places, columns=METRIC, values="cell").reindex(columns=list(columns)).fillna("")
    order = {axis: {value: rank for rank, value in enumerate(measured.values(axis))} for axis in places}
    ordered = wide.reset_index().sort_values(places, key=lambda column: column.map(order[str(column.name)]))
    ordered[AGENT] = ordered[AGENT].map(measured.agent_name)
    return Table(len(places), [*map(measured.axis_heading, places), *columns.values()], ordered.to_numpy().tolist())
