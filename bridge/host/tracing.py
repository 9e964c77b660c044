"""What the trace is told of a run beside what agents answer: boots, the applications' commands, and the totals."""

from __future__ import annotations

from roambus.bridge.backends.interface import DEATHS, Totals
from roambus.bridge.trace.schema import (
    ATTACH,
    DETACH,
    DIE,
    ENERGY,
    MOVE,
    PUBLISH,
    RADIO,
    ROLE,
    SUBSCRIBE,
    UNSUBSCRIBE,
)
from roambus.bridge.trace.writer import TraceWriter
from roambus.python_protocol.events import Attach, Detach, Event, Publish, Started, Subscribe, Unsubscribe
from roambus.python_protocol.notes import node_list
from roambus.python_protocol.roles import NodeId, Role, format_roles
from roambus.python_protocol.simtime import MICROSECOND, SimTime


def trace_command(trace: TraceWriter, now: SimTime, node: NodeId, event: Event, roles: Role) -> None:
    """A row for the boot of the node, which has these roles, or for a command of its application."""
    match event:
        case Started():
            trace.add(now, node, ROLE, detail=format_roles(roles))
        case Subscribe():
            trace.add(now, node, SUBSCRIBE, detail=str(event.filter))
        case Unsubscribe():
            trace.add(now, node, UNSUBSCRIBE, detail=str(event.filter))
        case Detach():
            trace.add(now, node, DETACH)
        case Attach():
            trace.add(now, node, ATTACH)
        case Publish():
            subscribers = node_list(event.subscribers)
            trace.add(now, node, PUBLISH, notification_id=str(event.notification.id), detail=subscribers)


def trace_totals(trace: TraceWriter, end: SimTime, totals: Totals) -> None:
    """Rows for the nodes' ways, and at the end of the run for their energy and the counts of their radios."""
    for move in totals.moves:
        trace.add(move.time, move.node, MOVE, detail=f"{move.x:.3f} {move.y:.3f}")
    for node, energy in enumerate(totals.energy_mj):
        trace.add(end, node, ENERGY, detail=f"{energy:.6f}")
    for node, died_us in enumerate(totals.counts.get(DEATHS, ())):
        if died_us:
            trace.add(died_us * MICROSECOND, node, DIE)
    for name, counts in sorted(totals.counts.items()):
        if name == DEATHS:
            continue
        for node, count in enumerate(counts):
            trace.add(end, node, RADIO, message_type=name, detail=str(count))
