"""Symmetric nodes: what is done first is done at one of those that look alike.

An automorphism renames the nodes so that the network, the tree and the roles stay what they are. If names do not matter
to the agents, two commands that an automorphism turns into each other lead to states that are renamed, too, and one
of the two is enough. This is made use of for the first command, at which nothing tells alike nodes apart yet.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

from roambus.bridge.transcript.commands import Apply, Command, Fail, Move, PublishEvent, Relink
from roambus.experiments.exploring.world import World
from roambus.python_protocol.roles import NodeId


def automorphisms(world: World, kinds: Sequence[Hashable]) -> list[tuple[NodeId, ...]]:
    """All renamings of the nodes, whose `kinds` are kept, that keep links, places, wishes and who is down."""
    return [names for names in permutations(range(world.nodes)) if _keeps(names, world, kinds)]


def _keeps(names: tuple[NodeId, ...], world: World, kinds: Sequence[Hashable]) -> bool:
    nodes = range(world.nodes)
    links = {(min(names[a], names[b]), max(names[a], names[b])) for a, b in world.links}
    places = all(world.parents[names[node]] == _named(world.parents[node], names) for node in nodes if world.parents)
    alike = all((kinds[names[one]], world.wanted[names[one]]) == (kinds[one], world.wanted[one]) for one in nodes)
    return links == world.links and places and alike and {names[one] for one in world.down} == world.down


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
