"""How two subscribers make their tries equal (the skip ring's paper, section 4.2), without the rest of the protocol."""

from __future__ import annotations

from collections import deque
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.skip_ring.messages import CheckTrie, Publish, PublishNew, SkipRingParameters
from roambus.extensions.skip_ring.publications import Publications, publication_key
from roambus.python_protocol.actions import Action, Deliver, Send
from roambus.python_protocol.filters import Filter, Notification, NotificationId, parse_filter
from roambus.python_protocol.roles import NodeId

U, V = 1, 2
BITS = 10
PARAMETERS = SkipRingParameters(key_bits=BITS)
ALL = [Notification(NotificationId(9, number), (("topic", 1),)) for number in range(60)]
DISTINCT = list({publication_key(publication, BITS): publication for publication in ALL}.values())
sets = st.sets(st.sampled_from(DISTINCT), max_size=12)


def holding(entries: set[Notification]) -> Publications:
    made = Publications(1, PARAMETERS, Random(0))
    for entry in entries:
        made.trie.insert(entry)
    return made


def exchange(u: Publications, v: Publications) -> list[Notification]:
    """Each sends its root once, and all that follows is handled; returns the publications that were sent."""
    parts: dict[NodeId, Publications] = {U: u, V: v}
    pending = deque(
        [(V, message) for message in after_timeout(v, U)] + [(U, message) for message in after_timeout(u, V)]
    )
    sent: list[Notification] = []
    while pending:
        sender, action = pending.popleft()
        if isinstance(action, Send):
            message = action.message
            sent += [message.publication] if isinstance(message, Publish) else []
            receiver = parts[action.destination]
            receiver._handle_message(message, sender, 0)
            pending += [(action.destination, message) for message in receiver.take()]
    return sent


def after_timeout(part: Publications, neighbour: NodeId) -> list[Action]:
    part.timeout([neighbour])
    return part.take()


@given(sets, sets)
def test_exchanging_roots_makes_both_tries_the_union(mine: set[Notification], theirs: set[Notification]) -> None:
    """As long as they differ, each exchange brings one publication, and none that both have had."""
    u, v = holding(mine), holding(theirs)
    missing = mine ^ theirs
    while missing:
        sent = exchange(u, v)
        assert sent
        assert set(sent) <= missing
        missing -= set(sent)
    assert set(u.trie.publications()) == set(v.trie.publications()) == mine | theirs


@given(sets)
def test_equal_tries_cost_one_message_a_root(entries: set[Notification]) -> None:
    """Nobody answers."""
    u, v = holding(entries), holding(entries)
    sent = after_timeout(u, V)
    assert len(sent) == bool(entries)
    for action in sent:
        assert isinstance(action, Send)
        assert isinstance(action.message, CheckTrie)
        v._handle_message(action.message, U, 0)
        assert v.take() == []


def test_a_new_publication_is_delivered_and_goes_on_but_not_back() -> None:
    """So section 4.3 has it; a second copy is dropped."""
    part = holding(set())
    part.subscribe(Filter())
    message = PublishNew(1, hops=2, publication=ALL[0])
    onward = PublishNew(1, hops=3, publication=ALL[0])
    part.publish_new(message, 3, [3, 4, 5])
    assert part.take() == [Deliver(ALL[0], 2), Send(4, onward), Send(5, onward)]
    part.publish_new(message, 4, [3, 4, 5])
    assert part.take() == []


def test_a_later_subscription_gets_what_was_published_before_once() -> None:
    """Two filters that match do not make two deliveries."""
    part = holding(set(ALL[:2]))
    part.subscribe(Filter())
    assert {action.notification for action in part.take() if isinstance(action, Deliver)} == set(ALL[:2])
    part.subscribe(parse_filter("topic = 1"))
    assert part.take() == []


def test_what_is_published_without_neighbours_is_flooded_when_there_are_some() -> None:
    """A publisher joins the ring by its first publication."""
    part = holding(set())
    part.publish(ALL[0], [])
    part.flood([])
    assert part.take() == []
    part.flood([4])
    assert part.take() == [Send(4, PublishNew(1, hops=1, publication=ALL[0]))]
    part.flood([4])
    assert part.take() == []
