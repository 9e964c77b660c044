"""The link layer: reliable, in order, once, over frames that can be lost or come late."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.actions import Action, CancelTimer, Note, Send, SetTimer
from roambus.python_protocol.messages.fields import U16
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.messages.octets import DecodeError
from roambus.python_protocol.parts.link import (
    LINK_MESSAGES,
    Link,
    LinkAck,
    LinkBroken,
    LinkData,
    LinkParameters,
    LinkTimer,
)
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

PEER = 7
PARAMETERS = LinkParameters()


class Number(Message, tag=1):
    """A message to carry."""

    value: U16


MESSAGES = MessageSet((*LINK_MESSAGES, Number))


def link(seed: int = 0) -> Link:
    return Link(PARAMETERS, Random(seed))


def frames(actions: Sequence[Action]) -> list[Message]:
    return [action.message for action in actions if isinstance(action, Send)]


def data(actions: Sequence[Action]) -> LinkData:
    (frame,) = [frame for frame in frames(actions) if isinstance(frame, LinkData)]
    return frame


def pause(actions: Sequence[Action]) -> SimTime:
    (after,) = [action.after for action in actions if isinstance(action, SetTimer)]
    return after


@given(st.integers(0, 2**16 - 1), st.integers(0, 255), st.integers(0, 2**16 - 1))
def test_frames_round_trip(session: int, sequence: int, value: int) -> None:
    """Data and acknowledgement are the same after their encoding; data costs four bytes more than its payload."""
    frame, ack = LinkData(session, sequence, Number(value)), LinkAck(session, sequence)
    assert MESSAGES.decode(frame.encode()) == frame
    assert MESSAGES.decode(ack.encode()) == ack
    assert len(frame.encode()) == len(Number(value).encode()) + 4


def test_frames_nest_only_so_deep() -> None:
    """A frame within a frame within a frame is refused before it fills the memory."""
    frame: Message = Number(1)
    for _ in range(6):
        frame = LinkData(0, 0, frame)
    with pytest.raises(DecodeError, match="nested deeper"):
        MESSAGES.decode(frame.encode())


def test_a_trace_tells_what_a_frame_carries() -> None:
    """A data frame has the type of its payload; acknowledgements have their own."""
    assert LinkData(0, 0, Number(1)).message_type == "NUMBER"
    assert LinkAck(0, 0).message_type == "ACK"


def test_one_message_is_under_way_to_a_neighbour() -> None:
    """The second waits for the first's acknowledgement; other neighbours do not wait."""
    sender = link()
    first = data(sender.send(PEER, Number(1), 0))
    assert sender.send(PEER, Number(2), 0) == []
    assert data(sender.send(8, Number(3), 0)).payload == Number(3)
    actions, _ = sender.receive(PEER, LinkAck(first.session, first.sequence), MILLISECOND)
    assert data(actions).payload == Number(2)


def test_an_acknowledgement_ends_the_timer() -> None:
    """Nothing is left to do when the last message has been acknowledged."""
    sender = link()
    frame = data(sender.send(PEER, Number(1), 0))
    actions, messages = sender.receive(PEER, LinkAck(frame.session, frame.sequence), MILLISECOND)
    assert (actions, messages) == ([CancelTimer(LinkTimer(PEER))], [])
    assert sender.is_idle(PEER)


def test_retransmits_with_growing_pauses_then_gives_up() -> None:
    """The same frame goes out again after each pause; after the last one all messages come back, oldest first."""
    sender = link()
    sent = sender.send(PEER, Number(1), 0)
    sender.send(PEER, Number(2), 0)
    pauses = [pause(sent)]
    for _ in range(PARAMETERS.link_retry_limit):
        actions, broken = sender.timer(LinkTimer(PEER))
        assert (data(actions), broken) == (data(sent), [])
        pauses.append(pause(actions))
    assert sender.timer(LinkTimer(PEER)) == ([], [LinkBroken(PEER, (Number(1), Number(2)))])
    for number, length in enumerate(pauses):
        at_least = min(PARAMETERS.link_time_out * 2**number, PARAMETERS.link_time_out_max)
        assert at_least <= length <= at_least * (1 + PARAMETERS.link_jitter)


def test_the_pause_follows_measured_delays() -> None:
    """Slow acknowledgements make the next pauses longer, quick ones shorter, whichever neighbour they come from."""

    def pause_after(delay: SimTime) -> SimTime:
        sender = link()
        for number in range(50):
            frame = data(sender.send(number, Number(number), number * SECOND))
            sender.receive(number, LinkAck(frame.session, frame.sequence), number * SECOND + delay)
        return pause(sender.send(PEER, Number(0), 60 * SECOND))

    assert pause_after(300 * MILLISECOND) > 300 * MILLISECOND
    shortest = PARAMETERS.link_time_out_min
    assert shortest <= pause_after(5 * MILLISECOND) <= shortest * (1 + PARAMETERS.link_jitter)


def test_what_was_retransmitted_is_no_sample() -> None:
    """An acknowledgement may be for either copy (Karn), so it says nothing of the delay."""
    patient, sender = link(), link()
    frame = data(sender.send(PEER, Number(1), 0))
    sender.timer(LinkTimer(PEER))
    sender.receive(PEER, LinkAck(frame.session, frame.sequence), 30 * SECOND)
    assert pause(sender.send(8, Number(2), 31 * SECOND)) < 2 * pause(patient.send(8, Number(2), 0))


def test_a_duplicate_is_acknowledged_and_not_handed_up() -> None:
    """A lost acknowledgement costs a frame, never a second delivery."""
    receiver, frame = link(), LinkData(5, 0, Number(1))
    assert receiver.receive(PEER, frame, 0) == ([Send(PEER, LinkAck(5, 0))], [Number(1)])
    assert receiver.receive(PEER, frame, 1) == ([Send(PEER, LinkAck(5, 0))], [])


def test_late_and_foreign_acknowledgements_are_ignored() -> None:
    """Only the acknowledgement of what is under way counts."""
    sender = link()
    frame = data(sender.send(PEER, Number(1), 0))
    for ack in (LinkAck(frame.session + 1, frame.sequence), LinkAck(frame.session, frame.sequence + 1)):
        assert sender.receive(PEER, ack, 1) == ([], [])
    assert sender.receive(9, LinkAck(frame.session, frame.sequence), 1) == ([], [])
    assert not sender.is_idle(PEER)


def test_a_new_session_follows_a_give_up() -> None:
    """After a give-up the receiver takes the next message, though it never got the one before."""
    sender, receiver = link(), link(1)
    first = data(sender.send(PEER, Number(1), 0))
    receiver.receive(0, first, 0)
    sender.reset(PEER)
    second = data(sender.send(PEER, Number(2), 1))
    assert second.session != first.session
    assert receiver.receive(0, second, 1)[1] == [Number(2)]


def test_reset_gives_back_what_waits() -> None:
    """A neighbour known to be gone is given up at once; an idle one has nothing to give back."""
    sender = link()
    sender.send(PEER, Number(1), 0)
    assert sender.reset(PEER) == ([CancelTimer(LinkTimer(PEER))], [LinkBroken(PEER, (Number(1),))])
    assert sender.reset(PEER) == ([], [])


def test_what_is_not_acknowledged_is_held() -> None:
    """To whichever neighbour, oldest first."""
    sender = link()
    first = data(sender.send(PEER, Number(1), 0))
    sender.send(PEER, Number(2), 0)
    sender.send(PEER + 1, Number(3), 0)
    sender.receive(PEER, LinkAck(first.session, first.sequence), 1)
    assert sender.held() == [Number(2), Number(3)]


def test_a_full_queue_drops_and_says_so() -> None:
    """The queue is bounded; what does not fit is a row in the trace."""
    sender = link()
    for number in range(PARAMETERS.link_queue_limit):
        sender.send(PEER, Number(number), 0)
    assert sender.is_full(PEER)
    (note,) = sender.send(PEER, Number(0), 0)
    assert isinstance(note, Note)
    assert (note.name, note.peer, note.detail) == ("drop", PEER, "link queue full")


def exchange(messages: Sequence[Message], chance: Random, loss: float) -> tuple[list[Message], list[Message]]:
    """Sends all over frames of which some are lost; returns what arrived and what was given up."""
    sender, receiver = link(1), link(2)
    arrived: list[Message] = []
    given_up: list[Message] = []
    pending = [action for message in messages for action in sender.send(PEER, message, 0)]
    while not sender.is_idle(PEER):
        acks: list[Message] = []
        for frame in frames(pending):
            if isinstance(frame, LinkData) and chance.random() >= loss:
                answers, taken = receiver.receive(0, frame, 0)
                arrived += taken
                acks += [ack for ack in frames(answers) if chance.random() >= loss]
        pending = [action for ack in acks if isinstance(ack, LinkAck) for action in sender.receive(PEER, ack, 0)[0]]
        if not acks:
            pending, broken = sender.timer(LinkTimer(PEER))
            given_up += [message for broken_link in broken for message in broken_link.messages]
    return arrived, given_up


@given(st.lists(st.integers(0, 999), max_size=25), st.randoms(use_true_random=False), st.floats(0, 0.6))
def test_messages_arrive_once_and_in_order(values: list[int], chance: Random, loss: float) -> None:
    """Whatever is lost: the first arrive, once and in order, and the rest comes back; one may be on both sides."""
    messages = [Number(value) for value in values]
    arrived, given_up = exchange(messages, chance, loss)
    assert arrived == messages[: len(arrived)]
    assert given_up == messages[len(messages) - len(given_up) :]
    assert len(messages) <= len(arrived) + len(given_up) <= len(messages) + 1


def test_sequence_numbers_go_round_within_a_session() -> None:
    """The message after number 255 has number 0, and one that comes again is a duplicate."""
    receiver = link()
    handed_up = [receiver.receive(PEER, LinkData(9, number % 256, Number(1)), 0)[1] for number in (254, 255, 256, 256)]
    assert [len(messages) for messages in handed_up] == [1, 1, 1, 0]


def test_each_message_has_all_its_retransmissions() -> None:
    """Those of the one before do not count."""
    sender = link()
    for value in (1, 2):
        frame = data(sender.send(PEER, Number(value), 0))
        for _ in range(PARAMETERS.link_retry_limit):
            actions, broken = sender.timer(LinkTimer(PEER))
            assert (data(actions), broken) == (frame, [])
        sender.receive(PEER, LinkAck(frame.session, frame.sequence), SECOND)


def test_pauses_grow_up_to_a_bound() -> None:
    """Doubled again and again they would be longer than a node is in reach."""
    parameters = LinkParameters(link_retry_limit=10, link_jitter=0.0)
    sender = Link(parameters, Random(0))
    pauses = [pause(sender.send(PEER, Number(1), 0)), *(pause(sender.timer(LinkTimer(PEER))[0]) for _ in range(10))]
    assert pauses == sorted(pauses)
    assert pauses[1] == 2 * pauses[0]
    assert pauses[-1] == parameters.link_time_out_max
