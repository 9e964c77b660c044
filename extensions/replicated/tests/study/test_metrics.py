"""What the study of replicated brokers measures, of a small trace with known contents."""

from __future__ import annotations

import pytest

from roambus.extensions.replicated.study.metrics import (
    EVENT_MESSAGES,
    EXTRA,
    LATE_PER_CENT,
    LONGEST_DELAY_S,
    SITE_BYTES,
    SITE_MESSAGES,
)
from tests.spark.synthetic import Row, deliver, measured, publish, role, send


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


def test_costs_are_counted_from_the_first_event_on_and_per_event() -> None:
    """Between sites only what goes from broker to broker."""
    found = measured(EXTRA.metrics, RUNS[0])
    costs = (found[EVENT_MESSAGES], found[SITE_MESSAGES], found[SITE_BYTES])
    assert costs == (2.5, 1.0, 18.5)
    assert (found[LONGEST_DELAY_S], found[LATE_PER_CENT]) == (pytest.approx(2.0), pytest.approx(50))


def test_a_run_without_events_has_no_costs_of_any() -> None:
    """Nor has it delays."""
    assert set(measured(EXTRA.metrics, RUNS[1]).values()) == {None}
