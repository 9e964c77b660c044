"""The messages of caching (001, sections 3.2 and 4); SUB and UNS are those of simple routing, PUB is the family's.

A route lists nodes, the nearest first: that of a REQUEST grows by each broker that passes it on, that of a RESPONSE
loses the node at which it arrives. The last is the client.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from roambus.python_protocol.brokers.messages import Pub, read_filters, write_filters
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.messages.codec import Message, Reader, Writer
from roambus.python_protocol.messages.names import Names, listed
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simple.messages import Sub, Uns

_NOBODY = 0xFFFF


@dataclass(frozen=True, slots=True)
class Request(Message):
    """A client asks for old messages; or it detaches (`client` alone), or is back (`client`, and its old `broker`)."""

    tag: ClassVar[int] = 4
    message_type: ClassVar[str] = "REQUEST"
    number: int
    """The client's own count of its requests, modulo 2^16."""
    filters: tuple[Filter, ...]
    route: tuple[NodeId, ...]
    client: NodeId | None = None
    broker: NodeId | None = None
    answered: tuple[NotificationId, ...] = ()
    """What brokers on the way have responded with (001, section 5, proactive)."""

    @property
    def is_detachment(self) -> bool:
        """Whether the client is about to leave (section 4)."""
        return self.client is not None and self.broker is None

    def write(self, writer: Writer) -> None:
        """Number, client, broker, then a count and its items three times: filters, route, answered."""
        writer.u16(self.number)
        for node in (self.client, self.broker):
            writer.u16(_NOBODY if node is None else node)
        write_filters(self.filters, writer)
        _write_route(self.route, writer)
        writer.u16(len(self.answered))
        for one in self.answered:
            one.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        number, client, broker = reader.u16(), _read_node(reader), _read_node(reader)
        filters, route = read_filters(reader), _read_route(reader)
        answered = tuple(NotificationId.read(reader) for _ in range(reader.u16()))
        return cls(number, filters, route, client, broker, answered)

    def describe(self, names: Names) -> str:
        """REQUEST [f1] path=[b5 s1] ids=[e1]; REQUEST s1 detaches; REQUEST [f1] s1 from b1 path=[b3 s1]."""
        if self.is_detachment:
            return f"REQUEST {names.subscriber(self.client)} detaches"
        back = f" {names.subscriber(self.client)} from {names.broker(self.broker)}" if self.client is not None else ""
        ids = listed(names.notification_id(str(one)) for one in self.answered)
        answered = f" ids={ids}" if self.answered else ""
        return f"REQUEST {names.filters(self.filters)}{back} path={_describe_route(self.route, names)}{answered}"


@dataclass(frozen=True, slots=True)
class Response(Message):
    """An old message on its way back to who asked for it; `kept`: it was kept for a client in movement."""

    tag: ClassVar[int] = 5
    message_type: ClassVar[str] = "RESPONSE"
    notification: Notification
    route: tuple[NodeId, ...]
    number: int
    """Of the request."""
    kept: bool
    hops: int
    """Radio hops since the cache, the one that the message itself makes included."""

    def write(self, writer: Writer) -> None:
        """Number, kept, hops, a count, route, notification."""
        writer.u16(self.number)
        writer.u8(self.kept)
        writer.u8(self.hops)
        _write_route(self.route, writer)
        self.notification.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        number, kept, hops, route = reader.u16(), bool(reader.u8()), reader.u8(), _read_route(reader)
        return cls(Notification.read(reader), route, number, kept, hops)

    def describe(self, names: Names) -> str:
        """RESPONSE e1 path=[b3 s1] hops=2."""
        kept = " kept" if self.kept else ""
        route = _describe_route(self.route, names)
        return f"RESPONSE {names.notification(self.notification)} path={route}{kept} hops={self.hops}"


def _read_node(reader: Reader) -> NodeId | None:
    node = reader.u16()
    return None if node == _NOBODY else node


def _write_route(route: tuple[NodeId, ...], writer: Writer) -> None:
    writer.u8(len(route))
    for node in route:
        writer.u16(node)


def _read_route(reader: Reader) -> tuple[NodeId, ...]:
    return tuple(reader.u16() for _ in range(reader.u8()))


def _describe_route(route: tuple[NodeId, ...], names: Names) -> str:
    """The last is a client, the others are brokers."""
    return listed([*map(names.broker, route[:-1]), *map(names.subscriber, route[-1:])])


CACHING_MESSAGES: tuple[type[Message], ...] = (Sub, Uns, Pub, Request, Response)
