"""The networks and the commands by which deliveries are judged, and a run that observes them.

Links lose nothing, and nodes stay where they are. Nodes subscribe after 8 s and publish from 14 s on: then tables and
trees stand. Contents are equal on purpose. One node has two filters, one wants its own publications, and some have no
subscriber.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from roambus.bridge.backends.ideal.backend import graph_of, make_ideal
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.agents import Handle
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Command, Publication, Scenario, Workload
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.templates.template import Template, Values
from roambus.extensions.vetting.contract import Contract
from roambus.extensions.vetting.movement import let_move
from roambus.extensions.vetting.scenes import MOST_CALLS, Job, describe_call
from roambus.extensions.vetting.watching import Calls
from roambus.python_protocol.actions import Action, Deliver, Note, Send
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import (
    NO_LINK,
    Event,
    Publish,
    Received,
    SendFailed,
    Subscribe,
    TimerFired,
    TimerKey,
    Unsubscribe,
)
from roambus.python_protocol.filters import Filter, Notification, parse_filter
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from roambus.python_protocol.trace_rows import DROP

TEMPLATE = Template(Path(__file__).with_name("deliveries.ini.j2"))
NEWS, SPORT = parse_filter("topic = 'news'"), parse_filter("topic = 'sport' and price > 10")
_NEWS = Publication((("topic", "news"),), 20)
_DEAR, _CHEAP = (Publication((("price", price), ("topic", "sport")), 20) for price in (20, 5))
_WEATHER = Publication((("topic", "weather"),), 20)
SECONDS = (*range(14, 20), *range(40, 44), *range(64, 68))
"""Seconds in which each publisher publishes."""
BURST_S, BURST = 21, 8
"""When node 0 publishes so many at once."""
LEAVES_S, RETURNS_S = 36, 60
"""When node 2 unsubscribes, and node 3 one of its two filters; node 2 subscribes again."""
FREEZES = ((5, "44500ms freeze, 47s recover"), (3, "45s freeze, 48s recover"))
CRASHES = ((5, "44500ms crash, 47s recover"), (3, "45s crash, 48s recover"), (0, "46s crash, 48s recover"))
"""Faults, between the second publications and the third."""
SETTLED_S = 60
"""Long after the faults."""
QUIET_S, BACK_S = (24, 36), 49
"""A time without publications, and the time when all nodes are back."""

Pair = tuple[str, NodeId]
"""A notification, and a node that gets or wants it."""


@dataclass(frozen=True, slots=True)
class Network:
    """Links, as a text for people and as lines of the ini."""

    name: str
    lines: str


NETWORKS = (
    Network("in a grid of ideal links", "SN.ideal.range = 12"),
    Network("with ideal links between all nodes", "SN.ideal.complete = true"),
    Network("in a tree of ideal links", 'SN.tree = "5:4 6:5 0:4 1:5 2:5 3:6 7:6"'),
)
"""A tree comes last: a protocol of few copies does not reach all of a long one."""


def commands() -> Iterator[tuple[int, NodeId, Subscribe | Unsubscribe | Publication]]:
    """Yield the workload: time in ms, node and command."""
    for node, wanted in ((2, NEWS), (3, NEWS), (3, SPORT), (7, NEWS)):
        yield 8000, node, Subscribe(wanted)
    for second in SECONDS:
        for place, (node, published) in enumerate(((0, _NEWS), (1, _DEAR), (7, _NEWS), (1, _WEATHER), (0, _CHEAP))):
            yield 1000 * second + 70 * place, node, published
    for _ in range(BURST):
        yield 1000 * BURST_S, 0, _NEWS
    yield 1000 * LEAVES_S, 2, Unsubscribe(NEWS)
    yield 1000 * LEAVES_S, 3, Unsubscribe(SPORT)
    yield 1000 * RETURNS_S, 2, Subscribe(NEWS)


WORKLOAD = Workload(
    commands=tuple(Command(at * MILLISECOND, *rest) for at, *rest in sorted(commands(), key=lambda entry: entry[0]))  # type: ignore[arg-type]  # the rest is a node and a command
)


@dataclass(frozen=True, slots=True)
class Delivered:
    """A first or later delivery; `is_direct` if it was the publisher's own frame that brought it."""

    at: SimTime
    node: NodeId
    notification: str
    hops: int
    is_direct: bool


@dataclass
class Observed:
    """A run: publications, wishes, receptions, deliveries and drops, and the timers that ran out."""

    network: Network
    distances: Mapping[NodeId, Mapping[NodeId, int]]
    """Links between each pair of nodes on the shortest way."""
    published: dict[str, tuple[SimTime, NodeId, Notification]] = field(default_factory=dict)
    wanted: set[Pair] = field(default_factory=set)
    delivered: list[Delivered] = field(default_factory=list)
    received: dict[Pair, NodeId] = field(default_factory=dict)
    """The sender of the first frame with it."""
    broadcast: set[tuple[NodeId, str]] = field(default_factory=set)
    """Each sender of a broadcast, and a notification in it."""
    heard: set[Pair] = field(default_factory=set)
    """The pairs of which a broadcast came."""
    dropped: set[Pair] = field(default_factory=set)
    timers: dict[tuple[NodeId, TimerKey], list[SimTime]] = field(default_factory=lambda: defaultdict(list))
    fails_without_link: bool = False

    @cached_property
    def counts(self) -> Counter[Pair]:
        """How often each pair was delivered."""
        return Counter((one.notification, one.node) for one in self.delivered)

    def distance(self, pair: Pair) -> int:
        """The links between a notification's publisher and a node."""
        notification, node = pair
        return self.distances[self.published[notification][1]][node]

    def at(self, notification: str) -> SimTime:
        """When it was published."""
        return self.published[notification][0]

    def watch(self, calls: Calls, agent: Agent, handle: Handle) -> Handle:
        """Wrap a handler to observe it."""
        node = agent.node  # a wrong agent changes it

        def handle_observed(event: Event, now: SimTime) -> Iterable[Action]:
            self._before(node, event, now)
            calls.count(MOST_CALLS)
            with calls.during(describe_call(self.network.name, agent, event, now)):
                actions = list(handle(event, now))
            for action in actions:
                self._after(node, event, now, action)
            return actions

        return handle_observed

    def _before(self, node: NodeId, event: Event, now: SimTime) -> None:
        match event:
            case Publish(notification=notification, subscribers=subscribers):
                self.published[str(notification.id)] = now, node, notification
                self.wanted.update((str(notification.id), subscriber) for subscriber in subscribers)
            case Received(sender=sender, message=message):
                for notification in notifications_in(message):
                    name = str(notification.id)
                    self.received.setdefault((name, node), sender)
                    if (sender, name) in self.broadcast:
                        self.heard.add((name, node))
            case TimerFired(key=key):
                self.timers[node, key].append(now)
            case SendFailed(reason=reason) if reason == NO_LINK:
                self.fails_without_link = True

    def _after(self, node: NodeId, event: Event, now: SimTime, action: Action) -> None:
        if isinstance(action, Deliver):
            name = str(action.notification.id)
            if name not in self.published:  # `contract` finds it
                return
            publisher = self.published[name][1]
            sender = event.sender if isinstance(event, Received) else None
            is_direct = sender is not None and sender == publisher == self.received.get((name, node))
            self.delivered.append(Delivered(now, node, name, action.hops, is_direct))
        elif isinstance(action, Send) and action.destination == BROADCAST:
            self.broadcast.update((node, str(notification.id)) for notification in notifications_in(action.message))
        elif isinstance(action, Note) and action.name == DROP and action.notification_id is not None:
            self.dropped.add((action.notification_id, node))


def observe(  # noqa: PLR0913  # a job, and each part of a run that differs
    job: Job,
    agent_class: type[Agent],
    calls: Calls,
    network: Network,
    *,
    faults: Iterable[tuple[NodeId, str]] = FREEZES,
    seed: int = 1,
) -> Observed:
    """Make a run; raise UserError for refused parameters, AgentError, and RoambusError of other kinds."""
    scenario = let_move(scenario_of(job, network, faults, seed), agent_class)
    observed = Observed(network, distances(scenario))
    calls.begin_run()
    host = Host(
        scenario,
        agent_class,
        make_ideal(scenario),
        TraceWriter(TraceLevel.APP),
        wrappers=[lambda agent, handle: observed.watch(calls, agent, handle), Contract(agent_class).wrap],
    )
    host.run()
    observed.fails_without_link |= host.failures[NO_LINK] > 0
    return observed


def scenario_of(job: Job, network: Network, faults: Iterable[tuple[NodeId, str]], seed: int) -> Scenario:
    """Return the scenario of a run; raise UserError."""
    values: Values = {
        "seed": seed,
        "agent": job.agent,
        "agent_parameters": job.parameters,
        "graph": network.lines,
        "outages": "\n".join(f'SN.node[{node}].faults = "{plan}"' for node, plan in faults),
    }
    scenario = parse_scenario(TEMPLATE.render(values), TEMPLATE.file, TEMPLATES)
    return replace(scenario, workload=WORKLOAD)


def distances(scenario: Scenario) -> dict[NodeId, dict[NodeId, int]]:
    """Return the links on the shortest way between nodes; links stand from the beginning."""
    graph = graph_of(scenario)
    near: dict[NodeId, set[NodeId]] = defaultdict(set)
    for a, b in (*graph.links, *((change.a, change.b) for change in graph.changes)):
        near[a].add(b)
        near[b].add(a)
    return {node: _from(node, near) for node in range(len(scenario.nodes))}


def _from(start: NodeId, near: Mapping[NodeId, Iterable[NodeId]]) -> dict[NodeId, int]:
    found, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for neighbour in near[node]:
            if neighbour not in found:
                found[neighbour] = found[node] + 1
                waiting.append(neighbour)
    return found


def wants(node: NodeId, notification: Notification, at: SimTime) -> bool:
    """Whether a node has a filter for a notification at a time."""
    filters: dict[Filter, None] = {}
    for command in WORKLOAD.commands:
        if command.node == node and command.at <= at:
            if isinstance(command.command, Subscribe):
                filters[command.command.filter] = None
            elif isinstance(command.command, Unsubscribe):
                filters.pop(command.command.filter, None)
    return any(wanted.matches(notification) for wanted in filters)


def notifications_in(value: object) -> Iterator[Notification]:
    """Yield the notifications in a message, nested ones included."""
    if isinstance(value, Notification):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from notifications_in(part)
    elif isinstance(value, Message):
        for name in value.__dataclass_fields__:
            yield from notifications_in(getattr(value, name))


def since_s(observed: Observed, pair: Pair) -> float:
    """When a pair's notification was published, in s."""
    return observed.at(pair[0]) / SECOND
