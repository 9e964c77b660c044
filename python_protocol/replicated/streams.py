"""Numbered messages from and to one neighbour: each is taken once, sent until accepted, and put in order if asked for.

A neighbour is a client, or a neighbouring site whatever broker speaks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from roambus.python_protocol.replicated.messages import SUBSCRIPTIONS, Key, Numbered, Stream


@dataclass(slots=True)
class Awaited:
    """One stream: the number expected next, and what has come too early (section 5.1).

    A waiting number without a message has been taken already, where order does not matter.
    """

    expected: int = 1
    waiting: dict[int, Numbered | None] = field(default_factory=dict)

    def is_new(self, number: int) -> bool:
        """Whether it has not come before."""
        return number >= self.expected and number not in self.waiting

    def take(self, message: Numbered, *, in_order: bool) -> list[Numbered]:
        """What can be processed now, in order; `message` must be new."""
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
        """Whether it has not come before."""
        stream = self.streams.get(message.stream)
        return stream is None or stream.is_new(message.number)

    def take(self, message: Numbered) -> list[Numbered]:
        """What can be processed now; nothing for what has come before."""
        stream = self.streams.setdefault(message.stream, Awaited())
        if not stream.is_new(message.number):
            return []
        return stream.take(message, in_order=self._events_in_order or message.stream == SUBSCRIPTIONS)


class Outgoing:
    """The streams to one neighbour."""

    def __init__(self) -> None:
        self.last: dict[Stream, int] = {}
        """The highest number sent in each stream (section 5.1)."""
        self.unaccepted: dict[Key, Numbered] = {}
        self.early: set[Key] = set()
        """Accepted before this copy of the state has come to sending it."""

    def number(self, message: Numbered) -> Numbered:
        """The message with the next number of its stream."""
        return replace(message, number=self.last.get(message.stream, 0) + 1)

    def put(self, message: Numbered) -> bool:
        """To be sent; False if it has been accepted already."""
        key = message.stream, message.number
        self.last[message.stream] = message.number
        if key in self.early:
            self.early.remove(key)
            return False
        self.unaccepted[key] = message
        return True

    def accept(self, key: Key) -> bool:
        """The neighbour has it; whether that was still waited for."""
        stream, number = key
        if number > self.last.get(stream, 0):
            self.early.add(key)
        return self.unaccepted.pop(key, None) is not None
