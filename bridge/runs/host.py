"""The host: drives the agents of one run over any back-end.

It keeps one heap of everything that is due (boots, the workload's commands, the agents' timers), so that a back-end
needs to know only one wake-up time. Order at one instant: faults, deliveries by (receiving node, arrival order),
failures, then what is due by (time, node, order set): a node's boot, its new place in a given tree, commands, timers.

What falls due at a frozen node waits until it recovers, and is handled at once then, in the order in which it fell due;
deliveries are lost. A node that has crashed has no timers any more, and hears nothing of its transmissions either;
frames that its MAC had taken may still leave.
"""

from __future__ import annotations

import gc
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from random import Random
from typing import Any

from roambus.bridge.backends.interface import Backend, Delivery, Hello, Step, Totals, Transmission
from roambus.bridge.errors import AgentError, UserError
from roambus.bridge.scenario.faults import check_faults
from roambus.bridge.scenario.given_tree import rewirings
from roambus.bridge.scenario.happenings import FaultKind
from roambus.bridge.scenario.scenario import Scenario
from roambus.bridge.scenario.workload import commands
from roambus.bridge.trace.schema import (
    ATTACH,
    CRASH,
    DELIVER,
    DETACH,
    DROP,
    ENERGY,
    FREEZE,
    MOVE,
    PUBLISH,
    RADIO,
    RECEIVE,
    RECOVER,
    ROLE,
    SEND,
    SUBSCRIBE,
    UNSUBSCRIBE,
)
from roambus.bridge.trace.writer import TraceWriter
from roambus.python_protocol.actions import Action, CancelTimer, Deliver, Note, Send, SetTimer
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import (
    Attach,
    Crashed,
    Detach,
    Event,
    Publish,
    Received,
    Recovered,
    SendFailed,
    Sited,
    Started,
    Stopped,
    Subscribe,
    TimerFired,
    TimerKey,
    Unsubscribe,
)
from roambus.python_protocol.notes import node_list
from roambus.python_protocol.parameters import parse_parameters
from roambus.python_protocol.roles import BROADCAST, NodeId, format_roles
from roambus.python_protocol.simtime import SimTime, format_time
from roambus.python_protocol.sites import EXAMPLE as EXAMPLE_SITES

MAX_TIMERS_AT_ONCE = 100_000
"""Timers that may fire at one instant before the host takes the agents for stuck in a loop of zero delays."""

MAX_MESSAGE_BYTES = 65535


@dataclass(frozen=True, slots=True, eq=False)
class _Postponed:
    """The key of the timer of a send that waits, in a run in which its node could fail before."""

    send: Send


Due = tuple[SimTime, NodeId, int, Event]


class Host:
    """One run: a scenario, an agent on each node, a back-end, and the trace of what happens."""

    def __init__(self, scenario: Scenario, agent_class: type[Agent], backend: Backend, trace: TraceWriter) -> None:
        """Makes the agents; raises UserError for parameters that the agent does not have."""
        self._scenario = scenario
        self._backend = backend
        self._trace = trace
        self._handlers = [agent.handle for agent in make_agents(scenario, agent_class)]
        self._due: list[Due] = []
        self._timers: list[dict[TimerKey, int]] = [{} for _ in self._handlers]
        """The order of each timer that is set."""
        self._dead: set[int] = set()
        """The orders of what is still in the heap, but was replaced or cancelled."""
        self._order = 0
        self._faults = deque(scenario.faults)
        """Those to come."""
        self._down: set[NodeId] = set()
        self._waiting: dict[NodeId, list[tuple[int, Event]]] = {}
        """What fell due at each frozen node, with its order."""
        self._now: SimTime = 0
        self._outgoing: list[Transmission] = []
        self._hello = Hello("", (), 0)
        self._clock_rates: list[float] = []
        self._perform: dict[type[Any], Callable[[NodeId, Any], None]] = {
            Send: self._send,
            SetTimer: self._set_timer,
            CancelTimer: self._cancel_timer,
            Deliver: self._deliver,
            Note: self._note,
        }

    def run(self) -> Totals:
        """Runs to the time limit; raises AgentError or BackendError. The back-end is closed in every case."""
        try:
            with collector_paused():
                self._run_steps()
        except BaseException as error:
            self._backend.fail(error)
            raise
        finally:
            totals = self._backend.close()
        self._trace_totals(totals)
        return totals

    def _run_steps(self) -> None:
        self._hello = self._backend.open()
        self._clock_rates = [info.clock_rate for info in self._hello.nodes]
        self._perform[Deliver], self._perform[Note] = self._noted(self._deliver), self._noted(self._note)
        self._schedule_workload()
        advance, outgoing = self._backend.advance, self._outgoing
        wake_up = self._next_due()
        while (step := advance(outgoing, wake_up)) is not None:
            outgoing.clear()
            wake_up = self._handle_step(step)

    def _schedule_workload(self) -> None:
        starts = [info.start for info in self._hello.nodes]
        check_faults(self._scenario.faults, starts)
        for node, start in enumerate(starts):
            self._schedule(start, node, Started())
            if self._scenario.sites is not None:
                self._schedule(start, node, Sited(self._scenario.sites))
        for time, node, place in rewirings(self._scenario):
            self._schedule(max(time, starts[node]), node, place)
        for time, node, command in commands(self._scenario, self._hello.nodes):
            self._schedule(time, node, command)

    def _schedule(self, time: SimTime, node: NodeId, event: Event) -> int:
        self._order += 1
        heappush(self._due, (time, node, self._order, event))
        return self._order

    def _next_due(self) -> SimTime | None:
        due, dead = self._due, self._dead
        while due and due[0][2] in dead:
            dead.remove(heappop(due)[2])
        if self._faults and (not due or self._faults[0].at < due[0][0]):
            return self._faults[0].at
        return due[0][0] if due else None

    def _handle_step(self, step: Step) -> SimTime | None:
        """Everything of one instant, or a part of it; returns when the next thing is due."""
        self._now = step.now
        if self._faults:
            self._handle_faults()
        deliveries = step.deliveries
        if self._down:
            deliveries = [delivery for delivery in deliveries if delivery.receiver not in self._down]
        if self._trace.receives:
            self._handle_traced(deliveries)
        elif deliveries:
            self._handle_deliveries(deliveries)
        for node, destination, message, reason in step.failures:
            self._trace.add(step.now, node, DROP, message.message_type, peer=destination, detail=reason)
            self._handle_failure(node, SendFailed(destination, message, reason))
        return self._next_due() if step.more else self._handle_due()

    def _handle_traced(self, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            message_type = delivery.message.message_type
            self._trace.add(self._now, delivery.receiver, RECEIVE, message_type, peer=delivery.sender)
            self._handle_deliveries((delivery,))

    def _handle_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        # Most of a run's time passes here: one call of the agent for each delivery, and nothing else unless it acts.
        now, handlers = self._now, self._handlers
        receiver, event = 0, None
        try:
            for receiver, sender, message, rssi, lqi in deliveries:
                event = Received(sender, message, rssi, lqi)
                if actions := handlers[receiver](event, now):
                    self._perform_all(receiver, actions)
        except Exception as error:
            raise describe_failure(receiver, now, event, error) from error

    def _handle_failure(self, node: NodeId, failed: SendFailed) -> None:
        if node not in self._down:
            self._tell(node, failed)
        elif node in self._waiting:
            self._order += 1
            self._waiting[node].append((self._order, failed))

    def _handle_due(self) -> SimTime | None:
        for _ in range(MAX_TIMERS_AT_ONCE):
            if (due := self._next_due()) != self._now:
                return due
            _, node, order, event = heappop(self._due)
            if node in self._waiting:
                self._waiting[node].append((order, event))
            else:
                self._handle(node, event)
        text = f"more than {MAX_TIMERS_AT_ONCE} timers fire at {format_time(self._now)}: {event} on node {node}"
        raise AgentError(text, node, self._now, str(event))

    def _handle(self, node: NodeId, event: Event) -> None:
        if type(event) is not TimerFired:
            self._trace_command(node, event)
        else:
            del self._timers[node][event.key]
            if type(event.key) is _Postponed:
                self._transmit(node, event.key.send, self._now)
                return
        self._tell(node, event)

    def _handle_faults(self) -> None:
        faults = self._faults
        while faults and faults[0].at == self._now:
            fault = faults.popleft()
            match fault.kind:
                case FaultKind.CRASH:
                    self._crash(fault.node)
                case FaultKind.FREEZE:
                    self._freeze(fault.node)
                case FaultKind.RECOVER:
                    self._recover(fault.node)

    def _crash(self, node: NodeId) -> None:
        self._trace.add(self._now, node, CRASH)
        self._down.add(node)
        self._tell(node, Crashed())
        self._waiting.pop(node, None)
        self._dead.update(self._timers[node].values())
        self._timers[node].clear()

    def _freeze(self, node: NodeId) -> None:
        self._trace.add(self._now, node, FREEZE)
        self._down.add(node)
        self._tell(node, Stopped())
        self._waiting[node] = []

    def _recover(self, node: NodeId) -> None:
        self._trace.add(self._now, node, RECOVER)
        self._down.remove(node)
        waiting = self._waiting.pop(node, ())
        self._tell(node, Recovered())
        for order, event in waiting:
            if order in self._dead:
                self._dead.remove(order)
            else:
                self._handle(node, event)

    def _tell(self, node: NodeId, event: Event) -> None:
        try:
            self._perform_all(node, self._handlers[node](event, self._now))
        except Exception as error:
            raise describe_failure(node, self._now, event, error) from error

    def _perform_all(self, node: NodeId, actions: Iterable[Action]) -> None:
        for action in actions:
            perform = self._perform.get(type(action))
            if perform is None:
                raise TypeError(f"{action!r} is no action")
            perform(node, action)

    def _send(self, node: NodeId, action: Send) -> None:
        if action.after == 0:
            self._transmit(node, action, self._now)
        elif self._scenario.faults:
            self._set_timer(node, SetTimer(_Postponed(action), action.after))
        else:
            # Nothing can come between, so that no wake-up is needed: the back-end gets it now, with its time.
            self._transmit(node, action, self._now + round(action.after * self._clock_rates[node]))

    def _transmit(self, node: NodeId, action: Send, time: SimTime) -> None:
        message, destination = action.message, action.destination
        if time < self._now:
            raise ValueError(f"a {message.message_type} sent after {action.after} ns")
        if node in self._down:
            raise ValueError(f"a {message.message_type} from a node that is down")
        size = len(message.encode())
        if size > MAX_MESSAGE_BYTES:
            raise ValueError(f"a {message.message_type} of {size} bytes, at most {MAX_MESSAGE_BYTES} can be sent")
        if destination != BROADCAST and not 0 <= destination < len(self._handlers):
            raise ValueError(f"a {message.message_type} to {destination}, which is no node")
        if time >= self._hello.time_limit:
            return
        self._outgoing.append(Transmission(node, time + self._hello.processing_delay, destination, message, size))
        peer = None if destination == BROADCAST else destination
        self._trace.add(time, node, SEND, message.message_type, None, peer, size)

    def _set_timer(self, node: NodeId, action: SetTimer) -> None:
        if action.after < 0:
            raise ValueError(f"timer {action.key!r} set to {action.after} ns")
        timers, key = self._timers[node], action.key
        replaced = timers.get(key)
        if replaced is not None:
            self._dead.add(replaced)
        time = self._now + round(action.after * self._clock_rates[node])
        timers[key] = self._schedule(time, node, TimerFired(key))

    def _cancel_timer(self, node: NodeId, action: CancelTimer) -> None:
        cancelled = self._timers[node].pop(action.key, None)
        if cancelled is not None:
            self._dead.add(cancelled)

    def _deliver(self, node: NodeId, action: Deliver) -> None:
        self._trace.add(self._now, node, DELIVER, None, str(action.notification.id), hops=action.hops)

    def _note(self, node: NodeId, note: Note) -> None:
        row = (note.name, note.message_type, note.notification_id, note.peer, note.bytes, note.hops, note.detail)
        self._trace.add(self._now, node, *row)

    def _noted(self, perform: Callable[[NodeId, Any], None]) -> Callable[[NodeId, Any], None]:
        """`perform`, and a line in the simulator's own log if it wants one."""
        take_note = self._hello.take_note
        if take_note is None:
            return perform

        def performed(node: NodeId, action: Action) -> None:
            perform(node, action)
            take_note(self._now, node, str(action))

        return performed

    def _trace_command(self, node: NodeId, event: Event) -> None:
        now, add = self._now, self._trace.add
        match event:
            case Started():
                add(now, node, ROLE, detail=format_roles(self._scenario.nodes[node].roles))
            case Subscribe():
                add(now, node, SUBSCRIBE, detail=str(event.filter))
            case Unsubscribe():
                add(now, node, UNSUBSCRIBE, detail=str(event.filter))
            case Detach():
                add(now, node, DETACH)
            case Attach():
                add(now, node, ATTACH)
            case Publish():
                subscribers = node_list(event.subscribers)
                add(now, node, PUBLISH, notification_id=str(event.notification.id), detail=subscribers)

    def _trace_totals(self, totals: Totals) -> None:
        end = self._hello.time_limit
        for move in totals.moves:
            self._trace.add(move.time, move.node, MOVE, detail=f"{move.x:.3f} {move.y:.3f}")
        for node, energy in enumerate(totals.energy_mj):
            self._trace.add(end, node, ENERGY, detail=f"{energy:.6f}")
        for name, counts in sorted(totals.counts.items()):
            for node, count in enumerate(counts):
                self._trace.add(end, node, RADIO, message_type=name, detail=str(count))


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pauses the search for cyclic garbage: a run makes millions of objects, hardly any in a cycle."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def make_agents(scenario: Scenario, agent_class: type[Agent]) -> list[Agent]:
    """An agent for each node, its generator seeded from (run seed, node); raises UserError."""
    try:
        parameters = parse_parameters(agent_class.parameters_type, scenario.agent_parameters)
    except ValueError as error:
        raise UserError(f"agent {scenario.agent or agent_class.__name__}: {error}") from None
    if agent_class.needs_sites and scenario.sites is None:
        name = scenario.agent or agent_class.__name__
        raise UserError(f'agent {name} needs sites; write them in the ini, such as SN.sites = "{EXAMPLE_SITES}"')
    try:
        return [
            agent_class(node, settings.roles, parameters, Random(f"agent/{scenario.seed}/{node}"))
            for node, settings in enumerate(scenario.nodes)
        ]
    except Exception as error:
        name, cause = scenario.agent or agent_class.__name__, f"{type(error).__name__}: {error}{_place(error)}"
        raise UserError(f"agent {name}: it cannot be made of (node, roles, parameters, random): {cause}") from error


def describe_failure(node: NodeId, now: SimTime, event: Event | None, error: Exception) -> AgentError:
    """With one line that tells the author of an agent where it raised, and on what."""
    what = f"{type(error).__name__}: {error}{_place(error)}"
    return AgentError(f"node {node}, simulation time {format_time(now)}, on {event}: {what}", node, now, str(event))


def _place(error: Exception) -> str:
    """The agent's line that raised."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    return f" at {Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
