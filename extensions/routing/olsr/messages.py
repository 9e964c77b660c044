"""The messages of OLSR (RFC 3626, sections 3.3, 6.1 and 9.1), with the RFC's fields.

Addresses have 16 bits. A message travels alone, so that the packet's header and the message's size are left out, as are
reserved fields and, of a HELLO, the constant fields: TTL 1, hop count 0, and originator and number, which only flooding
needs.
"""

from __future__ import annotations

from enum import IntEnum
from math import floor, log2
from typing import NamedTuple

from roambus.python_protocol.messages.fields import U8, U16
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime

C = SECOND // 16
"""The unit of validity times (section 18.3)."""
MOST_HOPS = 255


class LinkType(IntEnum):
    """Section 18.5."""

    UNSPEC_LINK, ASYM_LINK, SYM_LINK, LOST_LINK = range(4)


class NeighborType(IntEnum):
    """Section 18.6."""

    NOT_NEIGH, SYM_NEIGH, MPR_NEIGH = range(3)


class Willingness(IntEnum):
    """Section 18.8: named values of a number from 0 to 7."""

    WILL_NEVER, WILL_LOW, WILL_DEFAULT, WILL_HIGH, WILL_ALWAYS = 0, 1, 3, 6, 7


def encode_time(time: SimTime) -> int:
    """Return the least value of a Vtime or Htime field that is at least `time` (section 18.3)."""
    exponent = max(0, min(15, floor(log2(max(time, C) / C))))
    mantissa = -(-(16 * time) // (C << exponent)) - 16
    if mantissa > 15:
        mantissa, exponent = (0, exponent + 1) if exponent < 15 else (15, 15)
    return max(mantissa, 0) << 4 | exponent


def decode_time(field: int) -> SimTime:
    """Return C * (1 + a / 16) * 2 ** b for the nibbles a and b."""
    return C * (16 + (field >> 4)) * (1 << (field & 15)) // 16


class LinkMessage(NamedTuple):
    """The neighbours of one link code (section 6.1.1)."""

    link_code: U8
    neighbors: tuple[NodeId, ...]

    @property
    def link_type(self) -> int:
        """The code's two lowest bits."""
        return self.link_code & 3

    @property
    def neighbor_type(self) -> int:
        """The next two bits."""
        return self.link_code >> 2 & 3


def link_code(link: LinkType, neighbor: NeighborType) -> int:
    """Return the code of both types."""
    return neighbor << 2 | link


class Hello(Message, tag=0x61, name="HELLO"):
    """HELLO (section 6.1): the sender's links and its willingness to forward."""

    vtime: U8
    htime: U8
    willingness: U8
    links: tuple[LinkMessage, ...]


class TopologyControl(Message, tag=0x62, name="TC", notation="ttl={ttl} ..."):
    """TC (section 9.1): the originator's MPR selectors, flooded by MPRs."""

    vtime: U8
    originator: NodeId
    ttl: U8
    hop_count: U8
    message_sequence_number: U16
    ansn: U16
    advertised_neighbors: tuple[NodeId, ...]
