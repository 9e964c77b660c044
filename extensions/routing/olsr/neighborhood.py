"""Neighbours of an OLSR node (RFC 3626, sections 4.2, 4.3, 7 and 8): links, two-hop neighbours, MPRs and MPR selectors.

Tuples of the RFC's sets are kept by their addresses; an expired one counts as absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from roambus.extensions.routing.olsr.messages import (
    Hello,
    LinkMessage,
    LinkType,
    NeighborType,
    Willingness,
    decode_time,
    link_code,
)
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(slots=True)
class Link:
    """A tuple of the link set (section 4.2.1), with the neighbour's willingness."""

    time: SimTime
    sym_time: SimTime = 0
    asym_time: SimTime = 0
    lost_link_time: SimTime = 0
    """Until when the link layer's notification holds (section 13)."""
    willingness: int = Willingness.WILL_DEFAULT

    def is_symmetric(self, now: SimTime) -> bool:
        """Whether it is a symmetric neighbour's."""
        return self.sym_time > now >= self.lost_link_time


class Neighborhood:
    """The link set, the two-hop neighbour set and the MPR selector set of one node."""

    def __init__(self, node: NodeId, hold_time: SimTime) -> None:
        """`hold_time` is NEIGHB_HOLD_TIME."""
        self._node, self._hold_time = node, hold_time
        self.links: dict[NodeId, Link] = {}
        self.two_hop: dict[NodeId, dict[NodeId, SimTime]] = {}
        """The end of each two-hop neighbour's validity, by neighbour."""
        self._selectors: dict[NodeId, SimTime] = {}

    def hear(self, sender: NodeId, hello: Hello, now: SimTime) -> None:
        """Process a HELLO (sections 7.1.1, 8.1.1, 8.2.1 and 8.4.1)."""
        until = now + decode_time(hello.vtime)
        link = self.links.setdefault(sender, Link(until))
        link.asym_time, link.willingness = until, hello.willingness
        for entry in hello.links:
            if self._node not in entry.neighbors:
                continue
            if entry.link_type == LinkType.LOST_LINK:
                link.sym_time = now
            elif entry.link_type in (LinkType.SYM_LINK, LinkType.ASYM_LINK):
                link.sym_time, link.time = until, until + self._hold_time
            if entry.neighbor_type == NeighborType.MPR_NEIGH:
                self._selectors[sender] = until
        link.time = max(link.time, link.asym_time)
        if link.is_symmetric(now):
            self._hear_two_hop(sender, hello.links, until)

    def _hear_two_hop(self, sender: NodeId, links: Iterable[LinkMessage], until: SimTime) -> None:
        reached = self.two_hop.setdefault(sender, {})
        for entry in links:
            for neighbor in entry.neighbors:
                if entry.neighbor_type == NeighborType.NOT_NEIGH:
                    reached.pop(neighbor, None)
                elif neighbor != self._node:
                    reached[neighbor] = until

    def lose(self, neighbor: NodeId, now: SimTime) -> None:
        """Take the link layer's notification of a broken link (section 13)."""
        if (link := self.links.get(neighbor)) is not None:
            link.sym_time, link.lost_link_time = now, now + self._hold_time

    def expire(self, now: SimTime) -> None:
        """Delete what is not valid any more (sections 4.2, 8.1 and 8.5)."""
        self.links = {neighbor: link for neighbor, link in self.links.items() if link.time > now}
        self._selectors = {neighbor: self._selectors[neighbor] for neighbor in self.selectors(now)}
        near = self.neighbors(now)
        self.two_hop = {
            neighbor: {two: until for two, until in reached.items() if until > now}
            for neighbor, reached in self.two_hop.items()
            if neighbor in near
        }

    def expiries(self) -> Iterator[SimTime]:
        """The times at which something of it changes by itself."""
        for link in self.links.values():
            yield from (link.sym_time, link.lost_link_time)
        for reached in self.two_hop.values():
            yield from reached.values()

    def neighbors(self, now: SimTime) -> dict[NodeId, Link]:
        """The symmetric neighbours' links, in order."""
        return {neighbor: link for neighbor, link in sorted(self.links.items()) if link.is_symmetric(now)}

    def selectors(self, now: SimTime) -> tuple[NodeId, ...]:
        """The neighbours that have selected this node as MPR (section 8.4)."""
        return tuple(
            neighbor
            for neighbor, until in sorted(self._selectors.items())
            if until > now and neighbor in self.links and self.links[neighbor].is_symmetric(now)
        )

    def second(self, now: SimTime) -> dict[NodeId, list[NodeId]]:
        """The symmetric neighbours before each strict two-hop neighbour, without unwilling ones."""
        near = self.neighbors(now)
        found: dict[NodeId, list[NodeId]] = {}
        for neighbor, link in near.items():
            for two, until in self.two_hop.get(neighbor, {}).items():
                if link.willingness != Willingness.WILL_NEVER and until > now and two not in near:
                    found.setdefault(two, []).append(neighbor)
        return found

    def mprs(self, now: SimTime) -> frozenset[NodeId]:
        """The multipoint relays."""
        return select_mprs(
            {neighbor: link.willingness for neighbor, link in self.neighbors(now).items()}, self.second(now)
        )

    def hello_links(self, now: SimTime) -> tuple[LinkMessage, ...]:
        """The contents of a HELLO, by link code (section 6.2)."""
        groups: dict[int, list[NodeId]] = {}
        mprs = self.mprs(now)
        for neighbor, link in sorted(self.links.items()):
            groups.setdefault(self._code(neighbor, link, mprs, now), []).append(neighbor)
        return tuple(LinkMessage(code, tuple(neighbors)) for code, neighbors in sorted(groups.items()))

    def _code(self, neighbor: NodeId, link: Link, mprs: frozenset[NodeId], now: SimTime) -> int:
        if link.is_symmetric(now):
            mpr = NeighborType.MPR_NEIGH if neighbor in mprs else NeighborType.SYM_NEIGH
            return link_code(LinkType.SYM_LINK, mpr)
        heard = link.asym_time > now >= link.lost_link_time
        return link_code(LinkType.ASYM_LINK if heard else LinkType.LOST_LINK, NeighborType.NOT_NEIGH)


def select_mprs(neighbors: Mapping[NodeId, int], second: Mapping[NodeId, Iterable[NodeId]]) -> frozenset[NodeId]:
    """Select relays that cover all strict two-hop neighbours (section 8.3.1).

    `neighbors` has their willingness, `second` the neighbours before each two-hop neighbour.
    """
    covers: dict[NodeId, set[NodeId]] = {neighbor: set() for neighbor in neighbors}
    for two, before in second.items():
        for neighbor in before:
            covers[neighbor].add(two)
    chosen = {neighbor for neighbor, willingness in neighbors.items() if willingness == Willingness.WILL_ALWAYS}
    chosen |= {next(iter(before)) for before in second.values() if len(list(before)) == 1}
    left = set(second).difference(*(covers[neighbor] for neighbor in chosen))
    while left:
        best = max(_candidates(neighbors, covers, left), key=_rank(neighbors, covers, left))
        chosen.add(best)
        left -= covers[best]
    return frozenset(_without_redundant(chosen, neighbors, covers, set(second)))


def _candidates(
    neighbors: Mapping[NodeId, int], covers: Mapping[NodeId, set[NodeId]], left: set[NodeId]
) -> Iterator[NodeId]:
    return (neighbor for neighbor in sorted(neighbors) if covers[neighbor] & left)


def _rank(
    neighbors: Mapping[NodeId, int], covers: Mapping[NodeId, set[NodeId]], left: set[NodeId]
) -> Callable[[NodeId], tuple[int, int, int]]:
    """Order by willingness, reachability, and degree D(y)."""
    return lambda neighbor: (neighbors[neighbor], len(covers[neighbor] & left), len(covers[neighbor]))


def _without_redundant(
    chosen: set[NodeId], neighbors: Mapping[NodeId, int], covers: Mapping[NodeId, set[NodeId]], second: set[NodeId]
) -> set[NodeId]:
    """Drop relays without which all is covered, the least willing first (step 5)."""
    for neighbor in sorted(chosen, key=lambda node: (neighbors[node], node)):
        others = chosen - {neighbor}
        is_needed = second - set().union(*(covers[other] for other in others))
        if not is_needed and neighbors[neighbor] < Willingness.WILL_ALWAYS:
            chosen = others
    return chosen
