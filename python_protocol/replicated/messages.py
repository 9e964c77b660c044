"""Subscriptions and events, between clients and brokers and between sites.

The paper on replicated brokers has these in sections 4 and 5. Whatever must arrive once has a stream and a number in
it: towards each neighbour, and in each stream, the sender counts from 1 (section 5.1, "renumber"). There is a stream
for each publisher's events, one for events that the root has put in order, and one for subscriptions. Stream and
number together are the key by which the reply says what was accepted.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple

from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import U8, U32, Integer
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.names import Names

SUBSCRIPTIONS = 65534
"""The stream of subscriptions, which is no node."""
ORDERED = 65535
"""The stream of events with the sequencer's number (section 5.2), which is no node."""
_MARKS = {SUBSCRIPTIONS: "", ORDERED: "order"}


def _mark(stream: int, names: Names) -> str:
    return _MARKS[stream] if stream in _MARKS else names.node(stream)


Stream = Annotated[int, Integer("H", _mark)]
"""The publisher whose events are numbered, or one of the two streams above."""
Number = U32
"""The place of a message in its stream, from 1."""


class Key(NamedTuple):
    """Names a numbered message towards one neighbour."""

    stream: Stream
    number: Number

    def describe(self, names: Names) -> str:
        """The key as transcripts write it: "p1#3", "order#3", for subscriptions "#3"."""
        return f"{_mark(self.stream, names)}#{self.number}"


class _Subscription(Message, notation="{filter} #{number}"):
    """What SUB and UNS have in common: all of them are in one stream."""

    stream: ClassVar[Stream] = SUBSCRIPTIONS
    number: Number
    filter: Filter

    @property
    def key(self) -> Key:
        """The name of the message."""
        return Key(self.stream, self.number)


class Sub(_Subscription, tag=1):
    """Somebody at or behind the sender subscribes (section 4)."""


class Uns(_Subscription, tag=2):
    """Somebody at or behind the sender unsubscribes (section 4)."""


class _OfStream(Message, notation="{stream}#{number}"):
    """What names itself, or another message, by stream and number."""

    stream: Stream
    number: Number

    @property
    def key(self) -> Key:
        """The name of the message."""
        return Key(self.stream, self.number)


class Event(_OfStream, tag=3, notation="{notification} {stream}#{number} hops={hops}"):
    """A notification on its way to subscribers (sections 4 and 5); `hops` counts the one that the message makes."""

    hops: U8
    notification: Notification


class Update(_OfStream, tag=4):
    """In place of an event that is not for the receiver: expect the next number (section 7; `renumber` false)."""


class Accepted(_OfStream, tag=5):
    """The reply to each of the messages above, by its key (section 6.4)."""


Numbered = Sub | Uns | Event | Update
"""What is sent until it is accepted, and taken once."""
