"""The tree that a scenario gives, as links for the ideal back-end and as events for the agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from bridge.scenario import Fault, FaultKind, LinkChange, ParentChange, Scenario
from python_protocol.events import Rewired
from python_protocol.roles import NodeId, Role
from python_protocol.simtime import SimTime, format_time

Parents = dict[NodeId, NodeId | None]


def check_tree(tree: Sequence[ParentChange], roles: Sequence[Role]) -> None:
    """Raises ValueError for what is no tree of brokers with clients at its brokers; `roles` are those of the nodes."""
    parents: Parents = {}
    for at, together in groupby(tree, key=lambda one: one.at):
        for change in together:
            parents[change.node] = change.parent
            if change.parent is not None and Role.BROKER not in roles[change.parent]:
                raise ValueError(f"node {change.parent} is no broker, so it cannot be the parent of node {change.node}")
        for node in parents:
            if circle := _circle(node, parents):
                raise ValueError(f"at {format_time(at)} the parents make a circle: {' '.join(map(str, circle))}")


def _circle(node: NodeId, parents: Parents) -> list[NodeId]:
    """The way from `node` up to itself; empty if it ends anywhere else."""
    way = [node]
    while (parent := parents.get(way[-1])) is not None and parent not in way:
        way.append(parent)
    return [*way, node] if parent == node else []


def tree_links(tree: Sequence[ParentChange]) -> list[LinkChange]:
    """The edges of the tree, each from when it comes to when it goes; one that only turns over stays."""
    parents: Parents = {}
    before: set[frozenset[NodeId]] = set()
    changes: list[LinkChange] = []
    for at, together in groupby(tree, key=lambda one: one.at):
        parents |= {change.node: change.parent for change in together}
        edges = {frozenset((node, parent)) for node, parent in parents.items() if parent is not None}
        for edge in sorted(before ^ edges, key=sorted):
            a, b = sorted(edge)
            changes.append(LinkChange(at, a, b, edge in edges))
        before = edges
    return changes


def rewirings(scenario: Scenario) -> Iterator[tuple[SimTime, NodeId, Rewired]]:
    """What each node is told of its place, and when: at 0, and whenever it changes. Nothing without a given tree.

    A crashed node is nobody's parent and nobody's child until it recovers, and is then told anew.
    """
    if not scenario.tree:
        return
    brokers = frozenset(node for node, settings in enumerate(scenario.nodes) if Role.BROKER in settings.roles)
    parents: Parents = dict.fromkeys(range(len(scenario.nodes)))
    down: set[NodeId] = set()
    known: dict[NodeId, Rewired] = {}
    happenings: list[ParentChange | Fault] = [*scenario.tree, *scenario.faults]
    happenings.sort(key=lambda one: one.at)
    for at, together in groupby(happenings, key=lambda one: one.at):
        for one in together:
            _apply(one, parents, down, known)
        for node in sorted(parents.keys() - down):
            place = _place(node, parents, down, brokers)
            if place != known.get(node):
                known[node] = place
                yield at, node, place


def _apply(happening: ParentChange | Fault, parents: Parents, down: set[NodeId], known: dict[NodeId, Rewired]) -> None:
    if isinstance(happening, ParentChange):
        parents[happening.node] = happening.parent
    elif happening.kind is FaultKind.CRASH:
        down.add(happening.node)
        known.pop(happening.node, None)
    elif happening.kind is FaultKind.RECOVER:
        down.discard(happening.node)


def _place(node: NodeId, parents: Parents, down: set[NodeId], brokers: frozenset[NodeId]) -> Rewired:
    parent = parents[node]
    children = tuple(child for child, its in parents.items() if its == node and child not in down)
    return Rewired(None if parent in down else parent, children, brokers & frozenset(children))
