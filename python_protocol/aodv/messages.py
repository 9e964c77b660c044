"""The messages of AODV (RFC 3561, section 5), and the data packet that it routes.

Fields and names are the RFC's. Addresses have 16 bits here instead of 32, there are no subnets, hence no prefix size,
and the TTL, which the RFC has in the IP header, takes a byte that is reserved there. So a RREQ has 20 bytes (24 in
the RFC), a RREP 16 (20), a RERR 3 + 6 a destination (4 + 8), a RREP-ACK 1 (2). Multicast (J, R) is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, Self

from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.codec import Message, Reader, Writer
from roambus.python_protocol.roles import NodeId

MAX_UNREACHABLE = 15
"""Destinations in one RERR: with that many it still fits the 127 bytes of a real CC2420, link header included."""

_REQUEST, _REPLY, _UNREACHABLE, _PACKET = map(Struct, ("!BBBIHIHI", "!BBBHIHI", "!HI", "!BBHH"))

_GRATUITOUS, _DESTINATION_ONLY, _UNKNOWN_SEQUENCE = 0x20, 0x10, 0x08
_ACKNOWLEDGE = 0x40
_NO_DELETE = 0x80


@dataclass(frozen=True, slots=True)
class RouteRequest(Message):
    """RREQ (section 5.1): looks for a route from `originator` to `destination`. `hop_count` hops lie behind it."""

    tag: ClassVar[int] = 0x11
    message_type: ClassVar[str] = "RREQ"
    ttl: int
    hop_count: int
    rreq_id: int
    destination: NodeId
    destination_sequence: int
    originator: NodeId
    originator_sequence: int
    unknown_sequence: bool = False
    """U: the destination sequence number is not known."""
    destination_only: bool = False
    """D: only the destination may answer."""
    gratuitous: bool = False
    """G: who answers for the destination tells it, too."""

    def write(self, writer: Writer) -> None:
        """Flags, hop count, TTL, then the fields in the RFC's order."""
        flags = self.unknown_sequence * _UNKNOWN_SEQUENCE | self.destination_only * _DESTINATION_ONLY
        flags |= self.gratuitous * _GRATUITOUS
        route = (self.destination, self.destination_sequence, self.originator, self.originator_sequence)
        writer.pack(_REQUEST, flags, self.hop_count, self.ttl, self.rreq_id, *route)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        flags, hop_count, ttl = reader.u8(), reader.u8(), reader.u8()
        return cls(
            ttl,
            hop_count,
            reader.u32(),
            reader.u16(),
            reader.u32(),
            reader.u16(),
            reader.u32(),
            bool(flags & _UNKNOWN_SEQUENCE),
            bool(flags & _DESTINATION_ONLY),
            bool(flags & _GRATUITOUS),
        )


@dataclass(frozen=True, slots=True)
class RouteReply(Message):
    """RREP (section 5.2): there is a route to `destination`, `hop_count` hops long from the node that sends this."""

    tag: ClassVar[int] = 0x12
    message_type: ClassVar[str] = "RREP"
    ttl: int
    hop_count: int
    destination: NodeId
    destination_sequence: int
    originator: NodeId
    """Who asked: where the reply goes."""
    lifetime_ms: int
    acknowledge: bool = False
    """A: the receiver answers with a RREP-ACK."""

    def write(self, writer: Writer) -> None:
        """Flags, hop count, TTL, then the fields in the RFC's order."""
        flags = self.acknowledge * _ACKNOWLEDGE
        route = (self.destination, self.destination_sequence, self.originator, self.lifetime_ms)
        writer.pack(_REPLY, flags, self.hop_count, self.ttl, *route)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        flags, hop_count, ttl = reader.u8(), reader.u8(), reader.u8()
        fields = (reader.u16(), reader.u32(), reader.u16(), reader.u32())
        return cls(ttl, hop_count, *fields, acknowledge=bool(flags & _ACKNOWLEDGE))


@dataclass(frozen=True, slots=True)
class Hello(Message):
    """Hello (section 6.9): a RREP of TTL 1 that a node broadcasts about itself.

    It has the bytes of that RREP, but a tag of its own: the RFC's receiver knows it by the IP header.
    """

    tag: ClassVar[int] = 0x13
    message_type: ClassVar[str] = "HELLO"
    destination: NodeId
    """The node itself."""
    destination_sequence: int
    lifetime_ms: int

    def write(self, writer: Writer) -> None:
        """As a RREP of hop count 0 and TTL 1, for the node itself."""
        route = (self.destination, self.destination_sequence, self.destination, self.lifetime_ms)
        writer.pack(_REPLY, 0, 0, 1, *route)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        reply = RouteReply.read(reader)
        return cls(reply.destination, reply.destination_sequence, reply.lifetime_ms)


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A destination to which there is no route any more, and the sequence number that says so."""

    destination: NodeId
    sequence: int


@dataclass(frozen=True, slots=True)
class RouteError(Message):
    """RERR (section 5.3): the sender can no longer reach these destinations (at most 255)."""

    tag: ClassVar[int] = 0x14
    message_type: ClassVar[str] = "RERR"
    unreachable: tuple[Unreachable, ...]
    no_delete: bool = False
    """N: the sender has repaired the link, upstream routes stay."""

    def write(self, writer: Writer) -> None:
        """Flags, count, then address and sequence number of each destination."""
        writer.u8(self.no_delete * _NO_DELETE)
        writer.u8(len(self.unreachable))
        for entry in self.unreachable:
            writer.pack(_UNREACHABLE, entry.destination, entry.sequence)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        flags, count = reader.u8(), reader.u8()
        unreachable = tuple(Unreachable(reader.u16(), reader.u32()) for _ in range(count))
        return cls(unreachable, bool(flags & _NO_DELETE))


@dataclass(frozen=True, slots=True)
class RouteReplyAck(Message):
    """RREP-ACK (section 5.4): the RREP with the A flag has arrived."""

    tag: ClassVar[int] = 0x15
    message_type: ClassVar[str] = "RREP-ACK"

    def write(self, writer: Writer) -> None:
        """Nothing but the tag."""

    @classmethod
    def read(cls, reader: Reader) -> Self:  # noqa: ARG003  # there is nothing to read
        """Inverse of `write`."""
        return cls()


@dataclass(frozen=True, slots=True)
class DataPacket(Message):
    """A notification on its way to one subscriber; `hop_count` hops lie behind it when it is sent."""

    tag: ClassVar[int] = 0x16
    message_type: ClassVar[str] = "PACKET"
    ttl: int
    hop_count: int
    originator: NodeId
    destination: NodeId
    notification: Notification

    def write(self, writer: Writer) -> None:
        """Hop count, TTL, addresses, notification."""
        writer.pack(_PACKET, self.hop_count, self.ttl, self.originator, self.destination)
        self.notification.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        hop_count, ttl = reader.u8(), reader.u8()
        return cls(ttl, hop_count, reader.u16(), reader.u16(), Notification.read(reader))


AODV_MESSAGES: tuple[type[Message], ...] = (RouteRequest, RouteReply, Hello, RouteError, RouteReplyAck, DataPacket)
"""Everything that AODV sends, but for the link layer's frames around it."""
