"""Messages of replicated sites, and parameters, for which the paper gives no values.

Subscriptions and events (sections 4 and 5) are numbered from 1 for each neighbour and stream (section 5.1). Leaders
have terms (sections 6.2 to 6.9); a point is the progress of a copy. Steps within a site (sections 6 to 6.7) name their
message. A broker that missed some gets a copy, in pieces if it is long.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple

from roambus.extensions.replicated.sites import EXAMPLE, parse_sites
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.messages.fields import U8, U32, By, Integer, LongBytes, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.octets import Reader, Writer
from roambus.python_protocol.roles import BROADCAST, BrokerId, NodeId
from roambus.python_protocol.settings import Parameters, parameter
from roambus.python_protocol.simtime import MILLISECOND, SimTime

SUBSCRIPTIONS = 65534
"""The stream of subscriptions, which is not a node."""
ORDERED = 65535
"""The sequencer's stream (section 5.2), which is not a node."""
_MARKS = {SUBSCRIPTIONS: "", ORDERED: "order"}


def _mark(stream: int, names: Names) -> str:
    return _MARKS[stream] if stream in _MARKS else names.node(stream)


Stream = Annotated[int, Integer("H", _mark)]
"""The publisher, or one of the two streams above."""
Number = U32
"""The place of a message in its stream, from 1."""


class Key(NamedTuple):
    """A numbered message's name towards one neighbour."""

    stream: Stream
    number: Number

    def describe(self, names: Names) -> str:
        """In transcripts: "p1#3", "order#3", for subscriptions "#3"."""
        return f"{_mark(self.stream, names)}#{self.number}"


class _Subscription(Message, notation="{filter} #{number}"):
    """SUB and UNS share one stream."""

    stream: ClassVar[Stream] = SUBSCRIPTIONS
    number: Number
    filter: Filter

    @property
    def key(self) -> Key:
        """The name of the message."""
        return Key(self.stream, self.number)


class Sub(_Subscription, tag=1):
    """A client at or behind the sender subscribes (section 4)."""


class Uns(_Subscription, tag=2):
    """A client at or behind the sender unsubscribes (section 4)."""


class _OfStream(Message, notation="{stream}#{number}"):
    """A message with stream and number."""

    stream: Stream
    number: Number

    @property
    def key(self) -> Key:
        """The name of the message."""
        return Key(self.stream, self.number)


class Event(_OfStream, tag=3, notation="{notification} {stream}#{number} hops={hops}"):
    """A notification (sections 4 and 5); `hops` includes its own."""

    hops: U8
    notification: Notification


class Update(_OfStream, tag=4):
    """Replaces an event that is lost or not for the receiver (section 7)."""


NOTHING = NotificationId(BROADCAST, 0)
"""The notification of a message without one."""


class Accepted(_OfStream, tag=5):
    """The reply to the messages above (section 6.4).

    It names the notification, too: a leader without old copies can reuse a key.
    """

    notification: NotificationId


Numbered = Sub | Uns | Event | Update
"""A message repeated until accepted, and taken once."""


def subject(message: Numbered) -> NotificationId:
    """Return the notification of a message, or `NOTHING`."""
    return message.notification.id if isinstance(message, Event) else NOTHING


def acceptance(message: Numbered) -> Accepted:
    """Return the reply to a message."""
    return Accepted(*message.key, subject(message))


Term = U32
"""The broker at place t mod 3 leads in term t."""


class Point(NamedTuple):
    """A copy's steps, the last in `term`; greater is newer."""

    term: Term
    step: U32

    def describe(self, names: Names) -> str:  # it names nobody
        """The point in transcripts: "0.3"."""
        return f"{self.term}.{self.step}"


class AreYouAlive(Message, tag=6, name="ARE_YOU_ALIVE"):
    """Asks a late node (section 6.4)."""


class IAmAlive(Message, tag=7, name="I_AM_ALIVE"):
    """The answer, with the broker's last term."""

    term: Term


class AssumedDead(Message, tag=8, name="ASSUMED_DEAD", notation="{broker}"):
    """Reports the silent `broker` (section 6.4)."""

    broker: BrokerId


class OfPoint(Message, notation="term={term} from {point}"):
    """A term's beginning, and a copy's point."""

    term: Term
    point: Point


class IAmLeader(OfPoint, tag=9, name="I_AM_LEADER"):
    """Announces a leader to its site and neighbours (sections 6.6 and 6.8).

    A replica at this point follows.
    """


class Leader(Message, tag=10, notation="{broker} term={term}"):
    """`broker` leads since `term` (section 6.9)."""

    broker: BrokerId
    term: Term


_LONG = {"kind": "blob", "code": "H"}
Copy = Annotated[
    bytes, By(Writer.long_blob, Reader.long_blob, lambda data, _: f"{len(data)} bytes" if data else "the pieces", _LONG)
]
"""A site's state as bytes; empty if it came in pieces."""
MaybeCopy = Annotated[
    bytes,
    By(Writer.long_blob, Reader.long_blob, lambda data, _: f"with a copy of {len(data)} bytes" if data else "", _LONG),
]
"""The same; empty also without a copy."""


class Inform(Message, tag=11, notation="{point} {peer}: {message}"):
    """The leader's step to this point (section 6)."""

    point: Point
    peer: NodeId
    message: Numbered


class Informed(Message, tag=12, notation="{point}"):
    """The sender's copy has reached this point."""

    point: Point


class HandOver(Message, tag=13, name="HAND_OVER", notation="{peer}: {message}"):
    """A client's perhaps unprocessed message (section 6.6)."""

    peer: NodeId
    message: Numbered


class TakeOver(OfPoint, tag=14, name="TAKE_OVER"):
    """Asks to lead from `term`, with this copy."""


class Yield(OfPoint, tag=15, notation="term={term} from {point} {snapshot}"):
    """The sender yields; `snapshot` is its newer copy."""

    snapshot: MaybeCopy


class CatchUp(Message, tag=16, name="CATCH_UP"):
    """Asks for the leader's copy."""


class Empty(Message, tag=19, notation="term={term}"):
    """The sender has no copy, and accepts no earlier term's (`tell_empty`; not in the paper)."""

    term: Term


class Missing(_OfStream, tag=20):
    """Asks for a message whose successors are here (`close_gaps`; not in the paper)."""


class Piece(Message, tag=18, notation="{point} {number} of {count}"):
    """A part of a copy at this point, numbered from 0."""

    point: Point
    number: U32
    count: U32
    data: LongBytes


class State(Message, tag=17, notation="{point} of {snapshot}"):
    """The leader's copy, at this point."""

    point: Point
    snapshot: Copy


FLOODING, FILTERING = "flooding", "filtering"
NONE, FIFO, TOTAL = "none", "fifo", "total"


class ReplicatedParameters(Parameters):
    """Parameters of brokers and clients."""

    sites: str = parameter(
        "",
        source="the paper on replicated brokers, section 2",
        doc=f"name:brokers/clients of each site, with name@parent below another, such as {EXAMPLE}",
    )
    routing: str = parameter(
        FILTERING,
        choices=(FLOODING, FILTERING),
        source="the paper on replicated brokers, section 4",
        doc="flooding: events go to every site; filtering: only towards sites with a subscriber for them",
    )
    order: str = parameter(
        FIFO,
        choices=(NONE, FIFO, TOTAL),
        source="the paper on replicated brokers, section 5",
        doc="in which order subscribers get events: none, fifo (that of each publisher) or total (the root's)",
    )
    renumber: bool = parameter(
        True,
        source="the paper on replicated brokers, section 5.1; section 7 has the implementation without",
        doc="events are numbered for each neighbour; false: sites that do not get an event get an UPDATE",
    )
    time_out: SimTime = parameter(
        100 * MILLISECOND,
        unit="s",
        above=0,
        source="reasoned: far above the few ms that a reply takes over links of 1 ms",
        doc="shortest wait for a reply before a node asks whether the other is alive; twice as long for the answer",
    )
    piece_size: int = parameter(
        60_000,
        unit="bytes",
        at_least=1,
        at_most=65_000,
        source="reasoned: a message has at most 65535 bytes",
        doc="longest part of a copy of a site's state in one message",
    )
    tell_empty: bool = parameter(
        True,
        source="not in the paper, whose section 6 has one broker fail, and its copy be back, before the next one fails",
        doc="a broker without a copy announces it, and the last copy leads; false: it is silent until it has one",
    )
    close_gaps: bool = parameter(
        True,
        source="not in the paper, in whose section 6 one broker fails at a time",
        doc="what a client has said and all brokers have lost is passed over; false: what it says later waits for ever",
    )
    follow_delays: bool = parameter(
        True,
        source='the paper on replicated brokers, section 8: "an infinite loop of message exchanging"',
        doc="waits grow with the delays that a node measures; false: each is time_out, which may be below the delay",
    )

    def __post_init__(self) -> None:
        """Check the sites, if they are given."""
        super().__post_init__()
        if self.sites:
            parse_sites(self.sites)
