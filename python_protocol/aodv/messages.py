"""The messages of AODV (RFC 3561, section 5), and how they leave a node.

Fields, order and masks of flags are the RFC's, except:

- Addresses have 16 bits, as in IEEE 802.15.4: a RREQ has 20 bytes (24 in the RFC), a RREP 16 (20), a RERR 3 and 6 a
  destination (4 and 8), a RREP-ACK 1 (2).
- The TTL, in the RFC part of the IP header, takes a reserved byte.
- No subnets (section 7), so no prefix size in a RREP.
- No multicast: flags J and R have no use in the RFC.

Data, RREPs and unicast RERRs go over the link layer, whose breaks are section 6.10's notification. Broadcasts, and
without `link_layer` all frames, go bare; then only hellos show breaks. A RREQ over its limit (section 6.3) waits; a
RERR (6.11) is left out, because further data bring another (case ii).
"""

from __future__ import annotations

from collections import deque
from random import Random
from typing import NamedTuple, Self

from roambus.python_protocol.agent import Process
from roambus.python_protocol.messages.fields import U8, U32, bit
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.unicast import Frames, UnicastParameters
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SECOND, SimTime

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


# How messages leave a node


class Transmission(Frames):
    """The frames of one node."""

    def __init__(self, parameters: UnicastParameters, random: Random, of: Process) -> None:
        super().__init__(parameters, random, of)
        self._broadcasts: list[SimTime] = []
        """Times of broadcasts, also future, since last asked."""

    def broadcast(self, message: Message, now: SimTime) -> None:
        """Send to every neighbour, at once."""
        self._broadcasts.append(now)
        self.send(BROADCAST, message)

    def broadcast_later(self, message: Message, now: SimTime) -> None:
        """Broadcast after a jitter, because others may answer the same frame."""
        delay = self._jitter.delay()
        self._broadcasts.append(now + delay)
        self.send(BROADCAST, message, delay)

    def has_broadcast(self, since: SimTime, now: SimTime) -> bool:
        """Whether this node broadcast after `since`, up to now; both grow from call to call."""
        has = any(since < time <= now for time in self._broadcasts)
        self._broadcasts = [time for time in self._broadcasts if time > now]
        return has


class RateLimit:
    """Grants at most `per_second` times in any one-second window.

    Whole-second windows, as in ns-3, let twice the limit pass around a second's end.
    """

    def __init__(self, per_second: int) -> None:
        self._times: deque[SimTime] = deque(maxlen=per_second)

    def reserve(self, now: SimTime) -> SimTime:
        """Reserve and return the earliest free time."""
        full = len(self._times) == self._times.maxlen
        time = max(now, self._times[0] + SECOND) if full else now
        self._times.append(time)
        return time

    def allows(self, now: SimTime) -> bool:
        """Take the present time if free; return whether it was."""
        if len(self._times) == self._times.maxlen and self._times[0] + SECOND > now:
            return False
        self._times.append(now)
        return True
