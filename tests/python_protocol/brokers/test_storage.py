"""Q_i(s): what a broker keeps for whom it cannot reach."""

from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.actions import Note
from roambus.python_protocol.brokers.broker import Storage
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.octets import Writer
from roambus.python_protocol.trace_rows import DROP, STORE
from tests.python_protocol.brokers.network import event


def size(notification: Notification) -> int:
    writer = Writer()
    notification.write(writer)
    return len(writer.getvalue())


def test_what_is_stored_is_traced_and_taken_in_its_order() -> None:
    """A queue a subscriber, first in, first out."""
    storage = Storage(10)
    events = [event(1, sequence) for sequence in (5, 3, 4)]
    notes = [note for publication in events for note in storage.put(7, publication)]
    assert notes == [Note(STORE, notification_id=str(publication.id), peer=7) for publication in events]
    assert storage.take(7) == events
    assert storage.take(7) == []


def test_each_subscriber_has_its_own_queue() -> None:
    """What is taken for one is still there for the others."""
    storage = Storage(10)
    storage.put(7, event(1))
    storage.put(8, event(1))
    assert storage.subscribers() == [7, 8]
    assert storage.take(7) == [event(1)]
    assert storage.subscribers() == [8]
    assert storage.take(8) == [event(1)]


def test_a_notification_is_stored_once_for_a_subscriber() -> None:
    """A second copy says nothing and takes no place."""
    storage = Storage(10)
    storage.put(7, event(1))
    assert storage.put(7, event(1)) == []
    assert len(storage) == 1
    assert storage.take(7) == [event(1)]


def test_overflow_is_dropped_and_traced() -> None:
    """The limit is for all subscribers together; the newest is what does not fit."""
    storage = Storage(2)
    storage.put(7, event(1, 1))
    storage.put(8, event(1, 2))
    assert storage.put(7, event(1, 3)) == [Note(DROP, notification_id="99.3", peer=7, detail="storage full")]
    assert storage.take(7) == [event(1, 1)]
    assert storage.put(7, event(1, 3)) == [Note(STORE, notification_id="99.3", peer=7)]


def test_nothing_is_stored_for_whom_everything_was_dropped() -> None:
    """A subscriber of whom the full storage holds nothing is not listed."""
    storage = Storage(1)
    storage.put(7, event(1, 1))
    storage.put(8, event(1, 2))
    assert storage.subscribers() == [7]


@given(st.lists(st.integers(0, 200), min_size=1, max_size=20), st.integers(1, 400))
def test_takes_up_to_a_number_of_bytes_and_one_at_least(payloads: list[int], limit: int) -> None:
    """Every taken group but a single one fits, the next would not have fitted, and nothing is lost."""
    events = [Notification(event(1, number).id, (), payload) for number, payload in enumerate(payloads)]
    storage = Storage(100)
    for publication in events:
        storage.put(7, publication)
    left = events
    while taken := storage.take(7, limit):
        assert taken == left[: len(taken)]
        assert len(taken) == 1 or sum(map(size, taken)) <= limit
        following = left[: len(taken) + 1]
        assert following == taken or sum(map(size, following)) > limit
        left = left[len(taken) :]
    assert left == []
    assert len(storage) == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.booleans()), max_size=60), st.integers(0, 8))
def test_never_holds_more_than_its_limit(steps: list[tuple[int, int, bool]], limit: int) -> None:
    """The number that it counts is what can be taken, whatever came and went."""
    storage = Storage(limit)
    for subscriber, sequence, takes in steps:
        if takes:
            storage.take(subscriber, 1)
        else:
            storage.put(subscriber, event(1, sequence))
        assert len(storage) <= limit
    counted = len(storage)
    assert sum(len(storage.take(subscriber)) for subscriber in storage.subscribers()) == counted
