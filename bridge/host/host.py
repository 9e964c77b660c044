"""The host of one run: it takes what the back-end reports of each instant, and has everybody handle it.

The back-end owns the clock. The host tells it when the next thing is due, and gets a step then, or before if something
arrives. Order at one instant: faults, deliveries by (receiving node, arrival order), failures, then what is due by
(time, node, order set): a node's boot, its new place in a given tree, commands, timers. The back-end gets everything
that is sent in a step at once, and with it the time of the next wake-up.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from roambus.bridge.backends.interface import Backend, Delivery, Hello, Step, Totals
from roambus.bridge.errors import AgentError
from roambus.bridge.host.agenda import Agenda
from roambus.bridge.host.agents import describe_failure, handler_of, make_agents
from roambus.bridge.host.checks import Tell, announced, checked
from roambus.bridge.host.codec import CodecCheck, CodecError
from roambus.bridge.host.outages import Outages
from roambus.bridge.host.performer import Performer, Postponed
from roambus.bridge.host.tracing import trace_command, trace_totals
from roambus.bridge.host.workload import commands
from roambus.bridge.scenario.faults import check_faults
from roambus.bridge.scenario.given_tree import rewirings
from roambus.bridge.scenario.scenario import Scenario
from roambus.bridge.trace.schema import DROP, RECEIVE
from roambus.bridge.trace.writer import TraceWriter
from roambus.python_protocol.actions import Send
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, Received, SendFailed, Sited, Started, TimerFired
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime, format_time

MAX_TIMERS_AT_ONCE = 100_000
"""Timers that may fire at one instant before the host takes the agents for stuck in a loop of zero delays."""


class Host:
    """One run: a scenario, an agent on each node, a back-end, and the trace of what happens."""

    def __init__(  # noqa: PLR0913  # the parts of a run, and what is looked at
        self,
        scenario: Scenario,
        agent_class: type[Agent],
        backend: Backend,
        trace: TraceWriter,
        *,
        check: bool = False,
        tell: Tell | None = None,
    ) -> None:
        """Makes the agents; raises UserError for parameters that the agent does not have.

        With `check`, all messages are compared with their bytes, and none may be changed by those who receive it.
        Whatever is about to be handled is told to `tell`.
        """
        self._scenario = scenario
        self._backend = backend
        self._trace = trace
        self._agents = make_agents(scenario, agent_class)
        self._codec = CodecCheck(agent_class, everything=check)
        self._handlers = [handler_of(agent) for agent in self._agents]
        if check:
            self._handlers = [checked(handler, self._codec) for handler in self._handlers]
        if tell is not None:
            both = zip(self._handlers, self._agents, strict=True)
            self._handlers = [announced(handler, agent, tell) for handler, agent in both]
        self._agenda = Agenda(len(self._handlers))
        self._outages = Outages(scenario.faults, self._agenda, trace, self._tell, self._handle)
        self._next_due = self._due_or_fault if scenario.faults else self._agenda.next_time
        self._performer: Performer  # made when the back-end has told what the nodes' clocks are like

    def run(self) -> Totals:
        """Runs to the time limit; raises AgentError or BackendError. The back-end is closed in every case."""
        try:
            with collector_paused():
                end = self._run_steps()
        except BaseException as error:
            self._backend.fail(error)
            raise
        finally:
            totals = self._backend.close()
        trace_totals(self._trace, end, totals)
        return totals

    def _run_steps(self) -> SimTime:
        """Returns when the run ends."""
        hello, down = self._backend.open(), self._outages.down
        with_faults = bool(self._scenario.faults)
        encode = self._codec.encode
        self._performer = Performer(hello, self._agenda, self._trace, down, encode, with_faults=with_faults)
        self._schedule_workload(hello)
        advance, outgoing = self._backend.advance, self._performer.outgoing
        wake_up = self._next_due()
        while (step := advance(outgoing, wake_up)) is not None:
            outgoing.clear()
            wake_up = self._handle_step(step)
        self._look_again(hello.time_limit)
        return hello.time_limit

    def _look_again(self, now: SimTime) -> None:
        try:
            self._codec.look_again()
        except CodecError as error:
            raise AgentError(f"at the end of the run: {error}", 0, now, "") from error

    def _schedule_workload(self, hello: Hello) -> None:
        schedule, starts = self._agenda.schedule, [info.start for info in hello.nodes]
        check_faults(self._scenario.faults, starts)
        for node, start in enumerate(starts):
            schedule(start, node, Started())
            if self._scenario.sites is not None:
                schedule(start, node, Sited(self._scenario.sites))
        for time, node, place in rewirings(self._scenario):
            schedule(max(time, starts[node]), node, place)
        for time, node, command in commands(self._scenario, hello.nodes):
            schedule(time, node, command)

    def _due_or_fault(self) -> SimTime | None:
        due, fault = self._agenda.next_time(), self._outages.next_time()
        return fault if due is None or (fault is not None and fault < due) else due

    def _handle_step(self, step: Step) -> SimTime | None:
        """Handles everything of one instant, or a part of it; returns when the next thing is due."""
        self._agenda.now = step.now
        deliveries = self._delivered(step.deliveries) if self._scenario.faults else step.deliveries
        if self._trace.receives:
            self._handle_traced(deliveries)
        elif deliveries:
            self._handle_deliveries(deliveries)
        for node, destination, message, reason in step.failures:
            self._trace.add(step.now, node, DROP, message.message_type, peer=destination, detail=reason)
            self._outages.tell_failure(node, SendFailed(destination, message, reason))
        return self._next_due() if step.more else self._handle_due()

    def _delivered(self, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        """Has the faults of this instant happen; returns what reaches nodes that are not down then."""
        self._outages.happen()
        down = self._outages.down
        return [delivery for delivery in deliveries if delivery.receiver not in down] if down else deliveries

    def _handle_traced(self, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            message_type = delivery.message.message_type
            self._trace.add(self._agenda.now, delivery.receiver, RECEIVE, message_type, peer=delivery.sender)
            self._handle_deliveries((delivery,))

    def _handle_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        # Most of a run's time passes here: one call of the agent for each delivery, and nothing else unless it acts.
        now, handlers, perform_all = self._agenda.now, self._handlers, self._performer.perform_all
        receiver, event, actions = 0, None, None
        try:
            for receiver, sender, message, rssi, lqi in deliveries:
                event = Received(sender, message, rssi, lqi)
                if actions := handlers[receiver](event, now):
                    perform_all(receiver, actions)
        except BaseException as error:
            raise describe_failure(self._agents[receiver], now, event, error, actions) from error

    def _handle_due(self) -> SimTime | None:
        now, waiting = self._agenda.now, self._outages.waiting
        for _ in range(MAX_TIMERS_AT_ONCE):
            if (due := self._next_due()) != now:
                return due
            _, node, number, event = self._agenda.take()
            if node in waiting:
                waiting[node].append((number, event))
            else:
                self._handle(node, event)
        text = f"more than {MAX_TIMERS_AT_ONCE} timers fire at {format_time(now)}: {event} on node {node}"
        raise AgentError(text, node, now, str(event))

    def _handle(self, node: NodeId, event: Event) -> None:
        if type(event) is not TimerFired:
            trace_command(self._trace, self._agenda.now, node, event, self._scenario.nodes[node].roles)
        else:
            self._agenda.forget_timer(node, event.key)
            if type(event.key) is Postponed:
                self._transmit(node, event.key.send)
                return
        self._tell(node, event)

    def _transmit(self, node: NodeId, send: Send) -> None:
        """Sends what the node has asked for a while ago."""
        try:
            self._performer.transmit(node, send, self._agenda.now)
        except Exception as error:
            raise describe_failure(self._agents[node], self._agenda.now, None, error) from error

    def _tell(self, node: NodeId, event: Event) -> None:
        now, actions = self._agenda.now, None
        try:
            actions = self._handlers[node](event, now)
            self._performer.perform_all(node, actions)
        except BaseException as error:
            raise describe_failure(self._agents[node], now, event, error, actions) from error


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
