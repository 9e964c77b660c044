"""The world around the nodes: links, places, applications' wishes, and remaining commands.

A world is a value; `published`, `delivered` and `taken` are its history, as far as properties ask for it. It changes by
events of the network (`after`), by inputs to nodes (`after_input`), and by their answers (`seeing`); in a run an
observer beside every agent feeds the same world. A notification counts as wanted only by nodes subscribed long enough,
with their links intact and all nodes up meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast

from roambus.bridge.backends.ideal.backend import graph_of
from roambus.bridge.backends.ideal.graph import Graph, GraphChange, Link
from roambus.bridge.host.agents import Handle, Wrapper
from roambus.bridge.host.command_plan import published_by
from roambus.bridge.host.fault_injector import EVENT_OF_FAULT
from roambus.bridge.scenario.definition import Command as PlannedCommand
from roambus.bridge.scenario.definition import Publication, Scenario
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange, ParentChange
from roambus.bridge.scenario.tree import Places, tree_links
from roambus.bridge.transcript.commands import Command, planned
from roambus.bridge.transcript.timeline import Timeline
from roambus.extensions.exploring.nodes import Accepted, Observation, observations
from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import (
    Attach,
    Crashed,
    Detach,
    Event,
    Publish,
    Recovered,
    Stopped,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

Parents = tuple[NodeId | None, ...]
Value = TypeVar("Value")


class Published(NamedTuple):
    """A notification, its name, and the nodes that have wanted it ever since its publication.

    It is `due` to those that always had a way from the publisher.
    """

    notification: Notification
    name: str
    wanted_by: frozenset[NodeId]
    due: frozenset[NodeId]


@dataclass(frozen=True, slots=True)
class World:
    """The state of everything but the nodes and the messages under way."""

    graph: Graph
    """Which links carry, and who is down."""
    parents: Parents = ()
    """The given tree, node by node, or empty."""
    left: tuple[int, ...] = ()
    """How often each of what may happen still may."""
    wanted: tuple[frozenset[Filter], ...] = ()
    numbers: tuple[int, ...] = ()
    """How many notifications each node has published."""
    published: tuple[Published, ...] = ()
    delivered: tuple[tuple[NotificationId, ...], ...] = ()
    """Each node's deliveries, in order."""
    taken: frozenset[tuple[str, NodeId]] = frozenset()
    """(notification, subscriber) that a node has accepted."""
    unwanted: frozenset[tuple[NodeId, NotificationId, str]] = frozenset()
    """Deliveries that were wrong, with the reason; those of another content are not among `delivered`."""
    messages: int = 0
    """The number of sent messages, and of given `commands`, if a property counts them."""
    commands: int = 0
    elapsed: SimTime = 0
    """The time since the beginning, if that is limited."""
    calm: SimTime = 0
    """The time since the last event, if a property wants calm."""
    pending: tuple[tuple[NodeId, int], ...] = ()
    """What nodes still learn at this instant, by the numbers of the events."""
    phase: int = 0
    """What can come before that (`instants`)."""
    old: tuple[int, ...] = ()
    """How many messages of each link were sent before this instant."""

    @classmethod
    def of(cls, nodes: int, links: Iterable[Link], parents: Parents = ()) -> World:
        """The world before any command, with links or a given tree."""
        nobody = (frozenset[Filter](),) * nodes
        bare = cls(Graph.of(nodes, links), (None,) * len(parents), (), nobody, (0,) * nodes, (), ((),) * nodes)
        return bare.after(*(ParentChange(0, node, parent) for node, parent in enumerate(parents)))

    def without_history(self) -> World:
        """The same world, of whose history nothing is asked."""
        known = (self.graph, self.parents, self.left, self.wanted, self.numbers, (), ((),) * self.nodes)
        return World(*known, elapsed=self.elapsed, calm=self.calm)

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.graph.near)

    @property
    def down(self) -> frozenset[NodeId]:
        """The nodes that have crashed."""
        return self.graph.down

    def neighbours(self, node: NodeId) -> tuple[NodeId, ...]:
        """Those to whom a link carries, in their order."""
        return self.graph.reached(node)

    def part(self, node: NodeId) -> frozenset[NodeId]:
        """The nodes that a node can reach, itself included."""
        return _part(self.graph, node)

    def using(self, may: int) -> World:
        """The world in which a line was used once more."""
        return replace(self, left=_with(self.left, may, self.left[may] - 1))

    def after(self, *changes: GraphChange | ParentChange) -> World:
        """The world after changes of links, nodes or given places."""
        tree = [change for change in changes if isinstance(change, ParentChange)]
        graph, parents = self.graph, dict(enumerate(self.parents))
        for change in (
            *tree_links(tree, parents),
            *(change for change in changes if not isinstance(change, ParentChange)),
        ):
            graph = graph.after(change)
        parents |= {change.node: change.parent for change in tree}
        return replace(self, graph=graph, parents=tuple(parents.values()))

    def after_input(self, node: NodeId, event: object, name: str = "") -> World:
        """The world after an application's command; `name` is the notification's."""
        if isinstance(event, Publish):
            wanting = frozenset(number for number in range(self.nodes) if self.wants(number, event.notification))
            published = (*self.published, Published(event.notification, name, wanting, wanting))
            return replace(self, numbers=_with(self.numbers, node, self.numbers[node] + 1), published=published)
        if isinstance(event, Subscribe | Unsubscribe):
            others = self.wanted[node] - {event.filter}
            filters = others | {event.filter} if isinstance(event, Subscribe) else others
            return replace(self, wanted=_with(self.wanted, node, filters))
        return self

    def wants(self, node: NodeId, notification: Notification) -> bool:
        """Whether a node's application wants a notification now."""
        return any(filter_.matches(notification) for filter_ in self.wanted[node])

    def is_published(self, identifier: NotificationId) -> bool:
        """Whether somebody has published something of that name."""
        publisher = identifier.publisher
        return publisher < self.nodes and identifier.sequence < self.numbers[publisher]

    def with_dues(self) -> World:
        """The world in which nothing is due to nodes without interest or without a way now."""
        return replace(self, published=tuple(map(self._still_due, self.published)))

    def _still_due(self, publication: Published) -> Published:
        wanted_by = frozenset(node for node in publication.wanted_by if self.wants(node, publication.notification))
        due = publication.due & wanted_by
        return publication._replace(
            wanted_by=wanted_by, due=due & self.part(publication.notification.id.publisher) if due else due
        )

    def seeing(self, node: NodeId, seen: Observation) -> World:
        """The world after a node was given something, or accepted it for others."""
        if isinstance(seen, Accepted):
            return replace(
                self, taken=self.taken | {(seen.notification, subscriber) for subscriber in seen.subscribers}
            )
        why = ", and nobody has published it"
        if self.is_published(seen.id):
            why = "" if self.wants(node, seen) else ", which does not want it"
        delivered = _with(self.delivered, node, (*self.delivered[node], seen.id))
        if any(
            publication.notification.id == seen.id and repr(publication.notification) != repr(seen)
            for publication in self.published
        ):
            why, delivered = " with other content than was published", self.delivered
        return replace(self, delivered=delivered, unwanted=self.unwanted | ({(node, seen.id, why)} if why else set()))


def _with(values: tuple[Value, ...], place: int, value: Value) -> tuple[Value, ...]:
    return (*values[:place], value, *values[place + 1 :])


class Effects(NamedTuple):
    """The nodes' inputs after a command: `before` the losses of links, and `after` them."""

    world: World
    before: tuple[tuple[NodeId, Event], ...] = ()
    after: tuple[tuple[NodeId, Event], ...] = ()


def do(command: Command, world: World, brokers: frozenset[NodeId]) -> Effects:
    """Apply a possible command with its immediate effects, as in a run without other plans."""
    plan: Any = planned(command, 0)
    if isinstance(plan, PlannedCommand):
        node, event = plan.node, cast("Any", plan.command)
        if isinstance(event, Publication):
            event = published_by(node, world.numbers[node], event, dict(enumerate(world.wanted)))
        return Effects(world.after_input(node, event, getattr(command, "name", "")), after=((node, event),))
    new = world.after(plan)
    before = ((plan.node, EVENT_OF_FAULT[plan.kind]),) if isinstance(plan, Fault) else ()
    places = Places(dict(enumerate(world.parents)), brokers, world.down)
    moves = bool(world.parents) and not isinstance(plan, LinkChange)
    return Effects(new, before, tuple(places.news(sorted(set(places.apply(plan)))) if moves else ()))


BeforeEvent = Callable[[SimTime], None]


class RunObserver:
    """Observes a transcript's run, and keeps `world`."""

    def __init__(
        self,
        timeline: Timeline,
        scenario: Scenario,
        before_event: BeforeEvent = lambda _: None,
        settling: tuple[SimTime, SimTime] = (0, 0),
    ) -> None:
        """Calls `before_event` with the time before each event.

        `settling`: how long subscriptions take to settle, and from when on it no longer matters.
        """
        graph = graph_of(scenario)
        self.agents: list[Any] = []
        self.sent: list[tuple[SimTime, str]] = []
        """The times and types of all messages."""
        self.world = World.of(len(scenario.nodes), graph.links)
        self._names, self._before_event = timeline.events, before_event
        self._published_at: list[SimTime] = []
        self._to_come = deque[LinkChange](sorted(graph.changes, key=lambda change: change.at))
        self._settling, self._settled_from = settling
        self._since: dict[tuple[NodeId, Filter], SimTime | None] = {}
        """Since when each filter has been settling; None while its node is out of reach."""
        self._away: set[NodeId] = set()

    def published_by(self, time: SimTime) -> int:
        """How much was published before some time."""
        return sum(at < time for at in self._published_at)

    def reach(self, now: SimTime) -> None:
        """Has links change up to now."""
        while self._to_come and self._to_come[0].at <= now:
            at, changes = self._to_come[0].at, list[LinkChange]()
            while self._to_come and self._to_come[0].at == at:
                changes.append(self._to_come.popleft())
            # Who moves loses one link and gets another at the same instant: at no moment it is out of reach.
            self.world = self.world.after(*changes).with_dues()
            self._begin_again({end for change in changes for end in (change.a, change.b)}, at)

    def see(self, node: NodeId, event: Event, now: SimTime) -> None:
        """Takes an input of a node."""
        self.reach(now)
        self._before_event(now)
        world, is_fault = self.world, isinstance(event, Crashed | Stopped | Recovered)
        match event:
            case Detach() | Attach():
                self._away = self._away | {node} if isinstance(event, Detach) else self._away - {node}
            case Crashed() | Stopped() | Recovered():
                world = world.after(
                    Fault(now, node, FaultKind.RECOVER if isinstance(event, Recovered) else FaultKind.CRASH)
                )
            case Subscribe(wanted):
                world = world.after_input(node, event)
                self._since.setdefault((node, wanted), None)
            case Unsubscribe(wanted):
                world = world.after_input(node, event)
                self._since.pop((node, wanted), None)
            case Publish(notification):
                name = self._names.get(str(notification.id), str(notification.id)).partition("#")[0]
                self._published_at.append(now)
                world = self._settled(world.after_input(node, event, name), now)
            case _:
                return
        self.world = replace(world, commands=world.commands + (world is not self.world)).with_dues()
        self._begin_again(range(self.world.nodes) if is_fault else (node,), now)

    def _begin_again(self, nodes: Collection[NodeId], now: SimTime) -> None:
        """Restart the settling of unsettled filters: now, or once all are up and in reach."""
        for (subscriber, wanted), since in self._since.items():
            if subscriber in nodes and (since is None or now - since < self._settling):
                can_settle = (
                    subscriber not in self._away and not self.world.down and bool(self.world.neighbours(subscriber))
                )
                self._since[subscriber, wanted] = now if can_settle else None

    def _settled(self, world: World, now: SimTime) -> World:
        """The world whose last publication is wanted by settled subscriptions alone."""
        *others, last = world.published
        since = ((*its, at) for its, at in self._since.items() if at is not None and now - at >= self._settling)
        known = {node for node, wanted, _ in since if wanted.matches(last.notification)}
        if now < self._settled_from:
            last = last._replace(wanted_by=last.wanted_by & known, due=last.due & known)
        return replace(world, published=(*others, last))

    def hear(self, node: NodeId, actions: Sequence[Action], now: SimTime, *, by_timer: bool) -> None:
        """Record the node's answer; messages of timers are no load of a command."""
        sent = [
            (now + action.after, str(action.message.message_type)) for action in actions if isinstance(action, Send)
        ]
        self.sent += sent
        self.world = replace(self.world, messages=self.world.messages + len(sent) * (not by_timer))
        for seen in observations(actions):
            self.world = self.world.seeing(node, seen)


def observed_by(observer: RunObserver) -> Wrapper:
    """Have an observer see the agents."""

    def wrap(agent: Agent, handle: Handle) -> Handle:
        observer.agents.append(agent)

        def handle_and_show(event: Event, now: SimTime) -> Iterable[Action]:
            observer.see(agent.node, event, now)
            actions = list(handle(event, now))
            observer.hear(agent.node, actions, now, by_timer=isinstance(event, TimerFired))
            return actions

        return handle_and_show

    return wrap


@lru_cache(maxsize=4096)
def _part(graph: Graph, node: NodeId) -> frozenset[NodeId]:
    """Return all nodes reachable over others, itself included; many worlds share few graphs."""
    found, waiting = {node}, [node]
    while waiting:
        new = [node for node in graph.reached(waiting.pop()) if node not in found]
        found.update(new)
        waiting += new
    return frozenset(found)
