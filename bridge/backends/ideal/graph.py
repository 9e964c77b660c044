"""The graph of ideal links: which links there are, and which of them carry frames now.

Nodes that move are linked while they are in range of each other (the unit disk). The way-points are those of the
embedded radio for the same seed, so that a protocol can be seen over both with the same movements. But links come and
go here at the very nanosecond at which the distance crosses the range: between two way-points both nodes go straight
on, so that is the root of a quadratic equation. The radio's channel looks at its nodes once in an update interval only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.mobility import Path, positions
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.plans import LinkChange, Partition
from roambus.python_protocol.vocabulary import SECOND, NodeId, SimTime

Link = tuple[NodeId, NodeId]
"""One direction of a link, from its sender to its receiver."""


class Graph:
    """A link carries while it is up, both of its ends are up, and no partition separates them."""

    def __init__(self, nodes: int, links: Iterable[tuple[NodeId, NodeId]]) -> None:
        self._neighbours: list[set[NodeId]] = [set() for _ in range(nodes)]
        self.crashed: set[NodeId] = set()
        """The nodes whose links carry nothing, whether they are up or not."""
        self._group = [0] * nodes
        for a, b in links:
            self._neighbours[a].add(b)
            self._neighbours[b].add(a)

    def carries(self, sender: NodeId, receiver: NodeId) -> bool:
        """Whether frames go from `sender` to `receiver`."""
        if receiver not in self._neighbours[sender] or self._group[sender] != self._group[receiver]:
            return False
        return sender not in self.crashed and receiver not in self.crashed

    def reached(self, sender: NodeId) -> list[NodeId]:
        """The nodes that a broadcast of `sender` reaches."""
        return [receiver for receiver in self._neighbours[sender] if self.carries(sender, receiver)]

    def change(self, change: LinkChange) -> None:
        """Has a link come up or go down, perhaps one way only."""
        both = (change.a, change.b), (change.b, change.a)
        for a, b in both[:1] if change.one_way else both:
            if change.up:
                self._neighbours[a].add(b)
            else:
                self._neighbours[a].discard(b)

    def part(self, partition: Partition) -> None:
        """Separates groups from each other, whatever groups there were before."""
        self._group = [0] * len(self._group)
        for number, group in enumerate(partition.groups, start=1):
            for node in group:
                self._group[node] = number


Span = tuple[SimTime, SimTime]
"""The times of a contact: it lasts from the first until before the second."""


def reach_m(scenario: Scenario, node: NodeSettings) -> float:
    """The given range, or else the distance at which the mean path loss leaves no more than the radio's sensitivity."""
    if scenario.ideal.range_m > 0:
        return scenario.ideal.range_m
    channel = scenario.channel
    budget_db = node.tx_power_dbm - scenario.radio.sensitivity_dbm - channel.pl_d0_db
    return float(channel.d0_m * 10 ** (budget_db / (10 * channel.path_loss_exponent)))


def disk_changes(paths: Sequence[Path], reaches_m: Sequence[float], time_limit: SimTime) -> list[LinkChange]:
    """How links come and go until `time_limit`, pair by pair; a link needs both nodes to reach each other."""
    changes = []
    for a, b in combinations(range(len(paths)), 2):
        for up, down in contacts(paths[a], paths[b], min(reaches_m[a], reaches_m[b]), time_limit):
            changes.append(LinkChange(up, a, b, up=True))
            if down < time_limit:
                changes.append(LinkChange(down, a, b, up=False))
    return changes


def contacts(first: Path, second: Path, range_m: float, time_limit: SimTime) -> list[Span]:
    """When two nodes are within `range_m`, in order, with time between one contact and the next."""
    found: list[Span] = []
    for up, down in _contacts_of_legs(first, second, range_m, time_limit):
        if found and up <= found[-1][1]:
            found[-1] = found[-1][0], down
        elif up < down:
            found.append((up, down))
    return found


def _contacts_of_legs(first: Path, second: Path, range_m: float, time_limit: SimTime) -> Iterator[Span]:
    """The contacts, of which each stretch of time in which both go straight on has one at most."""
    times = np.array(sorted({point.time_s for points in (first, second) for point in points} | {time_limit / SECOND}))
    times = times[times <= time_limit / SECOND]
    apart = positions(first, times) - positions(second, times)
    enter, leave = _within(apart[:-1], np.diff(apart, axis=0), range_m)
    begins, lasts = times[:-1], np.diff(times)
    ups, downs = begins + enter * lasts, np.where(leave == 1, times[1:], begins + leave * lasts)
    touches = enter < leave
    for up, down in zip(ups[touches].tolist(), downs[touches].tolist(), strict=True):
        yield round(up * SECOND), round(down * SECOND)


def _within(
    start: NDArray[np.float64], way: NDArray[np.float64], range_m: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares[n] of each stretch between which |start + share * way| <= range; the first is greater where it never is.

    This solves a s^2 + 2 b s + c = 0; without any relative movement the sign of c alone decides.
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
