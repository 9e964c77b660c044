"""Messages that are longer than a frame go in fragments, and arrive whole or not at all."""

from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.backend import SENT, Delivery, Failure
from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.host.event_loop import Host
from roambus.bridge.host.fragments import Fragments
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.agent import Agent, on
from roambus.python_protocol.events import Started
from roambus.python_protocol.messages.fields import LongBytes
from roambus.python_protocol.messages.message import Fragment, Message, MessageSet
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.simtime import SimTime
from tests.support.scenarios import scenario

ROOM = 127 - 6 - 9 - 10


class Long(Message, tag=1):
    data: LongBytes


MESSAGES = MessageSet([Long])


class Sender(Agent):
    """Node 0 sends one long message; all others keep what they hear."""

    messages = MESSAGES
    whole: ClassVar[list[tuple[int, int]]] = []

    @on(Started)
    def start(self, _: Started, __: SimTime) -> None:
        if self.node == 0:
            self.send(BROADCAST, Long(bytes(250)))

    @on(Long)
    def take_in(self, long: Long, _: NodeId, __: SimTime) -> None:
        self.whole.append((self.node, len(long.data)))


def limited(frame: int = 127, *, fragments: bool = True) -> Scenario:
    described = scenario([Role.NONE] * 3)
    radio = replace(described.radio, max_frame_bytes=frame, frame_overhead_bytes=6)
    mac = replace(described.mac, packet_overhead_bytes=9, network_overhead_bytes=10, max_packet_bytes=0)
    return replace(described, radio=radio, mac=mac, fragments=fragments)


def fragments(trace: TraceWriter | None = None) -> Fragments:
    made = Fragments(MESSAGES, trace or TraceWriter())
    made.fit(limited().room_bytes)
    return made


def arriving(message: Message, sender: NodeId = 0) -> Delivery:
    return Delivery(1, sender, message, -70.0, 30.0)


def test_a_long_message_is_sent_in_frames_that_fit_and_heard_whole() -> None:
    """Each frame has a row of its own with its bytes, and the agent hears one message."""
    Sender.whole.clear()
    described, trace = limited(), TraceWriter()
    Host(described, Sender, IdealBackend(3, [(0, 1), (0, 2)], described.time_limit), trace).run()
    sent = [row for row in trace.table().to_pylist() if row["event"] == "send"]
    assert [row["message_type"] for row in sent] == ["FRAGMENT"] * 3
    assert [row["bytes"] for row in sent] == [ROOM, ROOM, 8 + 253 - 2 * (ROOM - 8)]
    assert Sender.whole == [(1, 250), (2, 250)]


def test_without_fragments_a_message_goes_as_it_is() -> None:
    """What is too long then is for the MAC or the radio to refuse."""
    described, trace = limited(fragments=False), TraceWriter()
    Host(described, Sender, IdealBackend(3, [(0, 1)], described.time_limit), trace).run()
    assert [row["message_type"] for row in trace.table().to_pylist() if row["event"] == "send"] == ["LONG"]


@given(st.lists(st.binary(min_size=ROOM, max_size=1000), min_size=1, max_size=4))
def test_all_that_arrives_in_order_is_joined_again(contents: list[bytes]) -> None:
    """Whatever the length, the messages of two senders that take turns come out as they went in."""
    both = fragments()
    joined: list[Delivery] = []
    for data in contents:
        for pair in zip(both.split(0, Long(data)), both.split(2, Long(data[::-1])), strict=True):
            joined += both.join(
                [arriving(piece.message, sender) for piece, sender in zip(pair, (0, 2), strict=True)], 0
            )
    whole = [Long(data) for content in contents for data in (content, content[::-1])]
    assert [delivery.message for delivery in joined] == whole


@given(st.integers(0, 2))
def test_a_message_that_lacks_a_fragment_is_lost_and_the_trace_says_so(lost: int) -> None:
    """The next message of the sender arrives all the same."""
    trace = TraceWriter()
    all_of = fragments(trace)
    pieces = [piece.message for piece in all_of.split(0, Long(bytes(250)))]
    following = [piece.message for piece in all_of.split(0, Long(bytes(120)))]
    heard = [piece for number, piece in enumerate(pieces) if number != lost] + following
    assert [message.message for message in all_of.join(map(arriving, heard), 5)] == [Long(bytes(120))]
    (row,) = [row for row in trace.table().to_pylist() if row["event"] == "drop"]
    assert (row["node"], row["peer"], row["message_type"], row["detail"]) == (1, 0, "FRAGMENT", "a fragment is missing")


def test_an_agent_is_told_once_of_a_message_whose_fragments_fail() -> None:
    """What it is told of is its own message, and not a piece of it."""
    all_of = fragments()
    failures = [Failure(0, 1, piece.message, "MAC queue full") for piece in all_of.split(0, Long(bytes(250)))]
    failed = [message.message for failure in failures if (message := all_of.outcome(failure))]
    assert failed == [Long(bytes(250))]


def test_an_agent_learns_of_each_message_however_many_wait() -> None:
    """A queue has room for thousands: the first fails when all others have been handed over, and then each of them."""
    all_of = fragments()
    first = [next(all_of.split(0, Long(number.to_bytes(2) * 100))).message for number in range(1000)]
    failed = [all_of.outcome(Failure(0, 1, fragment, "no acknowledgement")) for fragment in first]
    assert [outcome and outcome.message for outcome in failed] == [
        Long(number.to_bytes(2) * 100) for number in range(1000)
    ]


def test_a_message_that_was_sent_is_kept_no_longer() -> None:
    """As soon as its last fragment has left, whatever it was before."""
    all_of = fragments()
    *others, last = [Failure(0, 1, piece.message, SENT) for piece in all_of.split(0, Long(bytes(250)))]
    assert [all_of.outcome(sent) for sent in others] == [None, None]
    assert all_of.outcome(last) == last._replace(message=Long(bytes(250)))
    assert all_of._sent == {}


def test_a_message_that_looks_like_a_fragment_is_refused() -> None:
    """Its bytes could be taken for a piece of another one."""

    class Mine(Message, tag=Fragment.tag):
        """Of a user's own."""

    with pytest.raises(UserError, match="tag 254 is that of fragments"):
        Fragments(MessageSet([Mine]), TraceWriter())


def test_a_frame_needs_room_for_a_fragment() -> None:
    """A limit that leaves nothing beside the headers is an error, and no endless run."""
    with pytest.raises(UserError, match="room for 5 bytes, which is none for a fragment"):
        Fragments(MESSAGES, TraceWriter()).fit(limited(30).room_bytes)
