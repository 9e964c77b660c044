"""Clients that are away for a while: what their agents are told, and what becomes of their places in a given tree.

An absence is announced. The agent is told (`Detach`) while its link stands; the client leaves its place in the tree a
moment later, so that the agent can say goodbye. It takes a place again at the instant at which it attaches, and the
agent is told of the place (`Rewired`) before it is told to `Attach`. Without a given tree, and for the client on a
broker's node, the links are what they are, and the agent is told the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bridge.scenario import Command, ParentChange
from python_protocol.events import Attach, Detach
from python_protocol.roles import NodeId, Role
from python_protocol.simtime import MILLISECOND, SimTime, format_time

DEPARTURE = 100 * MILLISECOND
"""From a detachment until the client leaves its place in a given tree, unless the scenario says otherwise."""


@dataclass(frozen=True, slots=True)
class Absence:
    """The application of `node` detaches at `leaves` and attaches at `returns` (None: never)."""

    node: NodeId
    leaves: SimTime
    returns: SimTime | None = None
    broker: NodeId | None = None
    """Where it returns to in a given tree; None: to where it was."""


def absence_commands(absences: Iterable[Absence]) -> Iterator[Command]:
    """What the agents are told."""
    for one in absences:
        yield Command(one.leaves, one.node, Detach())
        if one.returns is not None:
            yield Command(one.returns, one.node, Attach())


def with_absences(
    tree: Sequence[ParentChange], absences: Iterable[Absence], roles: Sequence[Role], departure: SimTime
) -> tuple[ParentChange, ...]:
    """The given tree, in the order of time, which clients leave and come back to; `roles` are those of the nodes.

    The absences of a node are in the order of time. Raises ValueError for those that contradict the tree.
    """
    changes = list(tree)
    for absence in absences:
        _check(absence, tree, roles, departure)
        if tree and Role.BROKER not in roles[absence.node]:
            changes += _places(absence, changes, departure)
    return tuple(sorted(changes, key=lambda change: change.at))


def _places(absence: Absence, changes: Sequence[ParentChange], departure: SimTime) -> list[ParentChange]:
    node, returns = absence.node, absence.returns
    before = [change for change in changes if change.node == node and change.at <= absence.leaves]
    old = sorted(before, key=lambda change: change.at)[-1].parent if before else None
    places = [ParentChange(absence.leaves + departure, node, None)]
    if returns is not None:
        places.append(ParentChange(returns, node, old if absence.broker is None else absence.broker))
    return places


def _check(absence: Absence, tree: Sequence[ParentChange], roles: Sequence[Role], departure: SimTime) -> None:
    if absence.broker is not None:
        _check_broker(absence, tree, roles)
    if not tree or Role.BROKER in roles[absence.node]:
        return
    if absence.returns is not None and absence.returns <= absence.leaves + departure:
        left = format_time(absence.leaves + departure)
        raise ValueError(f"node {absence.node} leaves its place at {left} only: let it attach after that")
    for change in tree:
        if change.node == absence.node and _is_away(absence, change.at):
            problem = f"SN.tree gives node {change.node} a parent at {format_time(change.at)}, when it is away"
            raise ValueError(f"{problem}: write 'attach' with its broker instead")


def _check_broker(absence: Absence, tree: Sequence[ParentChange], roles: Sequence[Role]) -> None:
    if not tree:
        raise ValueError("without SN.tree there is no place to come back to: write 'attach' without a broker")
    if Role.BROKER in roles[absence.node]:
        raise ValueError(f"node {absence.node} is a broker and keeps its place: write 'attach' without a broker")
    if absence.broker not in {node for node, role in enumerate(roles) if Role.BROKER in role}:
        raise ValueError(f"node {absence.broker} is no broker, so node {absence.node} cannot come back to it")


def _is_away(absence: Absence, at: SimTime) -> bool:
    return absence.leaves < at and (absence.returns is None or at <= absence.returns)
