"""What has happened in a run, as a world: commands given, deliveries made, and which ways there were at each moment.

A witness stands beside every agent of a run over ideal links and sees what it is told and what it answers, in the order
in which that happens; links change as the run's back-end has them change. So properties judge a run by the same world
as an exploration, and an exploration begins with the world that its setup has left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from roambus.bridge.backends.ideal.backend import graph_of
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange
from roambus.bridge.transcript.timeline import Timeline
from roambus.experiments.exploring.nodes import seen_by_world
from roambus.experiments.exploring.world import World
from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import (
    Crashed,
    Event,
    Publish,
    Recovered,
    Stopped,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from roambus.python_protocol.vocabulary import NodeId, Role, SimTime

Look = Callable[[SimTime], None]


class Witness:
    """Sees a run of a transcript; `world` is what it knows."""

    def __init__(self, timeline: Timeline, scenario: Scenario, look: Look = lambda _: None) -> None:
        """Calls `look` with the time of whatever happens, before it does."""
        size = len(scenario.nodes)
        graph = graph_of(scenario)
        self.agents: list[Any] = []
        self.sent: list[tuple[SimTime, str]] = []
        """The times and types of all messages."""
        self.world = World.of(size, graph.links)
        self._names = timeline.events
        self._published_at: list[SimTime] = []
        self._to_come = deque[LinkChange](sorted(graph.changes, key=lambda one: one.at))
        self._look = look

    def published_by(self, time: SimTime) -> int:
        """How much was published before some time."""
        return sum(at < time for at in self._published_at)

    def reach(self, now: SimTime) -> None:
        """Has links change up to now."""
        while self._to_come and self._to_come[0].at <= now:
            self.world = self.world.after(self._to_come.popleft()).with_dues()

    def see(self, node: NodeId, event: Event, now: SimTime) -> None:
        """Takes what a node is told."""
        self.reach(now)
        self._look(now)
        match event:
            case Subscribe() | Unsubscribe():
                world = self.world.told(node, event)
            case Publish(notification):
                name = self._names.get(str(notification.id), str(notification.id)).partition("#")[0]
                self._published_at.append(now)
                world = self.world.told(node, event, name)
            case Crashed() | Stopped():
                world = self.world.after(Fault(now, node, FaultKind.CRASH))
            case Recovered():
                world = self.world.after(Fault(now, node, FaultKind.RECOVER))
            case _:
                return
        self.world = replace(world, commands=world.commands + 1).with_dues()

    def hear(self, node: NodeId, actions: Sequence[Action], now: SimTime, *, by_timer: bool) -> None:
        """Takes what it answers; what timers send is no load of a command."""
        sent = [(now + one.after, str(one.message.message_type)) for one in actions if isinstance(one, Send)]
        self.sent += sent
        if sent and not by_timer:
            self.world = replace(self.world, messages=self.world.messages + len(sent))
        for seen in seen_by_world(actions):
            self.world = self.world.seeing(node, seen)


def witnessed(agent_class: type[Agent], witness: Witness, clock: Callable[[SimTime], SimTime] = int) -> type[Agent]:
    """A subclass whose agents a witness sees, and which are told the time by a `clock`."""

    class Witnessed(agent_class):  # type: ignore[misc, valid-type]  # which agent it is only the file says
        def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
            super().__init__(node, roles, parameters, random)
            witness.agents.append(self)

        def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
            witness.see(self.node, event, now)
            actions = list(super().handle(event, clock(now)))
            witness.hear(self.node, actions, now, by_timer=isinstance(event, TimerFired))
            return actions

    return Witnessed
