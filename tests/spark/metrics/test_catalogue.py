"""The columns of every run's metrics."""

from __future__ import annotations

import pyarrow as pa

from roambus.spark.aggregation.computation import METRICS_SCHEMA
from roambus.spark.metrics import catalogue as c
from roambus.spark.metrics.accounting import ENDS
from roambus.spark.metrics.catalogue import METRICS, sent_metric
from roambus.spark.metrics.metric import Kind


def test_every_column_is_declared_once() -> None:
    """And no title is that of two metrics, so that readers can tell them apart."""
    assert len({metric.column for metric in METRICS}) == len(METRICS)
    assert len({metric.axis_title for metric in METRICS}) == len(METRICS)


def test_tables_have_the_ends_of_pairs_behind_their_deliveries() -> None:
    """The order of the columns is that of the files that readers have."""
    first = METRICS.index(c.hops_max) + 1
    assert METRICS[first : first + len(ENDS)] == ENDS
    assert [entry.column for entry in METRICS[first + len(ENDS) :]][:2] == ["messages", "messages_per_node"]


def test_the_kind_of_a_metric_is_the_type_of_its_column() -> None:
    """Counts are long integers, and so on; counts are what is 0 in an empty run."""
    types = {Kind.COUNT: pa.int64(), Kind.WHOLE: pa.int32(), Kind.REAL: pa.float64()}
    assert all(METRICS_SCHEMA.field(metric.column).type == types[metric.kind] for metric in METRICS)
    assert c.HOPS_MAX not in c.COUNTS
    assert c.migrations.column in c.COUNTS


def test_the_packets_of_a_message_type_are_a_metric() -> None:
    """Whatever the type is called."""
    assert sent_metric("sent_RREQ").title == "packets of type RREQ"
