"""The order of events at one instant, where consequences come last.

A run does at one instant: changes of links and faults; arrivals; failed sends over links that went, and new places in a
tree; commands and timers; failed sends over missing links (`bridge.host.event_loop`). So a node may hear a message
before it learns that its answer to another was not sent. Such consequences are *pending* in the world as long as
something can precede them at the same node. Only that node matters, for steps of others commute with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, Protocol

from roambus.bridge.backends.ideal.graph import Link
from roambus.bridge.scenario.nodes import ExpireTimer
from roambus.bridge.transcript.commands import Apply, Arrive, PublishEvent, RunOut
from roambus.extensions.exploring.copies import Numbering
from roambus.extensions.exploring.nodes import Nodes
from roambus.extensions.exploring.steps import Events, Item, Rules, State, Step, Successor
from roambus.extensions.exploring.world import World
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

ARRIVALS, ALL, COMMANDS = range(3)
"""What can come before what is pending: after a change arrivals; after an arrival all; then commands and timers."""


class Earlier(NamedTuple):
    """Something that comes before what is pending: its step, the events, the state, and what can follow."""

    step: int
    inputs: Events
    state: State
    phase: int
    old: tuple[int, ...]
    by_timer: bool = False


class Steps(Protocol):
    """What the steps of an instant need of the model that has them; `roambus.extensions.exploring.model` says more."""

    links: list[Link]
    places: dict[Link, int]
    nodes: Nodes
    rules: Rules
    worlds: Numbering[World]
    queues: Numbering[tuple[Item, ...]]
    steps: Numbering[Step]
    arrival: Callable[..., Any]
    options: Callable[..., Any]
    plan: Callable[..., Any]
    step: Callable[..., int]

    def world(self, state: State) -> World:
        """Return the world of a state."""

    def now(self, state: State) -> SimTime:
        """Return the time of a state."""

    def follow(  # noqa: PLR0913  # as the model's
        self,
        state: State,
        inputs: Events,
        step: int,
        late: Events = (),
        *,
        phase: int = ...,
        old: tuple[int, ...] = (),
        by_timer: bool = False,
    ) -> Iterator[Successor]:
        """Have nodes handle events, for each outcome of chance."""


class Instants:
    """Knows the steps of instants of which something is pending."""

    def __init__(self, model: Steps) -> None:
        self._model = model
        self._is_handled = cache(self._handles)

    def successors(self, state: State) -> Iterator[Successor]:
        """Yield the steps that come before what is pending."""
        model, world = self._model, self._model.world(state)
        bare = (*state[:-1], model.worlds.number(replace(world, pending=(), phase=ARRIVALS, old=())))
        for step, inputs, after, phase, old, by_timer in self._earlier(bare, world):
            yield from model.follow(after, inputs, step, world.pending, phase=phase, old=old, by_timer=by_timer)

    def pending(self, state: State, late: Events, phase: int, old: State) -> State | None:
        """Return the state in which events are pending; None if nothing can come before them.

        `old` has the number of messages on each link that were sent before this instant, or is its first state.
        """
        model = self._model
        if not any(self._is_handled(event) for _, event in late):
            return None
        if len(old) != len(model.links):
            old = tuple(len(model.queues[old[place]]) for place in model.places.values())
        world = replace(model.world(state), pending=late, phase=phase, old=old)
        if not any(True for _ in self._earlier(state, world)):
            return None
        return (*state[:-1], model.worlds.number(world))

    def _earlier(self, state: State, world: World) -> Iterator[Earlier]:
        """Yield what can come to a node before what is pending for it."""
        nodes = {node for node, event in world.pending if self._is_handled(event)}
        if world.phase != COMMANDS:
            yield from self._arrivals(state, world, nodes)
        if world.phase != ARRIVALS:
            yield from self._commands(state, world, nodes)
            if self._model.nodes.is_timed:
                yield from self._timers(state, world, nodes)

    def _arrivals(self, state: State, world: World, nodes: set[NodeId]) -> Iterator[Earlier]:
        model = self._model
        for place, ((_, receiver), at) in enumerate(model.places.items()):
            if receiver not in nodes or not world.old[place]:
                continue
            old = (*world.old[:place], world.old[place] - 1, *world.old[place + 1 :])
            for event, rest, arrives, _ in model.arrival(at, state[at], 0):
                step = model.steps[arrives]._replace(at_once=True)
                if isinstance(step.command, Arrive) and step.command.number <= world.old[place]:
                    after = (*state[:at], rest, *state[at + 1 :])
                    yield Earlier(model.steps.number(step), ((receiver, event),), after, world.phase, old)

    def _commands(self, state: State, world: World, nodes: set[NodeId]) -> Iterator[Earlier]:
        model = self._model
        for may, command in model.options(state[-1]):
            is_for_node = isinstance(command, Apply | PublishEvent) and command.node in nodes
            if is_for_node and not model.rules.may[may].when_quiet:
                number, _, inputs, _ = model.plan(state[-1], command, may)
                step = model.step(command, 0, (), may, True)
                yield Earlier(step, inputs, (*state[:-1], number), COMMANDS, world.old)

    def _timers(self, state: State, world: World, nodes: set[NodeId]) -> Iterator[Earlier]:
        model = self._model
        for node in nodes:
            for number, left in enumerate(model.nodes.due(state[node], model.now(state)), 1):
                if not left:
                    inputs = ((node, model.nodes.events.number(ExpireTimer(number))),)
                    step = model.step(RunOut(node, number), 0, (), -1, True)
                    yield Earlier(step, inputs, state, COMMANDS, world.old, by_timer=True)

    def _handles(self, event: int) -> bool:
        nodes = self._model.nodes
        return nodes.agent_class.handle is not Agent.handle or type(nodes.events[event]) in nodes.agent_class.handlers
