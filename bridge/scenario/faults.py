"""Faults as a scenario plans them: which plans make sense, and when nodes are down.

A node that is up can crash or freeze, one that is frozen can crash, and one that is down can recover. From a plan
follow the outages of each node, by which the workload knows when a node that is down carries a command out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from roambus.bridge.errors import UserError
from roambus.bridge.scenario.happenings import Fault, FaultKind
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime, format_time

_STATES = {FaultKind.CRASH: "has crashed", FaultKind.FREEZE: "is frozen", FaultKind.RECOVER: "is up"}
"""The state of a node after its last fault, in words."""
_POSSIBLE_AFTER = {
    FaultKind.CRASH: {FaultKind.RECOVER, FaultKind.FREEZE},
    FaultKind.FREEZE: {FaultKind.RECOVER},
    FaultKind.RECOVER: {FaultKind.CRASH, FaultKind.FREEZE},
}


def check_sequence(faults: Iterable[Fault]) -> None:
    """Raises ValueError for faults that are not in the order of time, or find their node in the wrong state."""
    last: dict[NodeId, FaultKind] = {}
    now: SimTime = 0
    for fault in faults:
        if fault.at < now:
            raise ValueError(f"{_what(fault)}: a fault at {format_time(now)} comes before it; mind the order of time")
        if (state := last.get(fault.node, FaultKind.RECOVER)) not in _POSSIBLE_AFTER[fault.kind]:
            raise ValueError(f"{_what(fault)}: it {_STATES[state]}")
        last[fault.node], now = fault.kind, fault.at


def check_faults(faults: Sequence[Fault], starts: Sequence[SimTime]) -> None:
    """Raises UserError for what `check_sequence` refuses, for no node, or for one that has not booted (`starts`)."""
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
    """A node is down from `start` until before `end`, or for ever if that is None; it `crashed`, or was frozen only."""

    start: SimTime
    end: SimTime | None
    crashed: bool


Outages = Mapping[NodeId, Sequence[Outage]]


def outages(faults: Iterable[Fault]) -> Outages:
    """The outages of each node that has any, in the order of time. One that freezes and then crashes has one."""
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


def outage_at(planned: Outages, node: NodeId, at: SimTime) -> Outage | None:
    """The outage in which `node` is down at `at`, if there is one."""
    for outage in planned.get(node, ()):
        if outage.start <= at and (outage.end is None or at < outage.end):
            return outage
    return None
