"""The messages of AODV (RFC 3561, section 5).

Fields, order and masks of flags are the RFC's, except:

- Addresses have 16 bits, as in IEEE 802.15.4: a RREQ has 20 bytes (24 in the RFC), a RREP 16 (20), a RERR 3 and 6 a
  destination (4 and 8), a RREP-ACK 1 (2).
- The TTL, in the RFC part of the IP header, takes a reserved byte.
- No subnets (section 7), so no prefix size in a RREP.
- No multicast: flags J and R have no use in the RFC.
"""

from __future__ import annotations

from typing import NamedTuple, Self

from roambus.python_protocol.messages.fields import U8, U32, bit
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.vocabulary import NodeId

MAX_UNREACHABLE = 15
"""Destinations in one RERR that fit a CC2420's 127 bytes with link header."""

SequenceNumber = U32
"""The age of a route's information (section 6.1)."""
Milliseconds = U32
"""A lifetime, as the RFC writes it."""


class RouteRequest(
    Message, tag=0x11, name="RREQ", notation="ttl={ttl} ... {unknown_sequence} {destination_only} {gratuitous}"
):
    """RREQ (section 5.1): searches a route from `originator` to `destination`, after `hop_count` hops."""

    gratuitous: bool = bit(0x20, default=False, kw_only=True)
    """G: an intermediate answer informs the destination."""
    destination_only: bool = bit(0x10, default=False, kw_only=True)
    """D: only the destination may answer."""
    unknown_sequence: bool = bit(0x08, default=False, kw_only=True)
    """U: the destination's sequence number is unknown."""
    hop_count: U8
    ttl: U8
    rreq_id: U32
    destination: NodeId
    destination_sequence: SequenceNumber
    originator: NodeId
    originator_sequence: SequenceNumber


class RouteReply(Message, tag=0x12, name="RREP", notation="ttl={ttl} ... {acknowledge}"):
    """RREP (section 5.2): a route to `destination`, `hop_count` hops from the sender."""

    acknowledge: bool = bit(0x40, default=False, kw_only=True)
    """A: the receiver answers with a RREP-ACK."""
    hop_count: U8
    ttl: U8
    destination: NodeId
    destination_sequence: SequenceNumber
    originator: NodeId
    """The searching node, where the reply goes."""
    lifetime_ms: Milliseconds


class Hello(
    RouteReply,
    tag=0x13,
    notation="destination={destination} destination_sequence={destination_sequence} lifetime_ms={lifetime_ms}",
):
    """Hello (section 6.9): a RREP that a node broadcasts about itself.

    It has its own tag; the RFC recognises it by the IP header. Transcripts omit its constant fields.
    """

    @classmethod
    def of(cls, node: NodeId, sequence: int, lifetime_ms: int) -> Self:
        """Make a node's hello: a RREP of hop count 0 and TTL 1."""
        return cls(0, 1, node, sequence, node, lifetime_ms)


class Unreachable(NamedTuple):
    """A lost destination, with the loss's sequence number."""

    destination: NodeId
    sequence: SequenceNumber


class RouteError(Message, tag=0x14, name="RERR", notation="... {no_delete}"):
    """RERR (section 5.3): at most 255 destinations that the sender cannot reach."""

    no_delete: bool = bit(0x80, default=False, kw_only=True)
    """N: the sender has repaired the link, upstream routes stay."""
    unreachable: tuple[Unreachable, ...]


class RouteReplyAck(Message, tag=0x15, name="RREP-ACK"):
    """RREP-ACK (section 5.4): the RREP with the A flag has arrived."""
