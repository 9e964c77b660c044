"""Interests: who wants what, whatever the order in which it is heard."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.lean.interests import MESSAGE_BYTES, Interest, Interests, Wants, in_parts
from roambus.python_protocol.filters import Notification, NotificationId, parse_filter

changes = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 9)), unique=True)


def interest(subscriber: int, number: int) -> Interest:
    """What a subscriber wants after so many changes: the topic of that number."""
    return Interest(subscriber, 0, number, (parse_filter(f"topic = {number}"),))


def about(topic: int) -> Notification:
    return Notification(NotificationId(7, 1), (("topic", topic),))


def knowing(changes: list[tuple[int, int]]) -> Interests:
    made = Interests(3)
    for fields in changes:
        made.learn(interest(*fields))
    return made


@given(changes, st.randoms(use_true_random=False))
def test_the_newest_counts_in_any_order(announced: list[tuple[int, int]], random: Random) -> None:
    """All nodes that have heard the same know the same, and their sums are equal."""
    turned = announced.copy()
    random.shuffle(turned)
    learned, turned_round = knowing(announced), knowing(turned)
    assert learned.sum == turned_round.sum
    newest = dict(sorted(announced, key=lambda change: change[1]))
    for topic in range(1, 10):
        assert sorted(turned_round.wanting(about(topic))) == sorted(
            s for s, number in newest.items() if number == topic
        )


def test_who_knows_less_has_another_sum() -> None:
    """Of a change that was missed, and of a subscriber."""
    sums = [knowing(changes).sum for changes in ([], [(1, 1)], [(1, 2)], [(1, 2), (2, 1)])]
    assert len(set(sums)) == len(sums)


def test_announcements_fit_into_frames_and_are_made_once() -> None:
    """All that is new, in several frames where one has no room."""
    made = knowing([(subscriber, 1) for subscriber in range(1, 20)])
    frames = list(made.pending())
    assert [entry.subscriber for frame in frames for entry in frame.interests] == list(range(1, 20))
    assert max(frame.encoded_size() for frame in frames) <= MESSAGE_BYTES
    assert not list(made.pending())


def test_who_has_heard_it_often_enough_need_not_tell_it() -> None:
    """Three times after the first."""
    made = knowing([(1, 1), (2, 1)])
    for _ in range(3):
        assert not made.learn(interest(1, 1))
    assert [entry.subscriber for frame in made.pending() for entry in frame.interests] == [2]


def sent_to_neighbour(changes: int, seed: int) -> tuple[int, ...]:
    """What a node that knows of three changes tells one that knows of so many, and not of the same."""
    made = knowing([(1, 1), (2, 1), (3, 1)])
    list(made.pending())
    made.differ(2, changes, Random(seed))
    return tuple(entry.subscriber for frame in made.pending() for entry in frame.interests)


def test_who_knows_of_more_changes_tells_what_others_want() -> None:
    """Who knows of fewer tells what it wants itself; of those who know of as many a third tells of others, too."""
    everything, own = {1, 2, 3}, {2}
    assert all(set(sent_to_neighbour(2, seed)) == everything for seed in range(20))
    assert all(set(sent_to_neighbour(4, seed)) == own for seed in range(20))
    assert 10 <= [set(sent_to_neighbour(3, seed)) for seed in range(60)].count(everything) <= 30


@given(st.lists(st.integers(0, 40), unique=True), st.lists(st.integers(0, 40), unique=True))
def test_many_filters_are_announced_in_parts_that_fit_into_frames(before: list[int], after: list[int]) -> None:
    """And all of the parts together are what is wanted now, also when there were more parts before."""
    made, least = Interests(3), 1
    for number, topics in enumerate((before, after), 1):
        parts = in_parts(1, number, [parse_filter(f"topic = {topic}") for topic in topics], least)
        least = len(parts)
        for part in parts:
            assert Wants((part,)).encoded_size() <= MESSAGE_BYTES
            made.learn(part)
    assert [topic for topic in range(41) if made.wanting(about(topic))] == sorted(after)
