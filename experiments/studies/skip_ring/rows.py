"""The rows of a skip ring's trace, and the states of its nodes, as the metrics of its study read them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from roambus.bridge.trace import schema
from roambus.spark.metrics.run_metrics import RUN

STATE = ("label", "left", "right", "ring", "shortcuts")
"""What an `overlay` row says of its node: label, edges by node, shortcuts."""


def is_event(event: str) -> Column:
    """Whether a row is of that event."""
    return F.col(schema.EVENT) == event


def is_of(message_type: str) -> Column:
    """Whether a row is about a message of that type."""
    return F.col(schema.MESSAGE_TYPE) == message_type


def count_of(condition: Column, name: str) -> Column:
    """An aggregate: how many rows there are of which this is true."""
    return F.sum(condition.cast("int")).alias(name)


def time_s() -> Column:
    """The time of a row."""
    return F.col(schema.TIME_S)


def overlay_rows(traces: DataFrame) -> DataFrame:
    """The `overlay` rows with node, time, number and STATE in columns.

    A node can have several at one instant; it numbers them, from 1 each time it joins.
    """
    parts = F.split(F.col(schema.DETAIL), " ", 7)
    columns = [parts[place + 1].alias(name) for place, name in enumerate(STATE)]
    number = parts[0].cast("int").alias("number")
    return traces.where(is_event(schema.OVERLAY)).select(RUN, schema.NODE, schema.TIME_S, number, *columns)


def last_states(traces: DataFrame) -> DataFrame:
    """The last state of each node, in columns. Who has left has no label in its last."""
    newest = F.max_by(F.struct(*STATE), F.struct(time_s(), "number")).alias("state")
    return overlay_rows(traces).groupBy(RUN, schema.NODE).agg(newest).select(RUN, schema.NODE, "state.*")
