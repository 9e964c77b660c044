"""The queues of a broker of Phoenix, bounded together."""

from roambus.extensions.phoenix.broker import Queues, Rep, Stamp
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.trace_rows import DROP

ANN, BOB = 3, 4


def rep(subscriber: int, number: int) -> Rep:
    return Rep(subscriber, Stamp(0, number), 1, Notification(NotificationId(9, number), ()))


def test_what_was_taken_takes_no_room() -> None:
    """A queue is full only with what is in it, and then the oldest goes, whosever it is."""
    queues = Queues(2)
    queues.put(rep(ANN, 1))
    queues.put(rep(BOB, 2))
    assert queues.take(ANN) == [rep(ANN, 1)]
    assert queues.put(rep(ANN, 3)) == []
    (dropped,) = queues.put(rep(ANN, 4))
    assert (dropped.name, dropped.notification_id, dropped.peer) == (DROP, "9.2", BOB)
    assert queues.take(BOB) == []
    assert queues.take(ANN) == [rep(ANN, 3), rep(ANN, 4)]
