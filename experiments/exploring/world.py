"""The world around the nodes: links, places, applications' wishes, and remaining commands.

A world is a value; `published`, `delivered` and `taken` are its history, as far as properties ask for it. It changes by
events of the network (`after`), by inputs to nodes (`told`), and by their answers (`seeing`); in a run a witness beside
every agent feeds the same world. A notification counts as wanted only by nodes subscribed long enough, with their links
intact and all nodes up meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

from roambus.bridge.backends.ideal.backend import graph_of
from roambus.bridge.backends.ideal.graph import Graph, GraphChange, Link
from roambus.bridge.host.agents import Handle, Wrapper
from roambus.bridge.host.event_queue import EVENT_OF_FAULT, published_by
from roambus.bridge.scenario.definition import Command as PlannedCommand
from roambus.bridge.scenario.definition import Publication, Scenario
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange, ParentChange
from roambus.bridge.scenario.tree import Places, tree_links
from roambus.bridge.transcript.commands import (
    Command,
    PublishEvent,
    planned,
)
from roambus.bridge.transcript.timeline import Timeline
from roambus.experiments.exploring.nodes import Accepted, Observation, observations
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
from roambus.python_protocol.vocabulary import NodeId, SimTime

Parents = tuple[NodeId | None, ...]


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
    unwanted: frozenset[tuple[NodeId, NotificationId]] = frozenset()
    """Deliveries to a node that did not want them then, or that were never published."""
    altered: frozenset[tuple[NodeId, NotificationId]] = frozenset()
    """Deliveries with another content than published under that id; not among `delivered`."""
    messages: int = 0
    """The number of sent messages, and of given `commands`, if a property counts them."""
    commands: int = 0
    elapsed: SimTime = 0
    """The time since the beginning, if that is limited."""
    calm: SimTime = 0
    """The time since the last event, if a property wants calm."""

    @classmethod
    def of(cls, nodes: int, links: Iterable[Link], parents: Parents = ()) -> World:
        """The world before any command, with links or a given tree."""
        nobody = (frozenset[Filter](),) * nodes
        bare = cls(Graph.of(nodes, links), (None,) * len(parents), (), nobody, (0,) * nodes, (), ((),) * nodes)
        return bare.after(*(ParentChange(0, node, parent) for node, parent in enumerate(parents)))

    def without_history(self) -> World:
        """The same world, of whose history nothing is asked."""
        nothing = ((),) * self.nodes
        return replace(
            self,
            published=(),
            delivered=nothing,
            taken=frozenset(),
            unwanted=frozenset(),
            altered=frozenset(),
            messages=0,
            commands=0,
        )

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
        return self.graph.part(node)

    def after(self, *happenings: GraphChange | ParentChange) -> World:
        """The world after changes of links, nodes or given places."""
        tree = [one for one in happenings if isinstance(one, ParentChange)]
        parents = dict(enumerate(self.parents))
        graph = self.graph
        for one in (*tree_links(tree, parents), *(one for one in happenings if not isinstance(one, ParentChange))):
            graph = graph.after(one)
        parents |= {one.node: one.parent for one in tree}
        return replace(self, graph=graph, parents=tuple(parents.values()))

    def told(self, node: NodeId, event: object, name: str = "") -> World:
        """The world after an application's command; `name` is the notification's."""
        match event:
            case Subscribe(wanted):
                return self._with_wanted(node, self.wanted[node] | {wanted})
            case Unsubscribe(wanted):
                return self._with_wanted(node, self.wanted[node] - {wanted})
            case Publish(notification):
                wanting = frozenset(one for one in range(self.nodes) if self.wants(one, notification))
                numbers = (*self.numbers[:node], self.numbers[node] + 1, *self.numbers[node + 1 :])
                published = (*self.published, Published(notification, name, wanting, wanting))
                return replace(self, numbers=numbers, published=published)
        return self

    def wants(self, node: NodeId, notification: Notification) -> bool:
        """Whether a node's application wants a notification now."""
        return any(one.matches(notification) for one in self.wanted[node])

    def is_published(self, identifier: NotificationId) -> bool:
        """Whether somebody has published something of that name."""
        publisher = identifier.publisher
        return publisher < self.nodes and identifier.sequence < self.numbers[publisher]

    def with_dues(self) -> World:
        """The world in which nothing is due to nodes without interest or without a way now."""
        return replace(self, published=tuple(map(self._still_due, self.published)))

    def _still_due(self, one: Published) -> Published:
        wanted_by = frozenset(node for node in one.wanted_by if self.wants(node, one.notification))
        due = one.due & wanted_by
        return one._replace(wanted_by=wanted_by, due=due & self.part(one.notification.id.publisher) if due else due)

    def _with_wanted(self, node: NodeId, filters: frozenset[Filter]) -> World:
        return replace(self, wanted=(*self.wanted[:node], filters, *self.wanted[node + 1 :]))

    def seeing(self, node: NodeId, seen: Observation) -> World:
        """The world after a node was given something, or accepted it for others."""
        if isinstance(seen, Accepted):
            return replace(self, taken=self.taken | {(seen.notification, one) for one in seen.subscribers})
        if any(one.notification.id == seen.id and repr(one.notification) != repr(seen) for one in self.published):
            return replace(self, altered=self.altered | {(node, seen.id)})
        own = (*self.delivered[node], seen.id)
        is_unwanted = not (self.is_published(seen.id) and self.wants(node, seen))
        unwanted = self.unwanted | {(node, seen.id)} if is_unwanted else self.unwanted
        delivered = (*self.delivered[:node], own, *self.delivered[node + 1 :])
        return replace(self, delivered=delivered, unwanted=unwanted)


class Told(NamedTuple):
    """The nodes' inputs after a command: `before` the losses of links, and `after` them."""

    world: World
    before: tuple[tuple[NodeId, Event], ...] = ()
    after: tuple[tuple[NodeId, Event], ...] = ()


def do(command: Command, world: World, brokers: frozenset[NodeId]) -> Told:
    """Apply a possible command with its immediate effects, as in a run without other plans."""
    plan = planned(command, 0)
    if isinstance(plan, PlannedCommand):
        node, event = plan.node, cast("Any", plan.command)
        if isinstance(event, Publication):
            event = published_by(node, world.numbers[node], event, dict(enumerate(world.wanted)))
        name = command.name if isinstance(command, PublishEvent) else ""
        return Told(world.told(node, event, name), after=((node, event),))
    new = world.after(plan)
    before = ((plan.node, EVENT_OF_FAULT[plan.kind]),) if isinstance(plan, Fault) else ()
    if not world.parents or isinstance(plan, LinkChange):
        return Told(new, before)
    places = Places(dict(enumerate(world.parents)), brokers, world.down)
    return Told(new, before, tuple(places.news(sorted(set(places.apply(plan))))))


Look = Callable[[SimTime], None]


class Witness:
    """Observes a transcript's run, and keeps `world`."""

    def __init__(
        self,
        timeline: Timeline,
        scenario: Scenario,
        look: Look = lambda _: None,
        settling: tuple[SimTime, SimTime] = (0, 0),
    ) -> None:
        """Calls `look` with the time before each event.

        `settling`: how long subscriptions take to settle, and from when on it no longer matters.
        """
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
            for change in changes:
                self._begin_again(change.a, at)
                self._begin_again(change.b, at)

    def see(self, node: NodeId, event: Event, now: SimTime) -> None:
        """Takes what a node is told."""
        self.reach(now)
        self._look(now)
        match event:
            case Detach():
                self._away.add(node)
            case Attach():
                self._away.discard(node)
            case Subscribe() | Unsubscribe() | Publish() | Crashed() | Stopped() | Recovered():
                world = self._changed(node, event, now)
                self.world = replace(world, commands=world.commands + 1).with_dues()
            case _:
                return
        for one in range(self.world.nodes) if isinstance(event, Crashed | Stopped | Recovered) else (node,):
            self._begin_again(one, now)

    def _changed(self, node: NodeId, event: Event, now: SimTime) -> World:
        match event:
            case Subscribe(wanted):
                self._since.setdefault((node, wanted), None)
            case Unsubscribe(wanted):
                self._since.pop((node, wanted), None)
            case Publish(notification):
                name = self._names.get(str(notification.id), str(notification.id)).partition("#")[0]
                self._published_at.append(now)
                return self._settled(self.world.told(node, event, name), now)
            case Recovered():
                return self.world.after(Fault(now, node, FaultKind.RECOVER))
            case Crashed() | Stopped():
                return self.world.after(Fault(now, node, FaultKind.CRASH))
        return self.world.told(node, event)

    def _begin_again(self, node: NodeId, now: SimTime) -> None:
        """Restart the settling of unsettled filters: now, or once all are up and in reach."""
        for (one, wanted), since in self._since.items():
            if one == node and (since is None or now - since < self._settling):
                can_settle = one not in self._away and not self.world.down and bool(self.world.neighbours(one))
                self._since[one, wanted] = now if can_settle else None

    def _settled(self, world: World, now: SimTime) -> World:
        """The world whose last publication is wanted by settled subscriptions alone."""
        if now >= self._settled_from:
            return world
        *others, last = world.published
        known = {
            node
            for (node, wanted), since in self._since.items()
            if since is not None and now - since >= self._settling and wanted.matches(last.notification)
        }
        last = last._replace(wanted_by=last.wanted_by & known, due=last.due & known)
        return replace(world, published=(*others, last))

    def hear(self, node: NodeId, actions: Sequence[Action], now: SimTime, *, by_timer: bool) -> None:
        """Record the node's answer; messages of timers are no load of a command."""
        sent = [(now + one.after, str(one.message.message_type)) for one in actions if isinstance(one, Send)]
        self.sent += sent
        if sent and not by_timer:
            self.world = replace(self.world, messages=self.world.messages + len(sent))
        for seen in observations(actions):
            self.world = self.world.seeing(node, seen)


def witness_by(witness: Witness) -> Wrapper:
    """Have a witness see the agents."""

    def wrap(agent: Agent, handle: Handle) -> Handle:
        witness.agents.append(agent)

        def handle_and_show(event: Event, now: SimTime) -> Iterable[Action]:
            witness.see(agent.node, event, now)
            actions = list(handle(event, now))
            witness.hear(agent.node, actions, now, by_timer=isinstance(event, TimerFired))
            return actions

        return handle_and_show

    return wrap
