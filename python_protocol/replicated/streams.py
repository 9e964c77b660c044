"""Numbered messages from and to one neighbour: each is taken once, sent until accepted, and put in order if asked for.

A neighbour is a client, or a neighbouring site whatever broker speaks for it. For each stream the receiver keeps the
number that it expects next, and what has come too early; the sender keeps the last number, and what has not been
accepted (the paper on replicated brokers, section 5.1).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from roambus.python_protocol.replicated.messages import SUBSCRIPTIONS, Key, Number, Numbered, Stream


@dataclass(slots=True)
class Awaited:
    """One stream: the number expected next, and what has come too early (section 5.1).

    A waiting number without a message has been taken already, where order does not matter.
    """

    expected: Number = 1
    waiting: dict[Number, Numbered | None] = field(default_factory=dict)

    def is_new(self, number: Number) -> bool:
        """Whether the number has not come before."""
        return number >= self.expected and number not in self.waiting

    def take(self, message: Numbered, *, in_order: bool) -> list[Numbered]:
        """Takes a new message in, and returns what can be processed now, in order."""
        self.waiting[message.number] = message if in_order else None
        ready = [] if in_order else [message]
        while self.expected in self.waiting:
            held = self.waiting.pop(self.expected)
            ready += [] if held is None else [held]
            self.expected += 1
        return ready


class Incoming:
    """The streams from one neighbour."""

    def __init__(self, *, events_in_order: bool) -> None:
        self.streams: dict[Stream, Awaited] = {}
        self._events_in_order = events_in_order

    def is_new(self, message: Numbered) -> bool:
        """Whether the message has not come before."""
        stream = self.streams.get(message.stream)
        return stream is None or stream.is_new(message.number)

    def take(self, message: Numbered) -> list[Numbered]:
        """Takes a message in, and returns what can be processed now: nothing for what has come before."""
        stream = self.streams.setdefault(message.stream, Awaited())
        if not stream.is_new(message.number):
            return []
        return stream.take(message, in_order=self._events_in_order or message.stream == SUBSCRIPTIONS)


class Outgoing:
    """The streams to one neighbour."""

    def __init__(self) -> None:
        self.last: dict[Stream, Number] = {}
        """The highest number sent in each stream (section 5.1)."""
        self.unaccepted: dict[Key, Numbered] = {}
        self.early: set[Key] = set()
        """Accepted before this copy of the state has come to sending it."""

    def number(self, message: Numbered) -> Numbered:
        """Gives a message the next number of its stream."""
        return replace(message, number=self.last.get(message.stream, 0) + 1)

    def put(self, message: Numbered) -> bool:
        """Keeps a message that is to be sent until it is accepted; False if it has been accepted already."""
        self.last[message.stream] = message.number
        if message.key in self.early:
            self.early.remove(message.key)
            return False
        self.unaccepted[message.key] = message
        return True

    def accept(self, key: Key) -> bool:
        """The neighbour has it; False if nobody waited for that."""
        if key.number > self.last.get(key.stream, 0):
            self.early.add(key)
        return self.unaccepted.pop(key, None) is not None
