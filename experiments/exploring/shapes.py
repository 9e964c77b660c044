"""Shapes: networks that differ in the names of their nodes only.

The small networks are the connected graphs of N nodes and the rooted trees of N brokers, each shape once.

An automorphism renames the nodes and keeps the network, tree and roles. If names do not matter to the agents, two
commands that it maps to each other lead to renamed states, and one is enough. This applies to the first command, before
anything separates alike nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Any

from roambus.bridge.transcript.commands import (
    Apply,
    Command,
    Fail,
    Move,
    PublishEvent,
    Relink,
)
from roambus.experiments.exploring.world import World
from roambus.python_protocol.vocabulary import NodeId

Edge = tuple[int, int]


def connected_graphs(size: int, *, alike: bool) -> list[tuple[Edge, ...]]:
    """Return all connected graphs, or one of each shape if nodes are alike; fewest links first."""
    pairs = list(combinations(range(size), 2))
    found: dict[tuple[Edge, ...], None] = {}
    for links in range(size - 1, len(pairs) + 1):
        for graph in combinations(pairs, links):
            if _is_connected(size, graph):
                found.setdefault(_shape(size, graph) if alike else graph)
    return list(found)


def rooted_trees(size: int, *, alike: bool) -> list[tuple[int | None, ...]]:
    """Return the parents in all rooted trees, or in one of each shape if nodes are alike."""
    found: dict[str, tuple[int | None, ...]] = {}
    for tree in _parents(size):
        found.setdefault(_canonical(tree, 0), tree)
    if alike:
        return list(found.values())
    named = (_with_other_names(tree, names) for tree in found.values() for names in permutations(range(size)))
    return list(dict.fromkeys(named))


def _with_other_names(tree: tuple[int | None, ...], names: tuple[int, ...]) -> tuple[int | None, ...]:
    parents = dict(zip(names, (None if parent is None else names[parent] for parent in tree), strict=True))
    return tuple(parents[node] for node in range(len(tree)))


def _parents(size: int) -> Iterator[tuple[int | None, ...]]:
    if size == 1:
        yield (None,)
        return
    for tree in _parents(size - 1):
        for parent in range(size - 1):
            yield (*tree, parent)


def _canonical(tree: tuple[int | None, ...], root: int) -> str:
    children = (child for child, parent in enumerate(tree) if parent == root)
    return f"({''.join(sorted(_canonical(tree, child) for child in children))})"


def _shape(size: int, graph: tuple[Edge, ...]) -> tuple[Edge, ...]:
    # All renamings are tried: of six nodes, which is the most, there are 720.
    return min(_with_names(graph, names) for names in permutations(range(size)))


def _with_names(graph: tuple[Edge, ...], names: tuple[int, ...]) -> tuple[Edge, ...]:
    return tuple(sorted((min(names[a], names[b]), max(names[a], names[b])) for a, b in graph))


def _is_connected(size: int, graph: tuple[Edge, ...]) -> bool:
    reached, before = {0}, 0
    while len(reached) > before:
        before = len(reached)
        reached |= {end for edge in graph if reached & set(edge) for end in edge}
    return len(reached) == size


def automorphisms(world: World, kinds: Sequence[Hashable]) -> list[tuple[NodeId, ...]]:
    """All renamings that keep `kinds`, links, places, wishes and failures."""
    return [names for names in permutations(range(world.nodes)) if _keeps(names, world, kinds)]


def _keeps(names: tuple[NodeId, ...], world: World, kinds: Sequence[Hashable]) -> bool:
    nodes = range(world.nodes)
    near = world.graph.near
    links = all(near[names[node]] == {names[one] for one in near[node]} for node in nodes)
    places = all(world.parents[names[node]] == _named(world.parents[node], names) for node in nodes if world.parents)
    alike = all((kinds[names[one]], world.wanted[names[one]]) == (kinds[one], world.wanted[one]) for one in nodes)
    return links and places and alike and {names[one] for one in world.down} == world.down


def representatives(commands: Iterable[Command], names: Iterable[tuple[NodeId, ...]]) -> list[Command]:
    """One of the commands that are turned into each other."""
    found: dict[str, Command] = {}
    renamings = list(names)
    for command in commands:
        found.setdefault(min(repr(_renamed(command, one)) for one in renamings), command)
    return list(found.values())


def _named(node: NodeId | None, names: tuple[NodeId, ...]) -> NodeId | None:
    return None if node is None else names[node]


def _renamed(command: Any, names: tuple[NodeId, ...]) -> Command:
    match command:
        case Apply(node) | PublishEvent(node) | Fail(node):
            renamed: Command = replace(command, node=names[node])
        case Move(node, parent):
            renamed = replace(command, node=names[node], parent=_named(parent, names))
        case Relink(a, b):
            renamed = replace(command, a=min(names[a], names[b]), b=max(names[a], names[b]))
        case _:
            raise ValueError(f"{command} cannot be renamed")
    return renamed
