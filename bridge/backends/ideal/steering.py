"""Links of nodes that their agents move: computed for each course when it begins."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from roambus.bridge.backend import Course
from roambus.bridge.backends.ideal.graph import GraphChange, Span, contacts
from roambus.bridge.mobility.paths import Path, rest_of, turn
from roambus.bridge.scenario.plans import Fault, LinkChange
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime


class Disk(NamedTuple):
    """A unit disk: each node's path and reach (m), until a time."""

    paths: list[Path]
    reaches_m: Sequence[float]
    time_limit: SimTime

    def follow(self, course: Course, near: frozenset[NodeId], pending: Iterable[GraphChange]) -> list[GraphChange]:
        """Take a course; return the pending changes with the node's links as they become now, in their order.

        `near` are the targets of its links at present.
        """
        path = list(self.paths[course.node])
        turn(path, course)
        self.paths[course.node] = path
        kept: list[GraphChange] = []
        for change in pending:
            if not isinstance(change, LinkChange) or course.node not in (change.a, change.b):
                kept.append(change)
            elif change.at < course.at:
                kept.append(change)
                near = near ^ {change.a if change.b == course.node else change.b}
        for change in self._changes(course, near):
            insort(kept, change, key=_order)
        return kept

    def _changes(self, course: Course, near: frozenset[NodeId]) -> Iterator[LinkChange]:
        """Yield the changes of the node's links from `course.at` on, before which it has links to those `near`."""
        node, at_s = course.node, course.at / SECOND
        others = [other for other in range(len(self.paths)) if other != node]
        pairs = [(min(node, other), max(node, other)) for other in others]
        ranges_m = [min(self.reaches_m[node], self.reaches_m[other]) for other in others]
        rests = [rest_of(path, at_s) for path in self.paths]
        found = contacts(rests, pairs, ranges_m, self.time_limit)
        for other, (a, b), spans in zip(others, pairs, found, strict=True):
            for at, up in _edges(spans, course.at, self.time_limit, is_up=other in near):
                yield LinkChange(at, a, b, up=up)


def _edges(spans: Sequence[Span], begin: SimTime, end: SimTime, *, is_up: bool) -> Iterator[tuple[SimTime, bool]]:
    """Yield when a link changes from `begin` on, and whether it is up then; `is_up` is how it was before."""
    is_up_then = bool(spans) and spans[0][0] <= begin
    if is_up_then != is_up:
        yield begin, is_up_then
    for up, down in spans:
        if up > begin:
            yield up, True
        if down < end:
            yield down, False


def _order(change: GraphChange) -> tuple[SimTime, int, NodeId, NodeId]:
    """As the changes of a run that are known from its start: at one instant links pair by pair, then all else."""
    if isinstance(change, LinkChange):
        return change.at, 0, change.a, change.b
    return change.at, 1 + isinstance(change, Fault), 0, 0
