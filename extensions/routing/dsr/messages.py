"""The messages of DSR (RFC 4728, section 6), each with the fields of the IP header that routing needs.

Addresses have 16 bits. A message carries one option beside its source route; lengths and reserved fields are left out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from roambus.python_protocol.messages.fields import U8, U16
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.unicast import DataPacket
from roambus.python_protocol.roles import NodeId

NODE_UNREACHABLE = 1
"""The only error type without flow state (section 6.4)."""


class SourceRoute(NamedTuple):
    """DSR source route option (section 6.7): the nodes between both ends, and how many are still to come.

    With `salvage` the first address is that of the node that has salvaged the packet.
    """

    salvage: U8
    segments_left: U8
    addresses: tuple[NodeId, ...]

    def onward(self) -> SourceRoute:
        """Return the route as the next node sends it."""
        return self._replace(segments_left=self.segments_left - 1)


def route_along(path: tuple[NodeId, ...], salvage: int = 0) -> SourceRoute:
    """Make the route of a path from its first node; a salvager is among the addresses."""
    return SourceRoute(salvage, len(path) - 2, path[1:-1] if salvage == 0 else path[:-1])


class BrokenLink(NamedTuple):
    """The link that a route error is about."""

    sender: NodeId
    unreachable: NodeId


class RouteRequest(Message, tag=0x63, name="RREQ", notation="hop_limit={hop_limit} ..."):
    """Route request (section 6.2): `addresses` are the nodes that have passed it on.

    `errors` has the last route error that its source has received (section 3.4.4), if any.
    """

    hop_limit: U8
    source: NodeId
    identification: U16
    target: NodeId
    errors: tuple[BrokenLink, ...]
    addresses: tuple[NodeId, ...]


class RouteReply(Message, tag=0x64, name="RREP"):
    """Route reply (section 6.3): `addresses` lead from `destination`, which has asked, to the target, the last."""

    source: NodeId
    destination: NodeId
    route: SourceRoute
    addresses: tuple[NodeId, ...]


class RouteError(Message, tag=0x65, name="RERR"):
    """Route error (section 6.4): `source` cannot reach its neighbour `unreachable`."""

    source: NodeId
    destination: NodeId
    route: SourceRoute
    error_type: U8
    unreachable: NodeId


class SourcedPacket(DataPacket, tag=0x66, name="PACKET", notation="ttl={ttl} ..."):
    """A packet along a source route."""

    route: SourceRoute


def source_of(message: Any) -> NodeId:
    """Return the first node of a message."""
    source: NodeId = message.originator if isinstance(message, DataPacket) else message.source
    return source


def nodes_of(message: Any) -> tuple[NodeId, ...]:
    """Return all nodes on a message's route, from its source or its salvager on."""
    route: SourceRoute = message.route
    first = () if route.salvage else (source_of(message),)
    return (*first, *route.addresses, message.destination)
