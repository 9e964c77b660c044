"""Faults, done to the nodes at their times, and what becomes of events at a node that is down.

A node that has crashed has no timers any more, and hears nothing of its transmissions; frames that its MAC had taken
may still leave. What falls due at a frozen node waits until it recovers, and is handled at once then, in the order in
which it fell due. What arrives at a node that is down is lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from roambus.bridge.host.agenda import Agenda
from roambus.bridge.scenario.happenings import Fault, FaultKind
from roambus.bridge.trace.schema import CRASH, FREEZE, RECOVER
from roambus.bridge.trace.writer import TraceWriter
from roambus.python_protocol.events import Crashed, Event, Recovered, SendFailed, Stopped
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

Handle = Callable[[NodeId, Event], None]


class Outages:
    """The faults to come, and the nodes that are down; `tell` and `handle` are what the host does with an event."""

    def __init__(
        self, faults: Sequence[Fault], agenda: Agenda, trace: TraceWriter, tell: Handle, handle: Handle
    ) -> None:
        self.down: set[NodeId] = set()
        """The nodes that have crashed or are frozen."""
        self.waiting: dict[NodeId, list[tuple[int, Event]]] = {}
        """What fell due at each frozen node, with its number."""
        self._to_come = deque(faults)
        self._agenda = agenda
        self._trace = trace
        self._tell = tell
        self._handle = handle
        self._do = {FaultKind.CRASH: self._crash, FaultKind.FREEZE: self._freeze, FaultKind.RECOVER: self._recover}

    def next_time(self) -> SimTime | None:
        """When the next fault is planned."""
        return self._to_come[0].at if self._to_come else None

    def happen(self) -> None:
        """Does what is planned for this instant."""
        while self._to_come and self._to_come[0].at == self._agenda.now:
            fault = self._to_come.popleft()
            self._do[fault.kind](fault.node)

    def tell_failure(self, node: NodeId, failed: SendFailed) -> None:
        """The node is told, now or when it thaws; one that has crashed never is."""
        if node not in self.down:
            self._tell(node, failed)
        elif node in self.waiting:
            self.waiting[node].append((self._agenda.next_number(), failed))

    def _crash(self, node: NodeId) -> None:
        self._trace.add(self._agenda.now, node, CRASH)
        self.down.add(node)
        self._tell(node, Crashed())
        self.waiting.pop(node, None)
        self._agenda.cancel_timers(node)

    def _freeze(self, node: NodeId) -> None:
        self._trace.add(self._agenda.now, node, FREEZE)
        self.down.add(node)
        self._tell(node, Stopped())
        self.waiting[node] = []

    def _recover(self, node: NodeId) -> None:
        self._trace.add(self._agenda.now, node, RECOVER)
        self.down.remove(node)
        waiting = self.waiting.pop(node, ())
        self._tell(node, Recovered())
        for event in self._agenda.still_alive(waiting):
            self._handle(node, event)
