"""What is measured of publications, joins, crashes and overhead of the skip ring, on rows to be counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.bridge.trace import schema
from roambus.extensions.skip_ring.messages import OVERLAY
from roambus.extensions.skip_ring.study import measurements
from roambus.extensions.skip_ring.tests.network import run
from roambus.python_protocol.simtime import SECOND
from tests.spark.synthetic import Row, measured


def row(
    time_s: float,
    node: int,
    event: str,
    detail: str | None = None,
    *,
    sent: str | None = None,
    publication: str | None = None,
    hops: int | None = None,
) -> Row:
    fields = {"message_type": sent, "notification_id": publication, "hops": hops, "detail": detail}
    return {"time_s": time_s, "node": node, "event": event, **fields}


def subscribed(*nodes: int, at: float = 0.0) -> list[Row]:
    return [row(at, node, schema.SUBSCRIBE, "topic = 1") for node in nodes]


def has(time_s: float, node: int, publication: str, hops: int) -> Row:
    return row(time_s, node, schema.DELIVER, publication=publication, hops=hops)


SENT = [row(time, 1, schema.SEND, sent="Publish") for time in (1.0, 1.5, 2.5, 3.0)]
SPREAD = [
    *subscribed(1, 2, 3),
    *(has(0.0, 1, "1.0", 0), has(0.0, 2, "2.0", 0)),
    *(has(1.5, 2, "1.0", 1), has(2.0, 1, "2.0", 1), has(2.5, 3, "2.0", 1)),
    *SENT,
]


def test_who_has_everything_and_what_was_sent_in_vain() -> None:
    """Two of three subscribers have both publications; of four that were sent three were new."""
    found = measured(measurements.INFORMING.metrics, SPREAD)
    assert found[measurements.INFORMED] == pytest.approx(2 / 3)
    assert found[measurements.ROUNDS_TO_INFORM] is None
    assert found[measurements.KNOWN_SENT] == pytest.approx(25)


def test_all_have_everything_when_the_last_has_it() -> None:
    """At 4 s."""
    found = measured(measurements.INFORMING.metrics, [*SPREAD, has(4.0, 3, "1.0", 1)])
    assert (found[measurements.INFORMED], found[measurements.ROUNDS_TO_INFORM], found[measurements.KNOWN_SENT]) == (
        1,
        4.0,
        0,
    )


def edge(time_s: float, node: int, state: str) -> Row:
    """A row of its label and edges: number, label, left, right, ring."""
    return row(time_s, node, OVERLAY, f"{state} - 1")


DOUBLED = [
    *subscribed(1, 2),
    *(edge(1.0, 1, "1 0 - 2 2"), edge(1.0, 2, "1 1 1 - 1")),
    *(*subscribed(3, at=10.0), *subscribed(4, at=20.0)),
    # The first and the second join concern both. A shortcut, or the same neighbours again, concern nobody.
    *(edge(11.0, 1, "2 0 - 3 2"), edge(12.0, 2, "2 1 3 - 1")),
    row(12.5, 2, OVERLAY, "3 1 3 - 1 0:1 1"),
    *(edge(20.5, 1, "3 0 - 3 4"), edge(20.5, 2, "4 1 3 4 -")),
    edge(20.5, 3, "1 01 1 2 -"),
]


def test_two_consecutive_joins_concern_an_old_subscriber() -> None:
    """The new ones do not count, and the one with label 0 only where the most joins are."""
    found = measured(measurements.JOINS.metrics, DOUBLED)
    assert (found[measurements.TWO_CONSECUTIVE], found[measurements.MOST_JOINS]) == (1, 2)


def test_a_third_join_is_against_it() -> None:
    """Of one old subscriber."""
    more = [*subscribed(5, at=30.0), edge(31.0, 2, "5 1 5 4 -")]
    found = measured(measurements.JOINS.metrics, [*DOUBLED, *more])
    assert (found[measurements.TWO_CONSECUTIVE], found[measurements.MOST_JOINS]) == (0, 3)


def test_whom_no_join_concerns_is_against_it_too() -> None:
    """Of two old subscribers beside label 0, one is left alone."""
    alone = [*subscribed(6), edge(1.0, 6, "1 01 1 2 -")]
    found = measured(measurements.JOINS.metrics, [*DOUBLED, *alone])
    assert found[measurements.TWO_CONSECUTIVE] == pytest.approx(1 / 2)


def test_overhead_is_beyond_what_is_sent_before_the_first_publication() -> None:
    """Two subscribers send a message a round each; a third makes it 3 messages a round, and 4 beyond for its join."""
    usual = [row(2.0 + place / 2, 1 + place % 2, schema.SEND, sent="Introduce") for place in range(1, 16)]
    later = [row(30.0 + place / 4, 1, schema.SEND, sent="Introduce") for place in range(34)]
    others = [row(31.0, 1, schema.SEND, sent="CheckTrie"), row(32.0, 0, schema.SEND, sent="SetData")]
    rows = [
        *subscribed(1, 2),
        *(edge(2.0, 1, "1 0 - 2 2"), edge(2.0, 2, "1 1 1 - 1")),
        *usual,
        row(9.5, 1, schema.PUBLISH, publication="1.0"),
        *subscribed(3, at=30.0),
        *later,
        *others,
        row(40.0, 1, schema.SEND, sent="Publish"),
    ]
    rate = 14 / 7.5 / 2
    found = measured(measurements.OVERHEAD.metrics, rows)
    assert found[measurements.BY_SUBSCRIBERS] == pytest.approx(34 - rate * 3 * 10)


@pytest.fixture(scope="module")
def crashed() -> list[dict[str, Any]]:
    """Of five subscribers 2 and 5 crash at 20 s."""
    faults = [Fault(20 * SECOND, node, FaultKind.CRASH) for node in (2, 5)]
    return run(5, rounds=60, faults=faults, seed=3).rows


def test_those_left_make_the_skip_ring_of_as_many(crashed: list[dict[str, Any]]) -> None:
    """A row of one that has crashed counts for nothing, a false edge of one that has not does."""
    last = max(
        trace_row["time_s"]
        for trace_row in crashed
        if trace_row["event"] == OVERLAY and trace_row["node"] not in {2, 5}
    )
    found = measured(measurements.CRASHES.metrics, [*crashed, edge(45.0, 2, "99 0 4 4 -")])
    assert (found[measurements.RESTORED], found[measurements.ROUNDS_TO_RESTORE]) == (1, pytest.approx(last - 20))
    found = measured(measurements.CRASHES.metrics, [*crashed, edge(45.0, 1, "99 0 4 4 -")])
    assert (found[measurements.RESTORED], found[measurements.ROUNDS_TO_RESTORE]) == (0, None)
