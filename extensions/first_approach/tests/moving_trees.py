"""Trees of brokers in which everything moves, breaks and merges, and what must hold once all is quiet.

What makes no sense when its turn comes is skipped. A `Plan` runs whole agents over ideal links, on the tree that it
gives, without heartbeats and link layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import pytest

from roambus.bridge.scenario.definition import Command, Publication, Scenario, Workload
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkDelay, ParentChange
from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.filters import Constraint, Filter, Operator
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.support.runs import Row, of
from tests.support.scenarios import scenario
from tests.support.seen_agents import run_seen

QUIET = 400 * MILLISECOND
"""Long enough for every cascade in a tree of 30 brokers with links of 1 ms to end."""
TOPICS = 3


def topic(number: int) -> Filter:
    """What has a topic of this number."""
    return Filter((Constraint(f"t{number % TOPICS}", Operator.EXISTS),))


def about(*numbers: int) -> Publication:
    """A notification on these topics."""
    return Publication(tuple((f"t{number}", 1) for number in sorted({number % TOPICS for number in numbers})))


@dataclass(frozen=True)
class Step:
    """After `gap` ms (None: once all is quiet), something happens; what `a` and `b` mean depends on it."""

    kind: str
    a: int
    b: int
    gap: int | None = None

    def __repr__(self) -> str:
        return f"Step({self.kind!r}, {self.a}, {self.b}, {self.gap})"


@dataclass(frozen=True)
class Plan:
    """Parents of the brokers 1, 2, ... (0 is the root), the brokers of the clients, what happens, delays of links."""

    parents: tuple[int, ...]
    clients: tuple[int, ...]
    steps: tuple[Step, ...]
    delays: tuple[int, ...] = (1,)
    """In ms; the links have them in turn. The gaps of the steps are in units of the longest."""


@dataclass
class World:
    """The state that the plan has reached, and the scenario that leads there."""

    brokers: int
    parents: dict[NodeId, NodeId | None]
    unit: SimTime = MILLISECOND
    """How long the slowest link takes."""
    now: SimTime = 0
    filters: dict[NodeId, dict[Filter, None]] = field(default_factory=dict)
    down: set[NodeId] = field(default_factory=set)
    frozen: set[NodeId] = field(default_factory=set)
    tree: list[ParentChange] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def attach(self, node: NodeId, parent: NodeId | None) -> None:
        if self.parents.get(node) != parent or not self.now:
            self.parents[node] = parent
            self.tree.append(ParentChange(self.now, node, parent))

    @property
    def quiet(self) -> SimTime:
        """How long to wait for everything that is under way."""
        return QUIET // MILLISECOND * self.unit

    def fault(self, node: NodeId, kind: FaultKind) -> None:
        self.faults.append(Fault(self.now, node, kind))

    def command(self, node: NodeId, command: Subscribe | Unsubscribe | Publication) -> None:
        self.commands.append(Command(self.now, node, command))

    def ancestors(self, node: NodeId) -> list[NodeId]:
        """From the node to the root of its part of the tree, whether or not they are up."""
        found = [node]
        while (parent := self.parents[found[-1]]) is not None:
            found.append(parent)
        return found

    def broker_of(self, node: NodeId) -> NodeId | None:
        """Where the client of a node is, if that broker is up."""
        broker = node if node < self.brokers else self.parents[node]
        return None if broker in self.down else broker

    def partition(self, broker: NodeId) -> set[NodeId]:
        """The brokers that a broker can reach."""
        up = [node for node in range(self.brokers) if node not in self.down]
        edges = [(node, self.parents[node]) for node in up if self.parents[node] not in self.down]
        found, size = {broker}, 0
        while len(found) > size:
            size = len(found)
            for a, b in edges:
                if b is not None and (a in found or b in found):
                    found |= {a, b}
        return found


def play(plan: Plan) -> World:
    """Carries the steps out, each at its time."""
    brokers = len(plan.parents) + 1
    world = World(brokers, dict.fromkeys(range(brokers + len(plan.clients))), max(plan.delays) * MILLISECOND)
    for node, parent in enumerate(plan.parents, 1):
        world.attach(node, parent % node)
    for node, parent in enumerate(plan.clients, brokers):
        world.attach(node, parent % brokers)
    world.now = world.quiet
    for step in plan.steps:
        world.now += world.quiet if step.gap is None else step.gap * world.unit
        _STEPS[step.kind](world, step.a, step.b)
    world.now += world.quiet
    for node in sorted(world.frozen):
        world.fault(node, FaultKind.RECOVER)
    world.now += world.quiet
    return world


def _move(world: World, a: int, b: int) -> None:
    """A broker goes, with all below it, to a broker that is not."""
    node, parent = a % world.brokers, b % world.brokers
    if node not in world.ancestors(parent) and not {node, parent} & world.down:
        world.attach(node, parent)


def _cut(world: World, a: int, _: int) -> None:
    world.attach(a % world.brokers, None)


def _join(world: World, a: int, b: int) -> None:
    """The part of the tree that a broker is in joins another part there: the way to its old root turns round."""
    node, parent = a % world.brokers, b % world.brokers
    way = world.ancestors(node)
    if way[-1] in world.ancestors(parent) or {*way, parent} & world.down:
        return
    for child, its in zip(way, [parent, *way], strict=False):
        world.attach(child, its)
        world.now += world.unit * (b % 3)


def _roam(world: World, a: int, b: int) -> None:
    """A client comes to another broker, or to none."""
    clients = len(world.parents) - world.brokers
    if clients:
        broker = b % (world.brokers + 1)
        world.attach(world.brokers + a % clients, None if broker == world.brokers else broker)


def _subscribe(world: World, a: int, b: int) -> None:
    node = a % len(world.parents)
    if node not in world.down | world.frozen:
        world.filters.setdefault(node, {})[topic(b)] = None
        world.command(node, Subscribe(topic(b)))


def _unsubscribe(world: World, a: int, b: int) -> None:
    node = a % len(world.parents)
    if node not in world.down | world.frozen and topic(b) in world.filters.get(node, {}):
        del world.filters[node][topic(b)]
        world.command(node, Unsubscribe(topic(b)))


def _publish(world: World, a: int, b: int) -> None:
    node = a % world.brokers
    if node not in world.down | world.frozen:
        world.command(node, about(b))


def _crash(world: World, a: int, _: int) -> None:
    node = a % world.brokers
    if node not in world.down:
        world.frozen.discard(node)
        world.down.add(node)
        world.fault(node, FaultKind.CRASH)


def _freeze(world: World, a: int, _: int) -> None:
    """A broker or client does nothing for a while; what comes to it waits."""
    node = a % len(world.parents)
    if node not in world.down | world.frozen:
        world.frozen.add(node)
        world.fault(node, FaultKind.FREEZE)


def _recover(world: World, a: int, _: int) -> None:
    """A node is back, after a time that its neighbours have noticed."""
    if away := sorted(world.down | world.frozen):
        world.now += world.unit
        node = away[a % len(away)]
        world.down.discard(node)
        world.frozen.discard(node)
        world.fault(node, FaultKind.RECOVER)


_STEPS = {
    "move": _move,
    "cut": _cut,
    "join": _join,
    "roam": _roam,
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
    "publish": _publish,
    "crash": _crash,
    "recover": _recover,
    "freeze": _freeze,
}


@dataclass
class Result:
    """What a plan came to; the probes are published by every broker once all is quiet, and match every filter."""

    world: World
    agents: Mapping[NodeId, BrokerAgent]
    rows: list[Row]
    probed: SimTime

    def undelivered(self) -> set[tuple[NodeId, str]]:
        """(subscriber, probe) where a probe did not come just once, or came to somebody who does not want it."""
        delivered = Counter((row["node"], row["notification_id"]) for row in of(self.rows, "deliver"))
        wrong: set[tuple[NodeId, str]] = set()
        for publisher, probe in self._probes():
            wanted = self._subscribers(publisher)
            wrong |= {(node, probe) for node in self.agents if delivered[node, probe] != (node in wanted)}
        return wrong

    def view(self) -> Any:
        """The network as it is now, as properties of explorations see it."""
        world, nodes = self.world, range(len(self.agents))
        parents = tuple(world.parents.get(node) for node in nodes)
        wanted = tuple(frozenset(world.filters.get(node, ())) for node in nodes)
        crashes = [Fault(0, node, FaultKind.CRASH) for node in world.down]
        world_of = pytest.importorskip("roambus.extensions.exploring.world").World.of
        explored = replace(world_of(len(nodes), (), parents).after(*crashes), wanted=wanted)
        return _properties().View(self.agents, explored, world.now, tuple(map(str, nodes)))

    def stuck(self) -> str | None:
        """What is stored for a subscriber within reach."""
        found: str | None = _properties().nothing_stuck(self.view())
        return found

    def phantoms(self) -> str | None:
        """Where the filters of a subscriber within reach are not those that it has."""
        found: str | None = _properties().no_phantoms(self.view())
        return found

    def restless(self) -> list[Row]:
        """What is still sent long after the last step, before the probes, but for heartbeats."""
        end = self.probed / SECOND
        quiet = self.world.quiet / SECOND / 8
        sent = (row for row in of(self.rows, "send") if row["message_type"] != "HEARTBEAT")
        return [row for row in sent if end - quiet < row["time_s"] < end]

    def lost(self) -> set[tuple[NodeId, str]]:
        """(subscriber, notification) that a broker took on, and that is now neither delivered nor stored."""
        routed = {
            (int(node), row["notification_id"]) for row in of(self.rows, "route") for node in row["detail"].split()
        }
        delivered = {(row["node"], row["notification_id"]) for row in of(self.rows, "deliver")}
        stored = {(row["peer"], row["notification_id"]) for row in of(self.rows, "store")}
        left = {pair for pair in stored if pair[0] in self._unreached()}
        return {pair for pair in routed - delivered - left if self._never_unsubscribed(pair[0])}

    def doubled(self) -> set[tuple[NodeId, str]]:
        """(subscriber, notification) that came more than once."""
        delivered = Counter((row["node"], row["notification_id"]) for row in of(self.rows, "deliver"))
        return {pair for pair, times in delivered.items() if times > 1}

    def _probes(self) -> Iterator[tuple[NodeId, str]]:
        for row in of(self.rows, "publish"):
            if row["time_s"] * SECOND >= self.probed:
                yield row["node"], row["notification_id"]

    def _subscribers(self, broker: NodeId) -> set[NodeId]:
        """Who wants a probe published at a broker and can be reached from there."""
        world, reached = self.world, self.world.partition(broker)
        return {node for node, filters in world.filters.items() if filters and world.broker_of(node) in reached}

    def _brokers(self) -> Iterator[tuple[NodeId, Any]]:
        for node, agent in self.agents.items():
            if agent.broker is not None and node not in self.world.down:
                yield node, agent.broker

    def _unreached(self) -> set[NodeId]:
        """For whom brokers still store something."""
        return {subscriber for _, broker in self._brokers() for subscriber in broker.storage.subscribers()}

    def _never_unsubscribed(self, subscriber: NodeId) -> bool:
        return not any(
            node == subscriber and isinstance(command, Unsubscribe) for _, node, command in self.world.commands
        )


def _properties() -> Any:
    """Those of explorations, by which these trees are judged; skips where the extension is gone."""
    return pytest.importorskip("roambus.extensions.exploring.properties")


def carry_out(agent_class: type[BrokerAgent], plan: Plan, parameters: Mapping[str, str] | None = None) -> Result:
    """Runs the plan, and the probes after it."""
    world = play(plan)
    probed = world.now
    for broker in sorted(set(range(world.brokers)) - world.down):
        world.now += MILLISECOND
        world.command(broker, about(*range(TOPICS)))
    described = _scenario(world, plan.delays, parameters or {})
    return Result(world, *run_seen(described, agent_class), probed)


def _scenario(world: World, delays: tuple[int, ...], parameters: Mapping[str, str]) -> Scenario:
    roles = [Role.PUBLISHER | Role.SUBSCRIBER | Role.BROKER] * world.brokers
    roles += [Role.SUBSCRIBER] * (len(world.parents) - world.brokers)
    described = scenario(
        roles,
        Workload(commands=tuple(world.commands)),
        time_limit=world.now + world.quiet,
        agent_parameters={"tree": "given", "link_layer": "false", **parameters},
    )
    pairs = enumerate(combinations(range(len(world.parents)), 2))
    links = tuple(LinkDelay(a, b, delays[place % len(delays)] * MILLISECOND) for place, (a, b) in pairs)
    return replace(described, tree=tuple(world.tree), faults=tuple(world.faults), ideal=IdealLinks(delays=links))
