"""Planned faults and absences: their validity, nodes' outages and clients' absences.

A node that is up can crash or freeze, a frozen node can crash, and a node that is down can recover. Outages decide when
a node that is down carries out its commands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from roambus.bridge.errors import UserError
from roambus.bridge.scenario.definition import Command
from roambus.bridge.scenario.plans import Fault, FaultKind, ParentChange
from roambus.python_protocol.events import Attach, Detach
from roambus.python_protocol.vocabulary import NodeId, Role, SimTime, format_time

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
    return next((one for one in own if one.start <= at and (one.end is None or at < one.end)), None)


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
    for one in absences:
        yield Command(one.leaves, one.node, Detach())
        if one.returns is not None:
            yield Command(one.returns, one.node, Attach())


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
    """The absence's changes of place, beside the node's own `changes`."""
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
    """Raise AbsenceError if the absence and the node's own `changes` conflict in time."""
    node, returns, left = absence.node, absence.returns, absence.leaves + departure
    if returns is not None and returns <= left:
        raise AbsenceError(node, f"node {node} leaves its place only at {format_time(left)}: let it attach after that")
    for change in changes:
        if absence.leaves < change.at and (returns is None or change.at <= returns):
            problem = f"SN.tree gives node {node} a parent at {format_time(change.at)}, when it is away"
            raise AbsenceError(node, f"{problem}: write 'attach' with its broker instead")
