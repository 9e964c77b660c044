"""The messages of AODV (RFC 3561, section 5), and the data packet that it routes.

Fields, their order and the masks of the flags are the RFC's, with these differences: addresses have 16 bits instead of
32, and the TTL, which the RFC has in the IP header, takes a byte that is reserved there. There are no subnets, and so
no prefix size. A RREQ thus has 20 bytes (24 in the RFC), a RREP 16 (20), a RERR 3 and 6 more for each destination (4
and 8), and a RREP-ACK 1 (2). Multicast, with its flags J and R, is left out.
"""

from __future__ import annotations

from typing import NamedTuple, Self

from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import U8, U32, bit
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId

MAX_UNREACHABLE = 15
"""Destinations in one RERR: with that many it still fits the 127 bytes of a real CC2420, link header included."""

SequenceNumber = U32
"""The age of what is known of a route (section 6.1)."""
Milliseconds = U32
"""A lifetime, as the RFC writes it."""

_REQUEST_FIELDS = (
    "ttl={ttl} hop_count={hop_count} rreq_id={rreq_id} destination={destination} "
    "destination_sequence={destination_sequence} originator={originator} originator_sequence={originator_sequence} "
    "{unknown_sequence} {destination_only} {gratuitous}"
)
_REPLY_FIELDS = (
    "ttl={ttl} hop_count={hop_count} destination={destination} destination_sequence={destination_sequence} "
    "originator={originator} lifetime_ms={lifetime_ms} {acknowledge}"
)
_PACKET_FIELDS = (
    "ttl={ttl} hop_count={hop_count} originator={originator} destination={destination} notification={notification}"
)


class RouteRequest(Message, tag=0x11, name="RREQ", notation=_REQUEST_FIELDS):
    """RREQ (section 5.1): looks for a route from `originator` to `destination`. `hop_count` hops lie behind it."""

    gratuitous: bool = bit(0x20, default=False, kw_only=True)
    """G: whoever answers for the destination tells the destination, too."""
    destination_only: bool = bit(0x10, default=False, kw_only=True)
    """D: only the destination may answer."""
    unknown_sequence: bool = bit(0x08, default=False, kw_only=True)
    """U: the destination sequence number is not known."""
    hop_count: U8
    ttl: U8
    rreq_id: U32
    destination: NodeId
    destination_sequence: SequenceNumber
    originator: NodeId
    originator_sequence: SequenceNumber


class RouteReply(Message, tag=0x12, name="RREP", notation=_REPLY_FIELDS):
    """RREP (section 5.2): there is a route to `destination`, `hop_count` hops long from the node that sends this."""

    acknowledge: bool = bit(0x40, default=False, kw_only=True)
    """A: the receiver answers with a RREP-ACK."""
    hop_count: U8
    ttl: U8
    destination: NodeId
    destination_sequence: SequenceNumber
    originator: NodeId
    """Who asked: where the reply goes."""
    lifetime_ms: Milliseconds


class Hello(
    RouteReply,
    tag=0x13,
    notation="destination={destination} destination_sequence={destination_sequence} lifetime_ms={lifetime_ms}",
):
    """Hello (section 6.9): a RREP that a node broadcasts about itself.

    Its tag is its own, where the RFC's receiver knows a hello by the IP header.
    """

    @classmethod
    def of(cls, node: NodeId, sequence: int, lifetime_ms: int) -> Self:
        """The hello of a node: a RREP of hop count 0 and TTL 1."""
        return cls(0, 1, node, sequence, node, lifetime_ms)


class Unreachable(NamedTuple):
    """A destination to which there is no route any more, and the sequence number that says so."""

    destination: NodeId
    sequence: SequenceNumber


class RouteError(Message, tag=0x14, name="RERR", notation="unreachable={unreachable} {no_delete}"):
    """RERR (section 5.3): the sender can no longer reach these destinations (at most 255)."""

    no_delete: bool = bit(0x80, default=False, kw_only=True)
    """N: the sender has repaired the link, upstream routes stay."""
    unreachable: tuple[Unreachable, ...]


class RouteReplyAck(Message, tag=0x15, name="RREP-ACK"):
    """RREP-ACK (section 5.4): the RREP with the A flag has arrived."""


class DataPacket(Message, tag=0x16, name="PACKET", notation=_PACKET_FIELDS):
    """A notification on its way to one subscriber; `hop_count` hops lie behind it when it is sent."""

    hop_count: U8
    ttl: U8
    originator: NodeId
    destination: NodeId
    notification: Notification
