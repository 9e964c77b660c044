"""Finds the absences of clients in traces, and what was published for them meanwhile.

An absence begins with a detachment and ends with the next attachment. Only absences that clients announce are in a
trace.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from roambus.bridge.trace import schema
from roambus.spark.metrics.exact import billionths
from roambus.spark.metrics.run_metrics import RUN

LEFT_NS, BACK_NS, PUBLISHED_NS, DELIVERED_NS = "left_ns", "back_ns", "published_ns", "delivered_ns"


def time_ns() -> Column:
    """The time of a row, as an integer."""
    return billionths(F.col(schema.TIME_S))


def absences(traces: DataFrame) -> DataFrame:
    """A row for each announced absence that ends: run, node, `left_ns`, `back_ns`."""
    event = F.col(schema.EVENT)
    back = F.lead(time_ns()).over(Window.partitionBy(RUN, schema.NODE).orderBy(schema.TIME_S))
    moves = traces.where(event.isin(schema.DETACH, schema.ATTACH))
    timed = moves.select(RUN, schema.NODE, schema.EVENT, time_ns().alias(LEFT_NS), back.alias(BACK_NS))
    return timed.where(event == schema.DETACH).select(RUN, schema.NODE, LEFT_NS, BACK_NS).dropna()


def missed(traces: DataFrame, of: DataFrame) -> DataFrame:
    """A row for each notification published during an absence `of` somebody who wants it, with its first delivery.

    The columns are those of `of`, the notification's id, `published_ns` and `delivered_ns`, which is null if it was
    never delivered. An absence begins with the instant of detachment; the instant of return does not belong to it.
    """
    event, pair = F.col(schema.EVENT), [RUN, schema.NODE, schema.NOTIFICATION_ID]
    words = F.split(schema.DETAIL, schema.LIST_SEPARATOR)
    who = F.explode(F.transform(words, lambda word: word.try_cast("int"))).alias(schema.NODE)
    published = traces.where((event == schema.PUBLISH) & (F.length(schema.DETAIL) > 0))
    wanted = published.select(RUN, schema.NOTIFICATION_ID, who, time_ns().alias(PUBLISHED_NS))
    delivered = traces.where(event == schema.DELIVER).groupBy(*pair).agg(F.min(time_ns()).alias(DELIVERED_NS))
    is_away = (F.col(LEFT_NS) <= F.col(PUBLISHED_NS)) & (F.col(PUBLISHED_NS) < F.col(BACK_NS))
    return wanted.join(of, [RUN, schema.NODE]).where(is_away).join(delivered, pair, "left")
