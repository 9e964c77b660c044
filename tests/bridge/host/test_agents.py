"""Agents hear messages without an event each, unless they see events themselves."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest

from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.host.agents import NOT_HEARING, Handle, hearing_of
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import AgentError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import EVENT, NODE, TIME_S
from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.agent import Agent, on
from roambus.python_protocol.events import Event, Received, Started
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.simtime import SECOND, SimTime
from roambus.python_protocol.trace_rows import SEND
from tests.support.scenarios import scenario


class Call(Message, tag=1):
    hops: U8


class Caller(Agent):
    """Node 0 calls; whoever hears a call passes it on once."""

    @on(Started)
    def start(self, event: Started, now: SimTime) -> None:
        if self.node == 0:
            self.send(BROADCAST, Call(1))

    @on(Call)
    def answer(self, call: Call, sender: NodeId, now: SimTime) -> object:
        if call.hops < 3:
            self.send(BROADCAST, Call(call.hops + 1))
        return None


class Seeing(Caller):
    """The same, by events."""

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        return super().handle(event, now)


class Careless(Caller):
    """Returns its answer, which nobody would send."""

    def answer(self, call: Call, sender: NodeId, now: SimTime) -> object:
        return Send(BROADCAST, call)


class Raising(Caller):
    """Has a mistake in a handler."""

    def answer(self, call: Call, sender: NodeId, now: SimTime) -> object:
        raise ValueError(f"call {call.hops}")


def described() -> Scenario:
    return scenario([Role.NONE] * 3, time_limit=SECOND)


def sends(agent: type[Agent], seen: list[Event] | None = None) -> list[tuple[object, object]]:
    """Times and nodes of what is sent on a line of three, with all events in `seen` if a wrapper is asked for."""

    def wrapper(_: Agent, handle: Handle) -> Handle:
        def handled(event: Event, now: SimTime) -> Iterable[Action]:
            assert seen is not None
            seen.append(event)
            return handle(event, now)

        return handled

    trace = TraceWriter()
    backend = IdealBackend(3, [(0, 1), (1, 2)], SECOND)
    Host(described(), agent, backend, trace, wrappers=() if seen is None else (wrapper,)).run()
    return [(row[TIME_S], row[NODE]) for row in trace.table().to_pylist() if row[EVENT] == SEND]


def test_plain_agents_have_their_handlers_called() -> None:
    """By the type of the message; the lists are those in which the agents collect actions."""
    agents = [Caller(node, Role.NONE, None, Random(0)) for node in range(2)]
    handlers, collected = hearing_of(agents)
    handlers[Call](agents[1], Call(1), 0, 0)
    assert [len(actions) for actions in collected] == [0, 1]


@pytest.mark.parametrize("kinds", [(Seeing, Seeing), (Caller, Careless)])
def test_agents_that_see_events_are_given_events(kinds: tuple[type[Agent], ...]) -> None:
    """A class with a `handle` of its own, and agents of several classes."""
    assert hearing_of([kind(0, Role.NONE, None, Random(0)) for kind in kinds]) == NOT_HEARING


def test_both_ways_give_the_same_run() -> None:
    """Wrappers see each arrival as an event, too."""
    seen: list[Event] = []
    assert sends(Caller) == sends(Seeing) == sends(Caller, seen)
    assert len(sends(Caller)) == 4
    assert sum(isinstance(event, Received) for event in seen) > 4


def test_an_answer_that_nobody_would_send_is_refused() -> None:
    """The error names the handler."""
    with pytest.raises(AgentError, match=r"Careless\.answer returns Send"):
        sends(Careless)


def test_a_handlers_error_names_the_message_and_its_line() -> None:
    """As an event, with its sender."""
    with pytest.raises(AgentError, match=r"node 1, .* on Received\(sender=0, message=Call\(hops=1\).*: call 1"):
        sends(Raising)
