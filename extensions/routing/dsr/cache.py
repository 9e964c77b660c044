"""The route cache of DSR (RFC 4728, section 4.1), a path cache: whole paths from this node, for RouteCacheTimeout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

Path = tuple[NodeId, ...]
"""The nodes from this one to a destination, each once."""


class RouteCache:
    """Paths of one node; the oldest give way to new ones."""

    def __init__(self, node: NodeId, limit: int, timeout: SimTime) -> None:
        self._node, self._limit, self._timeout = node, limit, timeout
        self._paths: dict[Path, SimTime] = {}
        """The end of each path, in the order in which they were last used."""

    def __iter__(self) -> Iterator[Path]:
        return iter(self._paths)

    def add(self, path: Sequence[NodeId], now: SimTime) -> bool:
        """Take a path from this node; return False for one without a way, or with a node twice."""
        found = tuple(path)
        if len(found) < 2 or found[0] != self._node or len(set(found)) < len(found):
            return False
        self._paths.pop(found, None)
        self._paths[found] = now + self._timeout
        if len(self._paths) > self._limit:
            del self._paths[next(iter(self._paths))]
        return True

    def find(self, destination: NodeId, now: SimTime) -> Path | None:
        """Return the shortest way to a destination, the newest of several."""
        ways = (
            path[: path.index(destination) + 1]
            for path, until in reversed(self._paths.items())
            if until > now and destination in path[1:]
        )
        return min(ways, key=len, default=None)

    def remove_link(self, sender: NodeId, receiver: NodeId) -> None:
        """Cut all paths before a broken link (section 8.3.5)."""
        kept: dict[Path, SimTime] = {}
        for path, until in self._paths.items():
            uses = [place for place, hop in enumerate(pairwise(path)) if hop == (sender, receiver)]
            cut = path[: uses[0] + 1] if uses else path
            if len(cut) > 1:
                kept[cut] = max(until, kept.get(cut, 0))
        self._paths = kept


def ways_over(node: NodeId, sender: NodeId, nodes: Path) -> tuple[Path, ...]:
    """Return the ways to both ends of a route from a node that overheard its `sender`; the first goes onward."""
    if sender not in nodes or node in nodes:
        return ()
    place = nodes.index(sender)
    return (node, *nodes[place:]), (node, *nodes[place::-1])
