"""The cache of a broker: what is kept stays as long as it can, and there are never more than k messages."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.caching.cache import (
    CACHE,
    EMERGENCY_FULL,
    EVICTED,
    FORGET,
    POLICIES,
    UNWANTED,
    Cache,
)
from roambus.python_protocol.actions import Note
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.trace_rows import DROP, STORE
from tests.python_protocol.brokers.network import event

S1, S2 = 101, 102


def cache(size: int, policy: str = "fifo-regeneration") -> Cache:
    return Cache(size, policy)


def filled(size: int, policy: str = "fifo-regeneration") -> Cache:
    """Full of ordinary messages 0, 1, ..."""
    made = cache(size, policy)
    for number in range(size):
        made.put(message(number))
    return made


def message(number: int) -> Notification:
    return event(1, number)


def numbers(messages: Cache | Sequence[Notification]) -> list[int]:
    return [entry.id.sequence for entry in messages]


def described(notes: Sequence[Note]) -> list[tuple[str, str, int | None, str | None]]:
    """Name, number of the message, peer and detail of each."""
    return [(note.name, str(note.notification_id).split(".")[1], note.peer, note.detail) for note in notes]


def test_an_ordinary_message_replaces_the_first_one() -> None:
    """The order is first in, first out (section 3.2)."""
    made = filled(2)
    assert described(made.put(message(2))) == [(FORGET, "0", None, EVICTED), (CACHE, "2", None, None)]
    assert numbers(made) == [1, 2]


@pytest.mark.parametrize(("policy", "left"), [("fifo-regeneration", [0, 2]), ("fifo", [1, 2]), ("lifo", [2, 0])])
def test_a_policy_says_who_goes_first(policy: str, left: list[int]) -> None:
    """With regeneration what has answered a request is as good as new."""
    made = filled(2, policy)
    made.use(message(0).id)
    made.put(message(2))
    assert numbers(made) == left


def test_what_is_there_is_not_cached_again() -> None:
    """A second copy says nothing; it can be kept for one more client, which is told once."""
    made = filled(2)
    assert made.put(message(0)) == []
    assert described(made.put(message(0), [S1])) == [(STORE, "0", S1, None)]
    assert described(made.put(message(0), [S1, S2])) == [(STORE, "0", S2, None)]
    assert numbers(made) == [0, 1]


def test_what_is_kept_takes_the_room_of_ordinary_messages() -> None:
    """By section 4 it is never the other way round."""
    made = filled(2)
    made.put(message(2), [S1])
    assert numbers(made) == [1, 2]
    made.put(message(3), [S1])
    assert numbers(made) == [2, 3]
    assert made.put(message(4)) == []
    assert numbers(made) == [2, 3]


def test_what_is_lost_to_whom_is_reported() -> None:
    """A kept message goes "only if the whole cache is full", and all for whom it was kept lose it."""
    made = cache(1)
    made.put(message(0), [S1, S2])
    assert described(made.put(message(1), [S1])) == [
        (DROP, "0", S1, EMERGENCY_FULL),
        (DROP, "0", S2, EMERGENCY_FULL),
        (FORGET, "0", None, EVICTED),
        (CACHE, "1", None, None),
        (STORE, "1", S1, None),
    ]


def test_a_cache_without_room_loses_at_once() -> None:
    """With k = 0, what is kept for a client is lost to it."""
    made = cache(0)
    assert made.put(message(0)) == []
    assert described(made.put(message(0), [S1])) == [(DROP, "0", S1, EMERGENCY_FULL)]


def test_released_messages_are_ordinary() -> None:
    """Those that are kept for somebody else, too, stay kept."""
    made = cache(2)
    made.put(message(0), [S1])
    made.put(message(1), [S1, S2])
    assert numbers(made.release(S1)) == [0, 1]
    assert made.release(S1) == []
    assert made.forget(message(1).id) == []
    assert described(made.forget(message(0).id)) == [(FORGET, "0", None, UNWANTED)]
    assert numbers(made) == [1]


steps = st.lists(
    st.tuples(st.sampled_from(["put", "use", "release"]), st.integers(0, 6), st.sets(st.sampled_from([S1, S2]))),
    max_size=30,
)


@given(st.integers(0, 4), st.sampled_from(sorted(POLICIES)), steps)
def test_every_kept_message_is_released_or_reported_as_lost(
    size: int, policy: str, steps: list[tuple[str, int, set[int]]]
) -> None:
    """Whatever happens: no more than k messages, and whoever it is kept for either gets a message or loses it."""
    made, kept = cache(size, policy), set[tuple[int | None, str | None]]()
    for what, number, clients in steps:
        if what == "put":
            kept |= {(client, str(message(number).id)) for client in clients}
            notes = made.put(message(number), sorted(clients))
            lost = {(note.peer, note.notification_id) for note in notes if note.name == DROP}
            assert lost <= kept
            kept -= lost
        elif what == "use" and message(number).id in made:
            made.use(message(number).id)
        elif what == "release":
            released = {(S1, str(notification.id)) for notification in made.release(S1)}
            assert released == {pair for pair in kept if pair[0] == S1}
            kept -= released
        assert len(made) <= size
