"""The graph of ideal links: existing links, links that carry frames, and the fate of frames.

Runs and explorations share it. Durations belong to a run's back-end; an exploration tries every order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations, islice, pairwise
from math import dist
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.keys import path_of
from roambus.bridge.mobility.paths import Path, positions, positions_before
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.models import PROPAGATIONS
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange, Partition
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SECOND, SimTime

Link = tuple[NodeId, NodeId]
"""One direction of a link, from its sender to its receiver."""


GraphChange = LinkChange | Partition | Fault
"""What changes which links carry."""


class Graph(NamedTuple):
    """A link carries while it and both ends are up, within one partition; immutable."""

    near: Sequence[frozenset[NodeId]]
    """Each node's link targets."""
    down: frozenset[NodeId] = frozenset()
    """Crashed nodes, whose links carry nothing."""
    groups: tuple[frozenset[NodeId], ...] = ()
    """Nothing carries between groups; unnamed nodes form one, too."""

    @classmethod
    def of(cls, nodes: int, links: Iterable[Link]) -> Graph:
        """Return the graph of bidirectional links."""
        near: list[set[NodeId]] = [set() for _ in range(nodes)]
        for a, b in links:
            near[a].add(b)
            near[b].add(a)
        return cls(tuple(map(frozenset, near)))

    def after(self, change: GraphChange) -> Graph:
        """Return the graph afterwards; a freeze keeps it."""
        match change:
            case LinkChange():
                near = list(self.near)
                relink(near, change)
                return self._replace(near=tuple(near))
            case Partition(groups=groups):
                return self._replace(groups=groups)
            case Fault(node=node, kind=FaultKind.CRASH):
                return self._replace(down=self.down | {node})
            case Fault(node=node, kind=FaultKind.RECOVER):
                return self._replace(down=self.down - {node})
        return self

    def carries(self, sender: NodeId, receiver: NodeId) -> bool:
        """Return whether frames pass from `sender` to `receiver`."""
        if receiver not in self.near[sender] or sender in self.down or receiver in self.down:
            return False
        return not self.groups or all((sender in group) == (receiver in group) for group in self.groups)

    def reached(self, sender: NodeId) -> tuple[NodeId, ...]:
        """Return the nodes that a broadcast of `sender` reaches, in order."""
        near = sorted(self.near[sender])
        if self.down or self.groups:  # seldom, and a run asks for each broadcast after a change
            near = [receiver for receiver in near if self.carries(sender, receiver)]
        return tuple(near)


def relink(near: list[frozenset[NodeId]], change: LinkChange) -> None:
    """Put a link into the nodes' link targets, or take it out."""
    both = (change.a, change.b), (change.b, change.a)
    for sender, receiver in both[:1] if change.one_way else both:
        near[sender] = near[sender] | {receiver} if change.up else near[sender] - {receiver}


def receivers(reached: tuple[NodeId, ...], destination: NodeId) -> tuple[NodeId, ...] | None:
    """Return a frame's receivers; None if the only one has no link."""
    if destination == BROADCAST:
        return reached
    return (destination,) if destination in reached else None


class _Sent(Protocol):
    @property
    def destination(self) -> NodeId:
        """BROADCAST, or the receiver."""


Sent = TypeVar("Sent", bound=_Sent)
"""Something that is under way on a link."""


def cut_off(
    graph: Graph, under_way: Iterable[tuple[Link, Sequence[Sent]]]
) -> Iterator[tuple[Link, Sequence[Sent], list[Sent]]]:
    """Yield dead links, their frames, and those reported to senders.

    A missing acknowledgement reveals a lost unicast frame, never a broadcast.
    """
    for link, frames in under_way:
        if not graph.carries(*link):
            yield link, frames, [frame for frame in frames if frame.destination != BROADCAST]


Span = tuple[SimTime, SimTime]
"""A contact's half-open interval."""


def reach_m(scenario: Scenario, node: NodeSettings) -> float:
    """Return the given range, or where mean path loss meets the sensitivity; raise UserError if there is no range."""
    if scenario.ideal.range_m > 0:
        return scenario.ideal.range_m
    law = scenario.propagation
    if type(law) is not LogDistance:  # another's loss needs more than a distance
        key, name = path_of(IdealLinks, "range_m"), PROPAGATIONS.name_of(law)
        raise UserError(
            f"{PROPAGATIONS.key.name}: ideal links have no range by the path loss {name}: set {key}, or give links"
        )
    return law.range_m(node.tx_power_dbm - scenario.radio.sensitivity_dbm)


def disk_changes(paths: Sequence[Path], reaches_m: Sequence[float], time_limit: SimTime) -> list[LinkChange]:
    """Return link changes until `time_limit`, pair by pair; needs mutual reach."""
    changes = []
    pairs = iter(_may_meet(paths, max(reaches_m, default=0.0), time_limit / SECOND))
    while some := list(islice(pairs, _PAIRS)):
        ranges_m = [min(reaches_m[a], reaches_m[b]) for a, b in some]
        for (a, b), spans in zip(some, contacts(paths, some, ranges_m, time_limit), strict=True):
            for up, down in spans:
                changes.append(LinkChange(up, a, b, up=True))
                if down < time_limit:
                    changes.append(LinkChange(down, a, b, up=False))
    return changes


FEW = 64
"""Among fewer nodes all pairs are compared sooner than near ones found."""
_PAIRS = 1 << 14
"""So many pairs take little memory at once."""


def _may_meet(paths: Sequence[Path], range_m: float, end_s: float) -> Iterable[tuple[NodeId, NodeId]]:
    """Yield in order the pairs whose distance in some slice of time leaves them within `range_m`, and few others."""
    if len(paths) < FEW:
        return combinations(range(len(paths)), 2)
    longest_m = max(sum(dist(a[1:], b[1:]) for a, b in pairwise(path)) for path in paths)
    edges = np.linspace(0, end_s, 1 + max(1, min(1000, int(longest_m / max(range_m, 1)))))
    discs = [_discs(path, edges) for path in paths]
    codes = [np.empty(0, dtype=np.int64)]
    for middles, radii in zip(*(np.stack(disc, axis=1) for disc in zip(*discs, strict=True)), strict=True):
        near_m = (range_m + 2 * radii.max()) * (1 + 1e-9)
        codes.append(_near(middles, near_m) @ (len(paths), 1))
    return zip(*(half.tolist() for half in divmod(np.unique(np.concatenate(codes)), len(paths))), strict=True)


def _near(places: NDArray[np.float64], near_m: float) -> NDArray[np.int64]:
    """Return pairs[n, 2] of places that are at most `near_m` apart, by square cells of that width."""
    x, y = np.floor((places - places.min(axis=0)) / near_m).astype(np.int64).T
    cells = x * (y.max() + 2) + y
    order = np.argsort(cells)
    found = []
    for step in (0, 1, y.max() + 1, y.max() + 2, y.max() + 3):  # its own cell and half of those around it
        low, high = (np.searchsorted(cells, cells + step, side, sorter=order) for side in ("left", "right"))
        first = np.repeat(np.arange(len(cells)), high - low)
        second = order[np.arange(len(first)) + np.repeat(high - np.cumsum(high - low), high - low)]
        found.append(np.stack((first, second), axis=1)[(first < second) | (step > 0)])
    pairs = np.sort(np.concatenate(found), axis=1)
    apart = places[pairs[:, 0]] - places[pairs[:, 1]]
    near: NDArray[np.int64] = pairs[(apart * apart).sum(axis=1) <= near_m**2]
    return near


def _discs(path: Path, edges: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return middles[slice, 2] and radii of discs that a node does not leave between two edges."""
    middles, radii = positions(path, (edges[:-1] + edges[1:]) / 2), np.zeros(len(edges) - 1)
    turns = np.array([point.time_s for point in path if point.time_s < edges[-1]])
    times = np.concatenate((edges, turns, turns))  # a jump leaves one place and arrives at another
    places = np.concatenate((positions(path, times[: len(edges) + len(turns)]), positions_before(path, turns)))
    for side in ("left", "right"):  # an edge ends a slice and begins another
        slices = np.clip(np.searchsorted(edges, times, side) - 1, 0, len(radii) - 1)
        np.maximum.at(radii, slices, np.hypot(*(places - middles[slices]).T))
    return middles, radii


def contacts(
    paths: Sequence[Path], pairs: Sequence[tuple[NodeId, NodeId]], ranges_m: Sequence[float], time_limit: SimTime
) -> list[list[Span]]:
    """Return when the nodes of each pair are within its range: ordered, disjoint spans."""
    found: list[list[Span]] = [[] for _ in pairs]
    for pair, up, down in _contacts_of_legs(paths, pairs, ranges_m, time_limit):
        spans = found[pair]
        if spans and up <= spans[-1][1]:
            spans[-1] = spans[-1][0], down
        elif up < down:
            spans.append((up, down))
    return found


def _contacts_of_legs(
    paths: Sequence[Path], pairs: Sequence[tuple[NodeId, NodeId]], ranges_m: Sequence[float], time_limit: SimTime
) -> Iterator[tuple[int, SimTime, SimTime]]:
    """Yield the pair's place and at most one contact per stretch in which both go straight."""
    end_s = time_limit / SECOND
    turns = {node: {point.time_s for point in paths[node] if point.time_s <= end_s} for node in {*chain(*pairs)}}
    turns_of_both = [sorted({*turns[a], *turns[b], end_s}) for a, b in pairs]
    times = np.array([*chain(*turns_of_both)])
    pair = np.repeat(np.arange(len(pairs)), [len(turns) for turns in turns_of_both])
    ends = [np.array(nodes)[pair] for nodes in zip(*pairs, strict=True)]
    apart, before = (
        np.subtract(*(_places(paths, nodes, times, of) for nodes in ends)) for of in (positions, positions_before)
    )
    is_leg, pair = pair[1:] == pair[:-1], pair[:-1]
    enter, leave = _within(apart[:-1], before[1:] - apart[:-1], np.array(ranges_m)[pair])
    begins, lasts = times[:-1], np.diff(times)
    ups, downs = begins + enter * lasts, np.where(leave == 1, times[1:], begins + leave * lasts)
    touches = (enter < leave) & is_leg
    for place, up, down in zip(pair[touches].tolist(), ups[touches].tolist(), downs[touches].tolist(), strict=True):
        yield place, round(up * SECOND), round(down * SECOND)


def _places(
    paths: Sequence[Path], nodes: NDArray[np.int64], times: NDArray[np.float64], of: Callable[..., NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the metres[n, 2] of these nodes, each at its time, as `of` has them of a path and times."""
    places, order = np.empty((len(nodes), 2)), np.argsort(nodes, kind="stable")
    for where in np.split(order, np.flatnonzero(np.diff(nodes[order])) + 1):
        places[where] = of(paths[nodes[where[0]]], times[where])
    return places


def _within(
    start: NDArray[np.float64], way: NDArray[np.float64], range_m: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return shares[n] of each stretch with |start + share * way| <= range; the first is greater if none.

    Solves a s^2 + 2 b s + c = 0; without relative movement the sign of c decides.
    """
    a, b = (way * way).sum(axis=1), (start * way).sum(axis=1)
    c = (start * start).sum(axis=1) - range_m**2
    moving = a > 0
    divisor = np.where(moving, a, 1.0)
    root = np.sqrt(np.maximum(b * b - a * c, 0))
    never = np.where(moving, b * b < a * c, c > 0)
    enter = np.where(moving, np.clip((-b - root) / divisor, 0, 1), 0.0)
    leave = np.where(moving, np.clip((-b + root) / divisor, 0, 1), 1.0)
    return np.where(never, 1.0, enter), np.where(never, 0.0, leave)
