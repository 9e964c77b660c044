"""Histories of the skip ring, and what must hold once all has been quiet for a while.

What makes no sense when its turn comes is skipped. Whole agents run over ideal links between all nodes; node 0 is the
supervisor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from typing import Any

from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Command, Publication, Workload
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.bridge.trace.parquet import TraceWriter
from roambus.extensions.skip_ring.corrupted import CorruptedSkipRing, skip_ring
from roambus.python_protocol.events import Attach, Detach, Subscribe, Unsubscribe
from roambus.python_protocol.filters import parse_filter
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.support.runs import Row, of
from tests.support.scenarios import scenario

SUPERVISOR: NodeId = 0
TOPIC = 1
ANY_TOPIC = parse_filter(f"topic = {TOPIC}")
CORRUPTED = "labels+neighbours+shortcuts+database+messages"
SETTLING = 60
"""Rounds that everybody has after the last step, beside ten times the delay."""
CLOSURE = 10
"""Rounds before the end in which labels and edges stay."""


@dataclass(frozen=True)
class Step:
    """After `gap` ms something happens to a node."""

    kind: str
    node: int
    gap: int

    def __repr__(self) -> str:
        return f"Step({self.kind!r}, {self.node}, {self.gap})"


@dataclass(frozen=True)
class History:
    """So many subscribers, the delay of all links in ms, whether the first state is corrupted, and what happens."""

    subscribers: int
    delay: int
    corrupted: bool
    steps: tuple[Step, ...]
    seed: int = 0


@dataclass
class World:
    """Who is where after some steps, and the scenario that leads there."""

    nodes: int
    now: SimTime = SECOND
    members: set[NodeId] = field(default_factory=set)
    """Who has subscribed or published since it last unsubscribed."""
    wanting: set[NodeId] = field(default_factory=set)
    away: set[NodeId] = field(default_factory=set)
    crashed: set[NodeId] = field(default_factory=set)
    frozen: set[NodeId] = field(default_factory=set)
    commands: list[Command] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def command(self, node: NodeId, command: Any) -> None:
        self.commands.append(Command(self.now, node, command))

    def fault(self, node: NodeId, kind: FaultKind) -> None:
        self.faults.append(Fault(self.now, node, kind))

    def hears(self, node: NodeId) -> bool:
        """Whether the application of a node, which the supervisor has none of, can command it."""
        return node != SUPERVISOR and node not in self.crashed | self.frozen

    def in_ring(self) -> set[NodeId]:
        """Who should be in it."""
        return self.members - self.away - self.crashed


def play(history: History) -> World:
    """Carries the steps out, each at its time; in the end nobody is frozen, and the supervisor is up."""
    world = World(history.subscribers + 1)
    if history.corrupted:
        for node in range(1, world.nodes):
            _subscribe(world, node)
    for step in history.steps:
        world.now += step.gap * MILLISECOND + 1
        _STEPS[step.kind](world, step.node % world.nodes)
    world.now += 1
    for node in sorted(world.frozen | world.crashed & {SUPERVISOR}):
        world.fault(node, FaultKind.RECOVER)
    world.crashed.discard(SUPERVISOR)
    return world


def _subscribe(world: World, node: NodeId) -> None:
    if world.hears(node) and node not in world.wanting:
        world.members.add(node)
        world.wanting.add(node)
        world.command(node, Subscribe(ANY_TOPIC))


def _unsubscribe(world: World, node: NodeId) -> None:
    if world.hears(node) and node in world.wanting:
        world.members.discard(node)
        world.wanting.discard(node)
        world.command(node, Unsubscribe(ANY_TOPIC))


def _publish(world: World, node: NodeId) -> None:
    if world.hears(node):
        world.members.add(node)
        world.command(node, Publication((("topic", TOPIC),)))


def _detach(world: World, node: NodeId) -> None:
    if world.hears(node) and node not in world.away:
        world.away.add(node)
        world.command(node, Detach())


def _attach(world: World, node: NodeId) -> None:
    if world.hears(node) and node in world.away:
        world.away.discard(node)
        world.command(node, Attach())


def _crash(world: World, node: NodeId) -> None:
    if node not in world.crashed:
        world.frozen.discard(node)
        world.crashed.add(node)
        world.fault(node, FaultKind.CRASH)


def _freeze(world: World, node: NodeId) -> None:
    if node not in world.crashed | world.frozen:
        world.frozen.add(node)
        world.fault(node, FaultKind.FREEZE)


def _recover(world: World, node: NodeId) -> None:
    """The node, or the first of those that are down, is back."""
    down = world.crashed | world.frozen
    if down:
        back = node if node in down else min(down)
        world.crashed.discard(back)
        world.frozen.discard(back)
        world.fault(back, FaultKind.RECOVER)


_STEPS = {
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
    "publish": _publish,
    "detach": _detach,
    "attach": _attach,
    "crash": _crash,
    "freeze": _freeze,
    "recover": _recover,
}


@dataclass
class Result:
    """What a history came to."""

    world: World
    agents: list[CorruptedSkipRing]
    rows: list[Row]
    end: SimTime

    def wrong_ring(self) -> bool:
        """Whether labels, edges or database are not those of the definition, for those who should be in the ring."""
        found = {node: self.agents[node].members.get(TOPIC) for node in range(self.world.nodes)}
        subscribers = {node: member for node, member in found.items() if member is not None and node in self._up()}
        labels = {node: member.ring.label for node, member in subscribers.items() if member.ring.label is not None}
        supervisor = self.agents[SUPERVISOR].supervisor
        if supervisor is None or labels.keys() != self.world.in_ring():
            return True
        nodes: dict[str | None, NodeId | None] = {label: node for node, label in labels.items()} | {None: None}
        places = skip_ring(len(labels))
        return supervisor.database(TOPIC).entries != {label: node for node, label in labels.items()} or any(
            label not in places
            or [neighbour and neighbour.node for neighbour in (ring.left, ring.right, ring.ring)]
            != [nodes.get(near_label) for near_label in (places[label].left, places[label].right, places[label].ring)]
            or subscribers[node].shortcuts.nodes
            != {shortcut: nodes.get(shortcut) for shortcut in places[label].shortcuts}
            for node, label in labels.items()
            for ring in (subscribers[node].ring,)
        )

    def restless(self) -> bool:
        """Whether a label or an edge changed in the last rounds."""
        return any(row["time_s"] > self.end / SECOND - CLOSURE for row in of(self.rows, "overlay"))

    def undelivered(self) -> set[tuple[NodeId, str]]:
        """(subscriber, publication) that somebody in the ring has, and that a subscriber in it has not got."""
        tries = {node: self._trie(node) for node in self.world.in_ring()}
        known = {publication for trie in tries.values() for publication in trie}
        delivered = {(row["node"], row["notification_id"]) for row in of(self.rows, "deliver")}
        lacking = {(node, publication) for node, trie in tries.items() for publication in known - trie}
        wanting = self.world.in_ring() & self.world.wanting
        return lacking | {
            (node, publication) for node in wanting for publication in known if (node, publication) not in delivered
        }

    def doubled(self) -> set[tuple[NodeId, str]]:
        """(subscriber, publication) that came more than once."""
        delivered = Counter((row["node"], row["notification_id"]) for row in of(self.rows, "deliver"))
        return {pair for pair, times in delivered.items() if times > 1}

    def misnoted(self) -> set[NodeId]:
        """Whose last row in the trace has a label though it is in no ring, or another label than it has."""
        last = {row["node"]: row["detail"].split(" ")[1] for row in of(self.rows, "overlay")}
        labels = dict.fromkeys(last, "-") | {node: self._label(node) for node in self.world.in_ring()}
        return {node for node, label in labels.items() if last.get(node, "-") != label}

    def _up(self) -> set[NodeId]:
        return set(range(self.world.nodes)) - self.world.crashed

    def _trie(self, node: NodeId) -> set[str]:
        member = self.agents[node].members.get(TOPIC)
        return (
            set()
            if member is None
            else {str(publication.id) for publication in member.publications.trie.publications()}
        )

    def _label(self, node: NodeId) -> str:
        member = self.agents[node].members.get(TOPIC)
        return (None if member is None else member.ring.label) or "-"


CHECKS: dict[str, Callable[[Result], object]] = {
    "not the skip ring of the definition": Result.wrong_ring,
    "never quiet": Result.restless,
    "undelivered": Result.undelivered,
    "delivered twice": Result.doubled,
    "last row of the trace is false": Result.misnoted,
}


def carry_out(history: History, parameters: Mapping[str, str] | None = None) -> Result:
    """Runs the history, and the quiet rounds after it."""
    world = play(history)
    end = world.now + SETTLING * SECOND + 10 * history.delay * MILLISECOND
    kinds = {"corruption": CORRUPTED if history.corrupted else "none", "nodes": str(world.nodes)}
    described = scenario(
        [Role.BROKER, *[Role.SUBSCRIBER | Role.PUBLISHER] * history.subscribers],
        Workload(commands=tuple(world.commands)),
        seed=history.seed,
        time_limit=end,
        agent_parameters={**kinds, **(parameters or {})},
        faults=tuple(world.faults),
    )
    agents: list[CorruptedSkipRing] = []
    links = combinations(range(world.nodes), 2)
    ideal = IdealLinks(history.delay * MILLISECOND)
    backend = IdealBackend(world.nodes, links, end, ideal=ideal, faults=world.faults)
    trace = TraceWriter()
    Host(described, _kept(agents), backend, trace).run()
    return Result(world, agents, trace.table().to_pylist(), end)


def _kept(agents: list[CorruptedSkipRing]) -> type[CorruptedSkipRing]:
    """The same agent, but each that is made can be looked at."""

    class Kept(CorruptedSkipRing):
        def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
            super().__init__(node, roles, parameters, random)
            agents.append(self)

    return Kept
