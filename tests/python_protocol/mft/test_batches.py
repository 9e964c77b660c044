"""Batches of BQUERYs and BSUBs: fewer messages that say the same in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.mft.forwarding import gather, scatter
from roambus.python_protocol.mft.messages import Bmig, Bqueries, Bquery, Bsub, Bsubs, Timestamp
from roambus.python_protocol.vocabulary import NodeId
from tests.python_protocol.mft.network import topic

subscribers = st.integers(1, 5)
stamps = st.builds(Timestamp, st.integers(0, 3), st.integers(1, 3))
filters = st.sampled_from([(), (topic(1),), (topic(1), topic(2))])
messages = (
    st.builds(Bquery, subscribers, stamps)
    | st.builds(Bsub, subscribers, stamps, st.integers(0, 1), filters)
    | st.just(Bmig(0, (), ()))
)
actions = st.lists(st.builds(Send, st.integers(1, 2), messages) | st.just(Note("store")))


def sent(asked: list[Action], neighbour: NodeId) -> list[Message]:
    return [one.message for one in asked if isinstance(one, Send) and one.destination == neighbour]


@given(actions)
def test_what_is_gathered_says_the_same_in_the_same_order(asked: list[Action]) -> None:
    """To each neighbour; everything but messages stays where it is among its like."""
    gathered = gather(asked)
    for neighbour in (1, 2):
        assert list(undo(sent(gathered, neighbour))) == list(undo(sent(asked, neighbour)))
    assert [one for one in gathered if isinstance(one, Note)] == [one for one in asked if isinstance(one, Note)]


def undo(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages, those of batches one by one."""
    for message in messages:
        if isinstance(message, Bqueries | Bsubs):
            yield from scatter(message)
        else:
            yield message


@given(actions)
def test_no_two_that_follow_each_other_could_be_one(asked: list[Action]) -> None:
    """BQUERYs, and BSUBs with the same filters and hops, that go to a neighbour."""
    for neighbour in (1, 2):
        kinds = [kind_of(one) for one in sent(gather(asked), neighbour)]
        assert all(kind is None or kind != following for kind, following in pairwise(kinds))


def kind_of(message: Message) -> object:
    """Messages of one kind can be one."""
    if isinstance(message, Bquery | Bqueries):
        return Bquery
    return (message.hops, message.filters) if isinstance(message, Bsub | Bsubs) else None


def test_a_batch_of_one_is_the_message_itself() -> None:
    """It is no longer than it was."""
    lone: list[Action] = [Send(1, Bquery(5, Timestamp(1, 1)))]
    assert gather(lone) == lone


def test_what_was_asked_for_is_not_changed() -> None:
    """Actions belong to whoever asked for them."""
    asked: list[Action] = [Send(1, Bquery(5, Timestamp(1, 1))), Send(1, Bquery(6, Timestamp(1, 1)))]
    gather(asked)
    assert asked[0] == Send(1, Bquery(5, Timestamp(1, 1)))
