"""A node that carries notifications and delivers those that its filters match.

Nodes find each other by hellos; after some missed ones the next begins a new encounter. Nothing is acknowledged: a lost
notification is requested or offered again after a later hello.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from roambus.python_protocol.agent import Brokerless, Recent, on, on_timer
from roambus.python_protocol.events import Publish, Recovered, SendFailed, Started
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.fields import U8, U16
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.settings import Parameters, parameter
from roambus.python_protocol.simtime import SECOND, SimTime
from roambus.python_protocol.trace_rows import DROP, KEEP, ROUTE, node_list

MAX_HOPS = 255
_HELLO = "hello"
_REMEMBERED = 4
"""Identifiers that a node remembers, as a multiple of its buffer."""


class CarrierParameters(Parameters):
    """Parameters that all carriers share."""

    hello_interval: SimTime = parameter(
        SECOND, unit="s", source="RFC 3561, section 10, HELLO_INTERVAL", above=0, doc="time from one hello to the next"
    )
    allowed_hello_loss: int = parameter(
        2, source="RFC 3561, section 10", at_least=0, doc="hellos in a row that may be missed before a contact ends"
    )
    buffer: int = parameter(
        2000,
        source="Vahdat and Becker (2000), section 4: from here on a buffer costs no delivery",
        at_least=1,
        doc="notifications that a node carries; a full buffer drops the oldest",
    )
    told: int = parameter(
        12,
        source="IEEE 802.15.4: the number that fits into a frame of 127 bytes after its headers",
        at_least=1,
        at_most=255,
        doc="entries of a list in a hello, a request or an offer; the others take turns",
    )
    batch: int = parameter(
        8,
        source="reasoned: a quarter of the 32 frames of the MAC's queue",
        at_least=1,
        doc="notifications that are sent for one request",
    )


class Named(NamedTuple):
    """A notification in six bytes."""

    publisher: NodeId
    high: U16
    low: U16

    @classmethod
    def of(cls, identifier: NotificationId) -> Named:
        """Return the name of a notification."""
        return cls(identifier.publisher, *divmod(identifier.sequence, 1 << 16))

    @property
    def id(self) -> NotificationId:
        """The notification that is named."""
        return NotificationId(self.publisher, (self.high << 16) + self.low)


class Carried(Message, tag=0x06, notation="{notification} copies={copies} for {receivers} hops={hops}"):
    """A notification that one node hands to another."""

    copies: U8
    hops: U8
    receivers: tuple[NodeId, ...]
    """The subscribers, if the scenario names them."""
    notification: Notification


class Carrier(Brokerless):
    """Finds neighbours, carries notifications, and delivers those that its filters match."""

    parameters: CarrierParameters

    def forget(self) -> None:
        """Empty the buffer."""
        self._buffer: dict[NotificationId, Carried] = {}
        self._had = Recent(_REMEMBERED * self.parameters.buffer)
        self._heard: dict[NodeId, SimTime] = {}
        self._turn = 0

    @on(Started, Recovered)
    def start(self, _: Started | Recovered, __: SimTime) -> None:
        """Send the first hello at a random time."""
        self.set_timer(_HELLO, self.random.randrange(self.parameters.hello_interval))

    @on(Publish)
    def publish(self, event: Publish, _: SimTime) -> None:
        """Carry the application's notification."""
        self.note(ROUTE, notification_id=str(event.notification.id), detail=node_list(event.subscribers))
        self._take(self._first(event), hops=0)

    def _first(self, event: Publish) -> Carried:
        return Carried(1, 0, (), event.notification)

    @on_timer(_HELLO)
    def say_hello(self, _: str, now: SimTime) -> None:
        """Forget neighbours that have parted, and send a hello."""
        patience = (self.parameters.allowed_hello_loss + 1) * self.parameters.hello_interval
        for neighbour in [neighbour for neighbour, heard in self._heard.items() if now - heard > patience]:
            del self._heard[neighbour]
            self._part_from(neighbour)
        self.send(BROADCAST, self._hello(now))
        jitter = self.random.randrange(self.parameters.hello_interval // 4)
        self.set_timer(_HELLO, self.parameters.hello_interval - jitter)

    def _hello(self, now: SimTime) -> Message:
        raise NotImplementedError

    def _next_entries(self, count: int) -> slice:
        """Return which of `count` entries the next hello has: they take turns."""
        start = self._turn if self._turn < count else 0
        self._turn = start + self.parameters.told
        return slice(start, self._turn)

    def _part_from(self, neighbour: NodeId) -> None:
        """Forget a past encounter."""

    def _meet(self, neighbour: NodeId, now: SimTime) -> bool:
        is_first = neighbour not in self._heard
        self._heard[neighbour] = now
        return is_first

    def _missing(self, names: Iterable[Named]) -> tuple[Named, ...]:
        return tuple(name for name in names if name.id not in self._had)

    def _hand_over(self, neighbour: NodeId, carried: Iterable[Carried]) -> None:
        for _, notification in zip(range(self.parameters.batch), carried, strict=False):
            self.send(neighbour, notification.replaced(hops=min(notification.hops + 1, MAX_HOPS)))

    @on(SendFailed)
    def keep(self, failed: SendFailed, _: SimTime) -> None:
        """Keep what was not sent: it is in the buffer, and is asked for or offered again after a later hello."""

    @on(Carried)
    def receive(self, carried: Carried, _: NodeId, __: SimTime) -> None:
        """Take a notification from a neighbour."""
        self._take(carried, carried.hops)

    def _take(self, carried: Carried, hops: int) -> None:
        notification = carried.notification
        if not self._had.add(notification.id):
            return
        if self.subscriptions.match(notification):
            self.deliver(notification, hops)
        self._carry(carried)

    def _carry(self, carried: Carried) -> None:
        self.note(KEEP, notification_id=str(carried.notification.id))
        self._buffer[carried.notification.id] = carried
        if len(self._buffer) > self.parameters.buffer:
            oldest = next(iter(self._buffer))
            del self._buffer[oldest]
            self.note(DROP, notification_id=str(oldest), detail="buffer full")
