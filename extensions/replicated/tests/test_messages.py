"""The messages of replicated brokers: their bytes, which must stay as they were published, and their notation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.replicated import Replicated
from roambus.extensions.replicated.messages import (
    ORDERED,
    SUBSCRIPTIONS,
    Accepted,
    AreYouAlive,
    AssumedDead,
    CatchUp,
    Empty,
    Event,
    HandOver,
    IAmAlive,
    IAmLeader,
    Inform,
    Informed,
    Leader,
    Missing,
    Piece,
    Point,
    State,
    Sub,
    TakeOver,
    Uns,
    Update,
    Yield,
)
from roambus.python_protocol.filters import Notification, NotificationId, parse_filter
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.octets import DecodeError

FILTER = parse_filter("topic = 1")
NOTIFICATION = Notification(NotificationId(9, 2), (("topic", 1),))
EVENT = Event(9, 3, 2, NOTIFICATION)
FILTER_BYTES = "0105746f70696300000000000000000001"
NOTIFICATION_BYTES = "0009000000020105746f7069630000000000000000010000"

GOLDEN = [
    (Sub(3, FILTER), f"0100000003{FILTER_BYTES}", "SUB {topic = 1} #3"),
    (Uns(4, FILTER), f"0200000004{FILTER_BYTES}", "UNS {topic = 1} #4"),
    (EVENT, f"0300090000000302{NOTIFICATION_BYTES}", "EVENT 9.2 n9#3 hops=2"),
    (
        Event(ORDERED, 70000, 255, NOTIFICATION),
        f"03ffff00011170ff{NOTIFICATION_BYTES}",
        "EVENT 9.2 order#70000 hops=255",
    ),
    (Update(7, 1), "04000700000001", "UPDATE n7#1"),
    (Update(SUBSCRIPTIONS, 2), "04fffe00000002", "UPDATE #2"),
    (Accepted(ORDERED, 5, NotificationId(9, 2)), "05ffff00000005000900000002", "ACCEPTED order#5"),
    (AreYouAlive(), "06", "ARE_YOU_ALIVE"),
    (IAmAlive(6), "0700000006", "I_AM_ALIVE term=6"),
    (AssumedDead(258), "080102", "ASSUMED_DEAD n258"),
    (IAmLeader(4, Point(3, 2)), "09000000040000000300000002", "I_AM_LEADER term=4 from 3.2"),
    (Leader(5, 7), "0a000500000007", "LEADER n5 term=7"),
    (
        Inform(Point(1, 2), 9, EVENT),
        f"0b000000010000000200090300090000000302{NOTIFICATION_BYTES}",
        "INFORM 1.2 n9: EVENT 9.2 n9#3 hops=2",
    ),
    (Informed(Point(1, 2)), "0c0000000100000002", "INFORMED 1.2"),
    (HandOver(9, Sub(3, FILTER)), f"0d00090100000003{FILTER_BYTES}", "HAND_OVER n9: SUB {topic = 1} #3"),
    (TakeOver(4, Point(3, 2)), "0e000000040000000300000002", "TAKE_OVER term=4 from 3.2"),
    (Yield(4, Point(3, 2), b""), "0f0000000400000003000000020000", "YIELD term=4 from 3.2"),
    (
        Yield(4, Point(3, 2), b"ab"),
        "0f00000004000000030000000200026162",
        "YIELD term=4 from 3.2 with a copy of 2 bytes",
    ),
    (CatchUp(), "10", "CATCH_UP"),
    (Missing(7, 1), "14000700000001", "MISSING n7#1"),
    (State(Point(1, 4), b"abc"), "1100000001000000040003616263", "STATE 1.4 of 3 bytes"),
    (State(Point(1, 4), b""), "1100000001000000040000", "STATE 1.4 of the pieces"),
    (Piece(Point(1, 4), 0, 2, b"ab"), "120000000100000004000000000000000200026162", "PIECE 1.4 0 of 2"),
    (Empty(4), "1300000004", "EMPTY term=4"),
]


@pytest.mark.parametrize(("message", "data", "text"), GOLDEN, ids=[text for _, _, text in GOLDEN])
def test_bytes_and_notation_stay_as_they_are(message: Message, data: str, text: str) -> None:
    """Records of runs and transcripts of earlier releases can still be read."""
    assert message.encode().hex() == data
    assert message.describe(Names()) == text


def test_every_message_is_among_these() -> None:
    """A message that is added needs bytes of its own above."""
    assert {type(message) for message, _, _ in GOLDEN} == set(Replicated.messages)


nodes, numbers = st.integers(0, 2**16 - 1), st.integers(0, 2**32 - 1)
points = st.builds(Point, numbers, numbers)
copies = st.binary(max_size=400)
subscriptions = st.builds(Sub, numbers, st.just(FILTER)) | st.builds(Uns, numbers, st.just(FILTER))
events = st.builds(Event, nodes, numbers, st.integers(0, 255), st.just(NOTIFICATION))
numbered = subscriptions | events | st.builds(Update, nodes, numbers)
messages = st.one_of(
    numbered,
    st.builds(Accepted, nodes, numbers, st.builds(NotificationId, nodes, numbers)),
    st.just(AreYouAlive()),
    st.builds(IAmAlive, numbers),
    st.builds(AssumedDead, nodes),
    st.builds(IAmLeader, numbers, points),
    st.builds(Leader, nodes, numbers),
    st.builds(Inform, points, nodes, numbered),
    st.builds(Informed, points),
    st.builds(HandOver, nodes, numbered),
    st.builds(TakeOver, numbers, points),
    st.builds(Yield, numbers, points, copies),
    st.just(CatchUp()),
    st.builds(Missing, nodes, numbers),
    st.builds(State, points, copies),
    st.builds(Piece, points, numbers, numbers, copies),
)


@given(messages)
def test_round_trip(message: Message) -> None:
    """A message is the same after its encoding."""
    assert Replicated.messages.decode(message.encode()) == message


@given(st.binary(max_size=60))
def test_no_bytes_do_worse_than_a_decode_error(data: bytes) -> None:
    """Bytes from anyone are a message or a DecodeError, nothing else."""
    try:
        message = Replicated.messages.decode(data)
    except DecodeError:
        return
    assert message.encode() == data


@pytest.mark.parametrize("carrier", ["0b00000001000000020009", "0d0009"], ids=["INFORM", "HAND_OVER"])
@pytest.mark.parametrize("carried", ["05ffff00000005000900000002", "10"], ids=["ACCEPTED", "CATCH_UP"])
def test_only_numbered_messages_are_informed_of_and_handed_over(carrier: str, carried: str) -> None:
    """A broker that sends another one misbehaves, which is found before the state is changed."""
    with pytest.raises(DecodeError, match="is not allowed here"):
        Replicated.messages.decode(bytes.fromhex(carrier + carried))
