"""Planned changes of nodes: the given tree, faults and clients' absences.

A scenario lists changes of parents; links and agents' places follow. Changes of one time are one change: swapping two
nodes takes two, with a cycle between them that never existed. So an agent gets one event, after all changes of an
instant.

A node that is up can crash or freeze, a frozen node can crash, and a node that is down can recover. Outages decide when
a node that is down carries out its commands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from roambus.bridge.scenario.definition import Command, Scenario
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange, ParentChange
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.events import Attach, Detach, Rewired
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime, format_time

Parents = dict[NodeId, NodeId | None]


def check_tree(tree: Sequence[ParentChange], roles: Sequence[Role]) -> None:
    """Raise ValueError unless it is a tree of brokers with clients at brokers, by `roles`."""
    parents: Parents = {}
    for at, together in groupby(tree, key=lambda relink: relink.at):
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
    for at, together in groupby(tree, key=lambda relink: relink.at):
        new = {change.node: change.parent for change in together}
        before, edges = (_edges(new, places) for places in (parents, parents | new))
        parents |= new
        for edge in sorted(before ^ edges, key=sorted):
            a, b = sorted(edge)
            changes.append(LinkChange(at, a, b, edge in edges))
    return changes


def _edges(nodes: Iterable[NodeId], parents: Mapping[NodeId, NodeId | None]) -> set[frozenset[NodeId]]:
    ends = ((node, parents.get(node)) for node in nodes)
    return {frozenset((node, parent)) for node, parent in ends if parent is not None}


def rewirings(scenario: Scenario) -> Iterator[tuple[SimTime, NodeId, Rewired]]:
    """Each node's place at 0 and after each change, as events; none without a given tree.

    A crashed node has no parent or children until it recovers, and then gets its place again.
    """
    if not scenario.tree:
        return
    brokers = frozenset(node for node, settings in enumerate(scenario.nodes) if Role.BROKER in settings.roles)
    places = Places(dict.fromkeys(range(len(scenario.nodes))), brokers)
    plan: list[ParentChange | Fault] = [*scenario.tree, *scenario.faults]
    plan.sort(key=lambda relink: relink.at)
    unaware: Iterable[NodeId] = range(len(scenario.nodes))
    for at, together in groupby(plan, key=lambda relink: relink.at):
        concerned = {node for relink in together for node in places.apply(relink)}
        for node, place in places.news(sorted({*unaware, *concerned})):
            yield at, node, place
        unaware = ()


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


# Faults and absences


_STATES = {FaultKind.CRASH: "has crashed", FaultKind.FREEZE: "is frozen", FaultKind.RECOVER: "is up"}
"""A node's state after its last fault, in words."""
_POSSIBLE_AFTER = {
    FaultKind.CRASH: {FaultKind.RECOVER, FaultKind.FREEZE},
    FaultKind.FREEZE: {FaultKind.RECOVER},
    FaultKind.RECOVER: {FaultKind.CRASH, FaultKind.FREEZE},
}


def check_sequence(faults: Iterable[Fault]) -> None:
    """Raise ValueError for faults out of time order or in a wrong state."""
    last: dict[NodeId, FaultKind] = {}
    now: SimTime = 0
    for fault in faults:
        if fault.at < now:
            raise ValueError(f"{_what(fault)}: a fault at {format_time(now)} comes before it; keep the order of time")
        if state := wrong_state(last.get(fault.node), fault.kind):
            raise ValueError(f"{_what(fault)}: it {state}")
        last[fault.node], now = fault.kind, fault.at


def wrong_state(last: FaultKind | None, kind: FaultKind) -> str:
    """The state in which a node cannot have this fault; empty if it can.

    A crash leaves nothing to freeze.
    """
    last = last or FaultKind.RECOVER
    return "" if last in _POSSIBLE_AFTER[kind] else _STATES[last]


def check_faults(faults: Sequence[Fault], starts: Sequence[SimTime]) -> None:
    """Raise UserError for an invalid sequence, an unknown node, or one not booted (`starts`)."""
    try:
        check_sequence(faults)
    except ValueError as error:
        raise UserError(str(error)) from None
    for fault in faults:
        if not 0 <= fault.node < len(starts):
            raise UserError(f"{_what(fault)}: the nodes are 0 to {len(starts) - 1}")
        if fault.at <= starts[fault.node]:
            raise UserError(f"{_what(fault)}: it boots at {format_time(starts[fault.node])}")


def _what(fault: Fault) -> str:
    return f"node {fault.node} cannot {fault.kind.value} at {format_time(fault.at)}"


class Outage(NamedTuple):
    """A node is down from `start` until before `end` (None: forever); it `crashed` or only froze."""

    start: SimTime
    end: SimTime | None
    crashed: bool


OutagesByNode = Mapping[NodeId, Sequence[Outage]]


def outages(faults: Iterable[Fault]) -> OutagesByNode:
    """Each node's outages in the order of time; a freeze and then a crash are one."""
    found: dict[NodeId, list[Outage]] = {}
    for fault in faults:
        own = found.setdefault(fault.node, [])
        if fault.kind is FaultKind.RECOVER:
            own[-1] = own[-1]._replace(end=fault.at)
        elif own and own[-1].end is None:
            own[-1] = own[-1]._replace(crashed=True)
        else:
            own.append(Outage(fault.at, None, fault.kind is FaultKind.CRASH))
    return found


def outage_at(planned: OutagesByNode, node: NodeId, at: SimTime) -> Outage | None:
    """The outage of `node` at `at`, if any; a node is up at the instant of its recovery."""
    own = planned.get(node, ())
    return next((absence for absence in own if absence.start <= at and (absence.end is None or at < absence.end)), None)


@dataclass(frozen=True, slots=True)
class Absence:
    """The application of `node` detaches at `leaves` and attaches at `returns` (None: never)."""

    node: NodeId
    leaves: SimTime
    returns: SimTime | None = None
    broker: NodeId | None = None
    """The broker of its return in a given tree; None means the old one."""


class AbsenceError(ValueError):
    """An absence of `node` contradicts the tree."""

    def __init__(self, node: NodeId, problem: str) -> None:
        super().__init__(problem)
        self.node = node


def absence_commands(absences: Iterable[Absence]) -> Iterator[Command]:
    """The absences as agents' commands."""
    for absence in absences:
        yield Command(absence.leaves, absence.node, Detach())
        if absence.returns is not None:
            yield Command(absence.returns, absence.node, Attach())


def with_absences(
    tree: Sequence[ParentChange], absences: Iterable[Absence], roles: Sequence[Role], departure: SimTime
) -> tuple[ParentChange, ...]:
    """The given tree with clients' departures and returns, in the order of time.

    Each node's absences are in this order, too. Raises AbsenceError for the first that contradicts the tree.
    """
    brokers = frozenset(node for node, its in enumerate(roles) if Role.BROKER in its)
    changes: list[ParentChange] = list(tree)
    own: defaultdict[NodeId, list[ParentChange]] = defaultdict(list)
    for change in tree:
        own[change.node].append(change)
    for absence in absences:
        before = own[absence.node]
        _check_broker(absence, bool(tree), brokers)
        if tree and absence.node not in brokers:
            _check_times(absence, before, departure)
            places = _places(absence, before, departure)
            before += places
            changes += places
    return tuple(sorted(changes, key=lambda change: change.at))


def _places(absence: Absence, changes: Sequence[ParentChange], departure: SimTime) -> list[ParentChange]:
    node, returns = absence.node, absence.returns
    before = sorted((change for change in changes if change.at <= absence.leaves), key=lambda change: change.at)
    places = [ParentChange(absence.leaves + departure, node, None)]
    if returns is not None:
        old = before[-1].parent if before else None
        places.append(ParentChange(returns, node, old if absence.broker is None else absence.broker))
    return places


def _check_broker(absence: Absence, is_tree_given: bool, brokers: frozenset[NodeId]) -> None:
    node, broker = absence.node, absence.broker
    if broker is None:
        return
    if not is_tree_given:
        raise AbsenceError(node, "without SN.tree there is no place to return to: write 'attach' without a broker")
    if node in brokers:
        raise AbsenceError(node, f"node {node} is a broker and keeps its place: write 'attach' without a broker")
    if broker not in brokers:
        raise AbsenceError(node, f"node {broker} is not a broker, so node {node} cannot return to it")


def _check_times(absence: Absence, changes: Sequence[ParentChange], departure: SimTime) -> None:
    node, returns, left = absence.node, absence.returns, absence.leaves + departure
    if returns is not None and returns <= left:
        raise AbsenceError(node, f"node {node} leaves its place only at {format_time(left)}: let it attach after that")
    for change in changes:
        if absence.leaves < change.at and (returns is None or change.at <= returns):
            problem = f"SN.tree gives node {node} a parent at {format_time(change.at)}, when it is away"
            raise AbsenceError(node, f"{problem}: write 'attach' with its broker instead")
