"""Flooding: every node repeats the first copy of a notification once. The baseline that everybody knows.

It needs neither routes nor subscriptions on the way, and pays for that with a message a node and notification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Self

from roambus.python_protocol.actions import Action, Deliver, Note, Send
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Crashed, Event, Publish, Received, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.codec import Message, MessageSet, Reader, Writer
from roambus.python_protocol.notes import ROUTE, node_list
from roambus.python_protocol.parameters import parameter
from roambus.python_protocol.parts.jitter import Jitter
from roambus.python_protocol.parts.recent import Recent
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.simtime import MILLISECOND, SimTime


@dataclass(frozen=True, slots=True)
class FloodingParameters:
    """How far and how fast a flood spreads; raises ValueError for values that make no sense."""

    ttl: int = parameter(35, unit="hops", source="RFC 3561, section 10: NET_DIAMETER", doc="radio hops of a flood")
    jitter: SimTime = parameter(
        10 * MILLISECOND,
        unit="s",
        source="reasoned: the air time of three notifications; RFC 5148 for its kind",
        doc="longest wait before a copy is repeated",
    )
    memory: int = parameter(1024, source="reasoned: minutes of traffic", doc="notifications recognised as duplicates")

    def __post_init__(self) -> None:
        if not 1 <= self.ttl <= 255:
            raise ValueError(f"parameter ttl: {self.ttl} is not between 1 and 255")
        if self.jitter < 0:
            raise ValueError(f"parameter jitter: {self.jitter} ns is less than nothing")
        if self.memory < 1:
            raise ValueError(f"parameter memory: {self.memory} is not at least 1")


@dataclass(frozen=True, slots=True)
class Flood(Message):
    """A copy of a notification; `hop_count` hops lie behind it when it is sent, at most `ttl` before it."""

    tag: ClassVar[int] = 0x02
    message_type: ClassVar[str] = "FLOOD"
    ttl: int
    hop_count: int
    notification: Notification

    def write(self, writer: Writer) -> None:
        """TTL, hop count, notification."""
        writer.u8(self.ttl)
        writer.u8(self.hop_count)
        self.notification.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u8(), reader.u8(), Notification.read(reader))


class Flooding(Agent):
    """Delivers and repeats the first copy of everything, whatever the node's roles."""

    parameters: FloodingParameters
    parameters_type = FloodingParameters
    messages = MessageSet((Flood,))

    def __init__(self, node: NodeId, roles: Role, parameters: FloodingParameters, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self._filters: list[Filter] = []
        self._seen = Recent(parameters.memory)
        self._jitter = Jitter(parameters.jitter, random)
        self._handlers: dict[type[Any], Callable[[Any], Iterable[Action]]] = {
            Received: self._receive,
            Publish: self._publish,
            Subscribe: self._subscribe,
            Unsubscribe: self._unsubscribe,
            Crashed: self._crash,
        }

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:  # noqa: ARG002  # a flood knows no deadlines
        """Events that flooding has no use for do nothing."""
        handler = self._handlers.get(type(event))
        return handler(event) if handler else ()

    def _receive(self, event: Received) -> Iterable[Action]:
        flood = event.message
        if not isinstance(flood, Flood) or not self._seen.add(flood.notification.id):
            return ()
        hops = flood.hop_count + 1
        actions = self._deliver(flood.notification, hops)
        if flood.ttl > 1:
            copy = Flood(flood.ttl - 1, hops, flood.notification)
            actions.append(Send(BROADCAST, copy, self._jitter.delay()))
        return actions

    def _publish(self, event: Publish) -> Iterable[Action]:
        notification = event.notification
        self._seen.add(notification.id)
        addressed = node_list(event.subscribers)
        yield Note(ROUTE, notification_id=str(notification.id), detail=addressed)
        yield from self._deliver(notification, 0)
        yield Send(BROADCAST, Flood(self.parameters.ttl, 0, notification))

    def _subscribe(self, event: Subscribe) -> Iterable[Action]:
        self._filters.append(event.filter)
        return ()

    def _unsubscribe(self, event: Unsubscribe) -> Iterable[Action]:
        if event.filter in self._filters:
            self._filters.remove(event.filter)
        return ()

    def _crash(self, _: Crashed) -> Iterable[Action]:
        # The application subscribes once only: its filters are stable storage, everything else is lost.
        self._seen = Recent(self.parameters.memory)
        return ()

    def _deliver(self, notification: Notification, hops: int) -> list[Action]:
        if any(entry.matches(notification) for entry in self._filters):
            return [Deliver(notification, hops)]
        return []
