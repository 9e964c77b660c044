"""The faults of a run: crashed, frozen and recovering nodes, and those whose batteries are empty.

A crashed node loses its timers; the events of a frozen node wait for its recovery.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from roambus.bridge.host.event_queue import EventQueue
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import TraceRow
from roambus.python_protocol.events import (
    Crashed,
    Event,
    Recovered,
    SendFailed,
    Sent,
    Stopped,
)
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

EVENT_OF_FAULT: dict[FaultKind, Event] = {
    FaultKind.CRASH: Crashed(),
    FaultKind.FREEZE: Stopped(),
    FaultKind.RECOVER: Recovered(),
}
"""The agent's event for each fault, first at its instant. Then come deliveries, losses and due events: tree places,
commands, timers."""

Handle = Callable[[NodeId, Event], None]


class FaultInjector:
    """Coming faults and nodes that are down; `call` runs the agent's handler, `handle` the host's.

    `stop` halts a node that crashes or dies.

    Unused in runs without faults.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # the parts of a run that a fault reaches
        self,
        faults: Sequence[Fault],
        queue: EventQueue,
        trace: TraceWriter,
        call: Handle,
        handle: Handle,
        down: set[NodeId],
        stop: Callable[[NodeId], None],
    ) -> None:
        self.down = down
        """Crashed or frozen nodes."""
        self.waiting: dict[NodeId, list[tuple[int, Event]]] = {}
        """Each frozen node's due events, with their numbers."""
        self.dead: set[NodeId] = set()
        """Nodes with empty batteries, which never recover."""
        self._to_come = deque(faults)
        self._queue = queue
        self._trace = trace
        self._call = call
        self._handle = handle
        self._stop = stop

    def next_time(self) -> SimTime | None:
        """The time of the next fault."""
        return self._to_come[0].at if self._to_come else None

    def happen(self) -> None:
        """Apply this instant's faults."""
        while self._to_come and self._to_come[0].at == self._queue.now:
            fault = self._to_come.popleft()
            if fault.node in self.dead:
                continue
            self._trace.add(TraceRow(self._queue.now, fault.node, fault.kind.value))
            if fault.kind is FaultKind.RECOVER:
                self._recover(fault.node)
            else:
                self._fail(fault.node, crashed=fault.kind is FaultKind.CRASH)

    def die(self, node: NodeId) -> None:
        """Stop the agent and application of a node without energy, as at a crash."""
        if node in self.dead:
            return
        self.dead.add(node)
        if node not in self.down:
            self._fail(node, crashed=True)
        self._forget(node)

    def report(self, node: NodeId, outcome: SendFailed | Sent) -> None:
        """Report to the node now or on recovery; a crashed one never learns it."""
        if node not in self.down:
            self._call(node, outcome)
        elif node in self.waiting:
            self.waiting[node].append((self._queue.next_number(), outcome))

    def _fail(self, node: NodeId, *, crashed: bool) -> None:
        """Call the agent, which can no longer send, before a crash loses its state."""
        self.down.add(node)
        self._call(node, EVENT_OF_FAULT[FaultKind.CRASH if crashed else FaultKind.FREEZE])
        if crashed:
            self._forget(node)
        else:
            self.waiting[node] = []

    def _forget(self, node: NodeId) -> None:
        self.waiting.pop(node, None)
        self._queue.cancel_timers(node)
        self._stop(node)

    def _recover(self, node: NodeId) -> None:
        self.down.remove(node)
        waiting = self.waiting.pop(node, ())
        self._call(node, EVENT_OF_FAULT[FaultKind.RECOVER])
        for event in self._queue.still_alive(waiting):
            self._handle(node, event)
