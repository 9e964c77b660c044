"""What the study of replicated brokers measures, of a small trace with known contents."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import DoubleType, IntegerType, StringType, StructField, StructType

from roambus.bridge.trace.schema import TRACE_SCHEMA
from roambus.experiments.studies.replicated.metrics import (
    EVENT_MESSAGES,
    LATE_PER_CENT,
    LONGEST_DELAY_S,
    SITE_BYTES,
    SITE_MESSAGES,
    costs,
    held_up,
)
from roambus.spark.metrics.run_metrics import RUN
from tests.spark.synthetic import Row, deliver, publish, role, send

_TYPES = {"double": DoubleType(), "int32": IntegerType(), "string": StringType()}
_SCHEMA = StructType(
    [StructField(RUN, IntegerType()), *(StructField(field.name, _TYPES[str(field.type)]) for field in TRACE_SCHEMA)]
)


def to(peer: int, row: Row) -> Row:
    return {**row, "peer": peer}


RUNS: list[list[Row]] = [
    [
        *(role(node, "broker") for node in (0, 1)),
        role(2, "publisher"),
        to(1, send(0.5, 0, "SUB")),  # before the first event
        publish(1.0, 2, "2.0", [3]),
        publish(2.0, 2, "2.1", [3]),
        to(0, send(1.0, 2, "EVENT")),  # from a client
        to(1, send(1.1, 0, "INFORM")),
        to(1, send(1.2, 0, "EVENT", 30)),
        to(1, send(2.2, 0, "UPDATE", 7)),
        to(3, send(1.3, 1, "EVENT")),  # to a client
        deliver(1.04, 3, "2.0", 2),
        deliver(4.0, 3, "2.1", 2),
    ],
    [role(0, "broker"), send(1.0, 0, "SUB")],
]


def test_costs_are_counted_from_the_first_event_on_and_per_event(session: SparkSession) -> None:
    """Between sites only what goes from broker to broker; a run without events has none."""
    columns = [field.name for field in TRACE_SCHEMA]
    rows = [(run, *(row.get(name) for name in columns)) for run, its in enumerate(RUNS) for row in its]
    traces = session.createDataFrame(rows, _SCHEMA)
    (found,) = costs(traces).collect()
    assert found.asDict() == {RUN: 0, EVENT_MESSAGES: 2.5, SITE_MESSAGES: 1.0, SITE_BYTES: 18.5}
    (longest,) = held_up(traces).collect()
    assert (longest[RUN], longest[LONGEST_DELAY_S]) == (0, pytest.approx(2.0))
    assert longest[LATE_PER_CENT] == pytest.approx(50)
