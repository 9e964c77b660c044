"""Which clients are in movement, and where those are that have been here, as one broker knows it.

The paper on caching has a client leave, and be back once (section 4). A client that moves on before what was kept for
it has reached it is somewhere else by then, perhaps where it was before. Clients count their requests, so a broker can
tell what a client has said first, whatever order it comes in (`follow_client`):

- A client that is here again after it has asked from elsewhere has overtaken its own request, which is *outdated*.
- What comes for a client that has asked from elsewhere since goes after it, by the way of that later request.
"""

from __future__ import annotations

from typing import NamedTuple

from roambus.python_protocol.caching.messages import Request
from roambus.python_protocol.roles import NodeId

_NUMBERS = 1 << 16


class Way(NamedTuple):
    """Where a client has asked from: its request, and the interface over which that has come."""

    request: Request
    interface: NodeId


class Visits:
    """The clients that have been at one broker."""

    def __init__(self) -> None:
        self.moving: dict[NodeId, None] = {}
        self._ways: dict[NodeId, Way] = {}
        """To those that have gone elsewhere."""
        self._arrivals: dict[NodeId, int] = {}
        """The number of the request by which each came here last."""

    def leave(self, client: NodeId) -> None:
        """A client is about to leave."""
        self.moving[client] = None

    def arrive(self, client: NodeId, number: int) -> None:
        """A client is here, or here again."""
        self.moving.pop(client, None)
        self._ways.pop(client, None)
        self._arrivals[client] = number

    def go(self, client: NodeId, way: Way) -> None:
        """A client that has left is somewhere else."""
        self.moving.pop(client, None)
        self._ways[client] = way

    def is_outdated(self, client: NodeId, number: int) -> bool:
        """Whether a client has come here after a request of its own."""
        arrival = self._arrivals.get(client)
        return arrival is not None and (arrival - number) % _NUMBERS < _NUMBERS // 2

    def way_to(self, client: NodeId) -> Way | None:
        """Where a client has asked from since it left, if it has."""
        return self._ways.get(client)
