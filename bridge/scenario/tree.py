"""The given tree, as links for the ideal back-end and as events for the agents.

A scenario lists changes of parents; links and agents' places follow. Changes of one time are one change: swapping two
nodes takes two, with a cycle between them that never existed. So an agent gets one event, after all changes of an
instant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange, ParentChange
from roambus.python_protocol.events import Rewired
from roambus.python_protocol.vocabulary import NodeId, Role, SimTime, format_time

Parents = dict[NodeId, NodeId | None]


def check_tree(tree: Sequence[ParentChange], roles: Sequence[Role]) -> None:
    """Raise ValueError unless it is a tree of brokers with clients at brokers, by `roles`."""
    parents: Parents = {}
    for at, together in groupby(tree, key=lambda one: one.at):
        changed: list[NodeId] = []
        for change in together:
            parents[change.node] = change.parent
            if change.parent is not None and Role.BROKER not in roles[change.parent]:
                raise ValueError(
                    f"node {change.parent} is not a broker, so it cannot be the parent of node {change.node}"
                )
            changed.append(change.node)
        if any(circle_from(node, parents) for node in changed):  # a new circle leads through a change
            circle = next(filter(None, (circle_from(node, parents) for node in parents)))
            raise ValueError(f"at {format_time(at)} the parents make a circle: {' '.join(map(str, circle))}")


def circle_from(node: NodeId, parents: Parents) -> list[NodeId]:
    """The way from `node` up to itself; empty without a cycle."""
    way = [node]
    while (parent := parents.get(way[-1])) is not None and parent not in way:
        way.append(parent)
    return [*way, node] if parent == node else []


def tree_links(tree: Iterable[ParentChange], parents: Parents | None = None) -> list[LinkChange]:
    """The tree's edges with their times; an edge that only turns over stays.

    An edge of one instant is none, so that frames under way survive. Edges of given `parents` do not repeat.
    """
    parents = dict(parents or {})
    changes: list[LinkChange] = []
    for at, together in groupby(tree, key=lambda one: one.at):
        new = {change.node: change.parent for change in together}
        before, edges = (_edges(new, places) for places in (parents, parents | new))
        parents |= new
        for edge in sorted(before ^ edges, key=sorted):
            a, b = sorted(edge)
            changes.append(LinkChange(at, a, b, edge in edges))
    return changes


def _edges(nodes: Iterable[NodeId], parents: Mapping[NodeId, NodeId | None]) -> set[frozenset[NodeId]]:
    """The edges from some nodes to their parents."""
    ends = ((node, parents.get(node)) for node in nodes)
    return {frozenset((node, parent)) for node, parent in ends if parent is not None}


def rewirings(scenario: Scenario) -> Iterator[tuple[SimTime, NodeId, Rewired]]:
    """Each node's place at 0 and after each change, as events; none without a given tree.

    A crashed node has no parent or children until it recovers, and then gets its place again.
    """
    if not scenario.tree:
        return
    brokers = frozenset(node for node, one in enumerate(scenario.nodes) if Role.BROKER in one.roles)
    places = Places(dict.fromkeys(range(len(scenario.nodes))), brokers)
    plan: list[ParentChange | Fault] = [*scenario.tree, *scenario.faults]
    plan.sort(key=lambda one: one.at)
    told: Iterable[NodeId] = range(len(scenario.nodes))
    for at, together in groupby(plan, key=lambda one: one.at):
        concerned = {node for one in together for node in places.apply(one)}
        for node, place in places.news(sorted({*told, *concerned})):
            yield at, node, place
        told = ()


class Places:
    """Parents, outages and each node's knowledge of its place."""

    def __init__(
        self, parents: Mapping[NodeId, NodeId | None], brokers: frozenset[NodeId], down: Iterable[NodeId] | None = None
    ) -> None:
        """No node knows its place yet; with `down`, all others do."""
        self._brokers = brokers
        self._parents = dict(parents)
        self._children: dict[NodeId, set[NodeId]] = {node: set() for node in parents}
        for node, parent in parents.items():
            if parent is not None:
                self._children[parent].add(node)
        self._down = set(down or ())
        up = () if down is None else parents.keys() - self._down
        self._known = {node: self._place(node) for node in up}

    def apply(self, item: ParentChange | Fault) -> Iterator[NodeId]:
        """Apply changes; return the nodes whose place may differ."""
        node = item.node
        yield from self._near(node)
        if isinstance(item, ParentChange):
            self._move(node, item.parent)
        elif item.kind is FaultKind.CRASH:
            self._down.add(node)
            self._known.pop(node, None)
        elif item.kind is FaultKind.RECOVER:
            self._down.discard(node)
        yield from self._near(node)

    def news(self, nodes: Iterable[NodeId]) -> Iterator[tuple[NodeId, Rewired]]:
        """The unknown places of those nodes that are up."""
        for node in nodes:
            if node not in self._down and (place := self._place(node)) != self._known.get(node):
                self._known[node] = place
                yield node, place

    def _near(self, node: NodeId) -> Iterator[NodeId]:
        parent = self._parents[node]
        yield from (node, *self._children[node], *(() if parent is None else (parent,)))

    def _move(self, node: NodeId, parent: NodeId | None) -> None:
        if (old := self._parents[node]) is not None:
            self._children[old].remove(node)
        if parent is not None:
            self._children[parent].add(node)
        self._parents[node] = parent

    def _place(self, node: NodeId) -> Rewired:
        """A node's place: its neighbours that are up, and the brokers among them."""
        parent = self._parents[node]
        there = tuple(sorted(self._children[node] - self._down))
        return Rewired(None if parent in self._down else parent, there, self._brokers & frozenset(there))
