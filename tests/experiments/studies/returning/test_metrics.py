"""What brokers store, and what becomes of what was published while its subscriber was away."""

from __future__ import annotations

from roambus.experiments.studies.returning.metrics import CATCH_UP_S, HANDED_OVER, RETURNING, STORED_MEAN, STORED_PEAK
from roambus.python_protocol.vocabulary import ATTACH, DETACH, DROP, REPLAY, STORE
from tests.spark.synthetic import Row, deliver, measured, publish


def note(time_s: float, node: int, event: str, notification: str | None = None, peer: int | None = None) -> Row:
    return {"time_s": time_s, "node": node, "event": event, "notification_id": notification, "peer": peer}


STORAGE = [
    note(2.0, 7, STORE, "0.0", 1),
    note(2.0, 7, STORE, "0.0", 2),
    note(4.0, 7, REPLAY, "0.0", 1),
    note(5.0, 7, STORE, "0.1", 1),
    note(5.0, 7, REPLAY, "0.1", 1),
    note(6.0, 8, STORE, "0.0", 1),
    note(8.0, 7, DROP, "0.0", 2),
    note(9.0, 7, REPLAY, "0.2", 1),
    note(10.0, 8, REPLAY, "0.0", 1),
]
"""One at 2 s for two subscribers; gone at 4 s and 8 s; one at another broker from 6 s to the end, 10 s."""
AWAY = [
    publish(1.0, 0, "0.0", [1, 2]),
    deliver(1.1, 1, "0.0", 1),
    note(2.0, 1, DETACH),
    publish(3.0, 0, "0.1", [1, 2]),
    publish(4.0, 0, "0.2", [1]),
    note(5.0, 1, ATTACH),
    deliver(5.5, 1, "0.1", 1),
    deliver(6.0, 1, "0.1", 1),
    publish(7.0, 0, "0.3", [1]),
    note(9.0, 2, DETACH),
]
"""Node 1 misses two and gets one of them; node 2 never returns."""


def test_storage_adds_up_over_brokers_and_subscribers() -> None:
    """2 s of two, 2 s of one, and 4 s more of one, in 10 s."""
    found = measured(RETURNING.metrics, STORAGE)
    assert found == {STORED_MEAN: (2 + 6 + 4) / 10, STORED_PEAK: 2, HANDED_OVER: None, CATCH_UP_S: None}


def test_only_absences_that_end_count() -> None:
    """Where nobody notes that anything is stored, it is not known how much."""
    found = measured(RETURNING.metrics, [*AWAY, note(9.0, 7, DROP, "0.2", 1)])
    assert found == {STORED_MEAN: None, STORED_PEAK: None, HANDED_OVER: 0.5, CATCH_UP_S: 0.5}
