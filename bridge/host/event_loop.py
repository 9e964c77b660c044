"""The event loop of a run: it drives the agents over any back-end, and writes the trace.

The back-end owns the clock; the host names its next event's time, and gets a step then or earlier. Order at one
instant: faults, deliveries by (receiving node, arrival order), failed sends, due events by (time, node, order set). So
equal steps give equal traces over every back-end.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from operator import itemgetter
from random import Random

from roambus.bridge.backend import DEATHS, SENT, Backend, Delivery, Failure, Framing, Hello, Step, Totals
from roambus.bridge.host.action_executor import ActionExecutor, Postponed, refuse
from roambus.bridge.host.agents import NOT_HEARING, Wrapper, describe_failure, hearing_of, make_agents, wrap
from roambus.bridge.host.codec import CodecCheck
from roambus.bridge.host.command_plan import TimedEvent, commands, own_part, trace_command
from roambus.bridge.host.courses import Arriving, Courses
from roambus.bridge.host.event_queue import EventQueue
from roambus.bridge.host.fault_injector import FaultInjector
from roambus.bridge.host.fragments import Fragments
from roambus.bridge.host.overhearing import events_of, listen
from roambus.bridge.host.positions import Receivers
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.tree import check_faults, rewirings
from roambus.bridge.system.errors import AgentError
from roambus.bridge.system.interrupts import NOTICED
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import TraceRow
from roambus.python_protocol.agent import Agent, check_answer
from roambus.python_protocol.events import Arrived, Event, Publish, Received, SendFailed, Sent, Started, TimerFired
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime, format_time
from roambus.python_protocol.trace_rows import (
    CRASH,
    DIE,
    DROP,
    ENERGY,
    LIST_SEPARATOR,
    MOVE,
    RADIO,
    RECEIVE,
    STORE,
)

MAX_TIMERS_AT_ONCE = 100_000
"""Timers at one instant beyond which agents count as stuck in a loop of zero delays."""


class Host:
    """One run: scenario, agents, back-end and trace."""

    def __init__(  # noqa: PLR0913  # the parts of a run, and what is looked at
        self,
        scenario: Scenario,
        agent_class: type[Agent],
        backend: Backend,
        trace: TraceWriter,
        *,
        check: bool = False,
        wrappers: Sequence[Wrapper] = (),
        chance: Callable[[NodeId], Random] | None = None,
    ) -> None:
        """Make the agents; raises UserError for unknown parameters.

        With `check`, all messages are compared with their bytes. The first of the `wrappers` is innermost; `chance`
        makes a node's generator.
        """
        self._scenario = scenario
        self._backend = backend
        self._trace = trace
        self._agents = make_agents(scenario, agent_class, chance)
        self._codec = CodecCheck(agent_class, everything=check)
        self._receivers = Receivers(scenario, agent_class.farthest_m) if agent_class.needs_position else None
        around = (self._receivers.wrap, *wrappers) if self._receivers else wrappers
        self._handlers = [wrap(agent, around) for agent in self._agents]
        self._hearing = hearing_of(self._agents) if not around else NOT_HEARING
        self._fragments = Fragments(agent_class.messages, trace) if scenario.fragments else None
        self._queue = EventQueue(len(self._handlers))
        down: set[NodeId] = set()
        self._courses = Courses(scenario, self._queue, down)
        if self._receivers:
            self._courses.follow(self._receivers.follow)
        calls = self._call_agent, self._handle
        self._faults = FaultInjector(scenario.faults, self._queue, trace, *calls, down, self._courses.stop)
        self.failures: Counter[str] = Counter()
        """Failed sends by reason."""
        self._is_deaf = SendFailed not in agent_class.handlers
        """Whether no agent hears of failures, so that their rows name the notifications that were lost."""
        self._can_fail = bool(scenario.faults) or not scenario.batteries_last
        self._next_due = self._due_or_fault if scenario.faults else self._queue.next_time
        self.simulator = ""
        """The open back-end's name."""
        self.framing: Framing | None = None
        """The network stack's framing, if announced."""
        self._executor: ActionExecutor  # made when the back-end has told what the nodes' clocks are like

    @property
    def agents(self) -> Sequence[Agent]:
        """The agents, by node."""
        return self._agents

    def run(self) -> Totals:
        """Run to the time limit and close the back-end; raises AgentError or BackendError.

        `fail` precedes `close`, so that a simulator gets the error and a record can end with it.
        """
        try:
            with collector_paused():
                end = self._run_steps()
        except BaseException as error:
            self._backend.fail(error)
            raise
        finally:
            totals = self._backend.close()
        self._trace_unsent(end, totals)
        if moves := self._courses.moves(end):
            totals = replace(totals, moves=sorted([*totals.moves, *moves], key=itemgetter(0, 1)))
        trace_totals(self._trace, end, totals)
        return totals

    def _trace_unsent(self, end: SimTime, totals: Totals) -> None:
        """Rows for notifications that still wait on nodes, so that no row has to be guessed."""
        died = totals.counts.get(DEATHS) or (0,) * len(self._agents)
        for agent in (agent for agent in self._agents if not died[agent.node]):
            for notification, subscriber in agent.unsent():
                self._trace.add(TraceRow(end, agent.node, STORE, None, str(notification.id), subscriber))

    def _run_steps(self) -> SimTime:
        """Returns when the run ends."""
        hello, down, with_faults = self._backend.open(), self._faults.down, self._can_fail
        self.simulator, self.framing = hello.simulator, hello.framing
        if hello.report_sent and (asking := [agent.node for agent in self._agents if agent.needs_sent]):
            hello.report_sent(asking)
        listen(hello, self._agents, self._scenario.agent)
        self._courses.begin(hello)
        self._executor = ActionExecutor(hello, self._queue, self._trace, self._codec, down, with_faults=with_faults)
        self._executor.executing |= self._courses.executing
        if self._fragments is not None:
            longest = hello.framing.most_bytes if hello.framing else self._scenario.room_bytes
            self._fragments.fit(longest)
            self._executor.carry_in_fragments(self._fragments, longest)
        self._schedule_workload(hello)
        advance, outgoing = self._backend.advance, self._executor.outgoing
        wake_up = self._next_due()
        while (step := advance(outgoing, wake_up)) is not None:
            outgoing.clear()
            wake_up = self._handle_step(step)
            if NOTICED:  # Python swallows what is raised in a callback of its own
                raise KeyboardInterrupt
        return hello.time_limit

    def _schedule_workload(self, hello: Hello) -> None:
        """Schedule all that is known in advance: boots, tree places, commands."""
        starts = [info.start for info in hello.nodes]
        # Only now is it known when nodes boot: with Castalia the simulator draws that, and says so in its Hello.
        check_faults(self._scenario.faults, starts)
        plan: list[TimedEvent] = []
        for node, start in enumerate(starts):
            plan.append((start, node, Started()))
        plan += ((max(time, starts[node]), node, place) for time, node, place in rewirings(self._scenario))
        plan += commands(self._scenario, hello.nodes)
        for time, node, event in plan if hello.own is None else own_part(plan, *hello.own):
            self._queue.schedule(time, node, event)
            if isinstance(event, Publish):
                self._executor.unpublished.add(str(event.notification.id))

    def _due_or_fault(self) -> SimTime | None:
        """The next event or fault, past which the back-end must not run."""
        due, fault = self._queue.next_time(), self._faults.next_time()
        return fault if due is None or (fault is not None and fault < due) else due

    # What happens at one instant

    def _handle_step(self, step: Step) -> SimTime | None:
        now = self._queue.now = step.now
        if step.deaths or step.moves:
            self._learn(step)
        deliveries = self._delivered(step.deliveries) if self._can_fail else step.deliveries
        if self._fragments is not None:
            deliveries = self._fragments.join(deliveries, now)
        if self._trace.receives:
            self._handle_traced(deliveries)
        elif deliveries:
            self._handle_deliveries(deliveries)
        for receiver, overheard in events_of(step.overheard, self._faults.down) if step.overheard else ():
            self._call_agent(receiver, overheard)
        for failure in step.failures:
            self._hear_of(failure, now)
        timers, next_due = 0, self._next_due
        # What a wall clock has gone past is due, too; a simulator's never goes past anything.
        while (due := next_due()) is not None and due <= now and not step.more:
            timers += 1
            self._handle_due(timers)
        return due

    def _hear_of(self, failure: Failure, now: SimTime) -> None:
        """Report to a node what became of its frame; of a message in fragments it hears once."""
        node, destination, message, reason = failure
        whole = failure if self._fragments is None else self._fragments.outcome(failure)
        if reason == SENT:
            if whole is not None:
                self._faults.report(node, Sent(destination, whole.message))
            return
        self.failures[reason] += 1
        is_silent = self._is_deaf or reason == CRASH  # nobody else names the notifications
        lost = _named_in(whole.message) if is_silent and whole is not None else None
        self._trace.add(TraceRow(now, node, DROP, message.message_type, lost, peer=destination, detail=reason))
        if whole is not None:
            self._faults.report(node, SendFailed(destination, whole.message, reason))

    def _learn(self, step: Step) -> None:
        for node in step.deaths:
            self._faults.die(node)
        self._courses.learn(step.moves)
        if self._receivers:
            self._receivers.learn(step.moves)

    def _delivered(self, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        """Apply this instant's faults; return the arrivals at nodes that are up."""
        self._faults.happen()
        down = self._faults.down
        return [delivery for delivery in deliveries if delivery.receiver not in down] if down else deliveries

    def _handle_traced(self, deliveries: Sequence[Delivery]) -> None:
        """Handle one by one, so that answers follow their row."""
        for delivery in deliveries:
            receiver, sender, message, _, _ = delivery
            carried = _named_in(message)
            self._trace.add(TraceRow(self._queue.now, receiver, RECEIVE, message.message_type, carried, peer=sender))
            self._handle_deliveries((delivery,))

    def _handle_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        # Most of a run's time passes here: one call of a handler for each delivery, and nothing else unless it acts. An
        # event is made only for agents that see events. One `try` stands around the loop, and not one in it; what it
        # says of a failure is in variables of the loop.
        now, executing, agents, handlers = self._queue.now, self._executor.executing, self._agents, self._handlers
        hearing, collected = self._hearing
        receiver, delivery, actions = 0, None, None
        try:
            for delivery in deliveries:
                receiver, sender, message, rssi, lqi = delivery
                if (hear := hearing.get(type(message))) is None:
                    actions = handlers[receiver](Received(sender, message, rssi, lqi), now)
                else:
                    if (answer := hear(agents[receiver], message, sender, now)) is not None:
                        check_answer(hear, answer)
                    if not (asked := collected[receiver]):
                        continue
                    actions = asked.copy()
                    asked.clear()
                for action in actions:
                    executing.get(type(action), refuse)(receiver, action)
        except BaseException as error:
            event = None if delivery is None else Received(*delivery[1:])
            raise describe_failure(self._agents[receiver], now, event, error, actions) from error

    def _handle_due(self, number: int) -> None:
        _, node, order, event = self._queue.take()
        now = self._queue.now
        if number > MAX_TIMERS_AT_ONCE:
            text = f"more than {MAX_TIMERS_AT_ONCE} timers fire at {format_time(now)}: {event} on node {node}"
            raise AgentError(text, node, now, str(event))
        # A frozen node does nothing until it recovers. A crashed one has nothing in `waiting`, and its timers are gone.
        if node in self._faults.dead:
            return
        if node in self._faults.waiting:
            self._faults.waiting[node].append((order, event))
        else:
            self._handle(node, event)

    def _handle(self, node: NodeId, event: Event) -> None:
        """Handle an event; the agent never sees timers of postponed sends."""
        if type(event) is not TimerFired:
            if type(event) is Publish:
                self._executor.unpublished.discard(str(event.notification.id))
            trace_command(self._trace, self._queue.now, node, event, self._scenario.nodes[node].roles)
            if (move := self._courses.executing.get(type(event))) is not None:
                move(node, event)
                return
        else:
            self._queue.forget_timer(node, event.key)
            if type(event.key) is Arriving:
                event = Arrived(event.key.x, event.key.y)
            elif type(event.key) is Postponed:
                try:
                    self._executor.send(node, event.key.send)
                except Exception as error:
                    raise describe_failure(self._agents[node], self._queue.now, None, error) from error
                return
        self._call_agent(node, event)

    def _call_agent(self, node: NodeId, event: Event) -> None:
        now, executing, actions = self._queue.now, self._executor.executing, None
        try:
            actions = self._handlers[node](event, now)
            for action in actions:
                executing.get(type(action), refuse)(node, action)
        except BaseException as error:
            raise describe_failure(self._agents[node], now, event, error, actions) from error


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the cyclic garbage collector: hardly any of a run's millions of objects are in cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def trace_totals(trace: TraceWriter, end: SimTime, totals: Totals) -> None:
    """Rows for nodes' movements, and finally for energy and radio counts."""
    for move in totals.moves:
        trace.add(TraceRow(move.time, move.node, MOVE, detail=f"{move.x:.3f} {move.y:.3f}"))
    for node, energy in enumerate(totals.energy_mj):
        trace.add(TraceRow(end, node, ENERGY, detail=f"{energy:.6f}"))
    for node, died in enumerate(totals.counts.get(DEATHS, ())):
        if died:
            trace.add(TraceRow(died, node, DIE))
    for name in sorted(totals.counts.keys() - {DEATHS}):
        for node, count in enumerate(totals.counts[name]):
            trace.add(TraceRow(end, node, RADIO, message_type=name, detail=str(count)))


def _named_in(message: Message) -> str | None:
    """The list of the notifications in a message; None without any."""
    return LIST_SEPARATOR.join(_notifications_in(message)) or None


def _notifications_in(value: object) -> Iterator[str]:
    """Ids of the notifications in a message, nested messages included."""
    if isinstance(value, Notification):
        yield str(value.id)
    elif isinstance(value, Message):
        yield from (
            notification for field in fields(value) for notification in _notifications_in(getattr(value, field.name))
        )
    elif isinstance(value, tuple):
        yield from (notification for part in value for notification in _notifications_in(part))
