"""The messages of AODV (RFC 3561, section 5), and the data packet that it routes.

A field stands here once, with its type. Bytes, size, transcript and documentation follow from the class, and whoever
passes a message on names only what changes (`one_hop_on`). So a further field of the RREQ is a line here, and a line
where it is set or read.

Fields, their order and the masks of the flags are the RFC's, with these differences.

- Addresses have 16 bits instead of 32, as in IEEE 802.15.4 and in Castalia. So a RREQ has 20 bytes (24 in the RFC),
  a RREP 16 (20), a RERR 3 and 6 more for each destination (4 and 8), and a RREP-ACK 1 (2).
- The TTL, which the RFC has in the IP header, takes a byte that is reserved there: there is no IP below.
- There are no subnets (section 7), and so no prefix size in a RREP.
- Multicast, with its flags J and R, is left out: RFC 3561 reserves the flags, and defines nothing that uses them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self, TypeVar

from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import U8, U32, bit
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.vocabulary import NodeId

MOST_HOPS = 255
"""The largest TTL and hop count: each has eight bits."""
MAX_UNREACHABLE = 15
"""Destinations in one RERR: with that many it still fits the 127 bytes of a real CC2420, link header included."""

SequenceNumber = U32
"""The age of what is known of a route (section 6.1)."""
Milliseconds = U32
"""A lifetime, as the RFC writes it."""


class RouteRequest(
    Message, tag=0x11, name="RREQ", notation="ttl={ttl} ... {unknown_sequence} {destination_only} {gratuitous}"
):
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


class RouteReply(Message, tag=0x12, name="RREP", notation="ttl={ttl} ... {acknowledge}"):
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

    Its tag is its own, where the RFC's receiver knows a hello by the IP header: a RREP that came as a broadcast, with a
    TTL of 1. Transcripts leave out what is alike in every hello.
    """

    @classmethod
    def of(cls, node: NodeId, sequence: int, lifetime_ms: int) -> Self:
        """The hello of a node: a RREP of hop count 0 and TTL 1."""
        return cls(0, 1, node, sequence, node, lifetime_ms)


class Unreachable(NamedTuple):
    """A destination to which there is no route any more, and the sequence number that says so."""

    destination: NodeId
    sequence: SequenceNumber


class RouteError(Message, tag=0x14, name="RERR", notation="... {no_delete}"):
    """RERR (section 5.3): the sender can no longer reach these destinations (at most 255)."""

    no_delete: bool = bit(0x80, default=False, kw_only=True)
    """N: the sender has repaired the link, upstream routes stay."""
    unreachable: tuple[Unreachable, ...]


class RouteReplyAck(Message, tag=0x15, name="RREP-ACK"):
    """RREP-ACK (section 5.4): the RREP with the A flag has arrived."""


class DataPacket(Message, tag=0x16, name="PACKET", notation="ttl={ttl} ..."):
    """A notification on its way to one subscriber; `hop_count` hops lie behind it when it is sent.

    In the RFC data are IP packets. This header stands for IP's: who sent it, for whom it is, and its TTL. The hop count
    is there for the trace, and for local repair, which must know how far the originator is (section 6.12).
    """

    hop_count: U8
    ttl: U8
    originator: NodeId
    destination: NodeId
    notification: Notification


Passed = TypeVar("Passed", RouteRequest, RouteReply, DataPacket)
"""What nodes pass on, hop by hop."""


def hops_after(message: Passed) -> int:
    """The hops behind the message where it has arrived, as far as eight bits can count."""
    return min(message.hop_count + 1, MOST_HOPS)


def one_hop_on(message: Passed, **changes: Any) -> Passed:
    """The message as the next node has it: a hop more behind it, one less before it, and what else changes."""
    return message.replaced(hop_count=hops_after(message), ttl=message.ttl - 1, **changes)
