"""What is so in the world around the nodes: links, places, what applications want, and what may still happen.

A world is a value. `published`, `delivered` and `taken` are its history as far as properties ask for it: they are part
of what tells one state from another.

What a command does: how it changes the world, and which nodes are told of it, as the host of a run would.

The order is that of a run at one instant (`bridge.host.event_loop`): a fault is told first, then what links have lost,
then new places in a given tree, then the application's command.

What may happen beside deliveries and timers: single commands, or any command of a kind, each so many times.

A line such as "2 link changes" stands for every change of one link, wherever and in whatever order; one such as
"p1 publishes e1" for that command alone. What a command does to the world is in `doing`.

Symmetric nodes: what is done first is done at one of those that look alike.

An automorphism renames the nodes so that the network, the tree and the roles stay what they are. If names do not matter
to the agents, two commands that an automorphism turns into each other lead to states that are renamed, too, and one
of the two is enough. This is made use of for the first command, at which nothing tells alike nodes apart yet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Any, NamedTuple, cast

from roambus.bridge.backends.ideal.graph import Graph, Happening, Link
from roambus.bridge.host.agenda import TOLD_OF, published_by
from roambus.bridge.scenario.definition import Command as PlannedCommand
from roambus.bridge.scenario.definition import Publication
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange, ParentChange
from roambus.bridge.scenario.tree import Places, tree_links
from roambus.bridge.transcript.commands import (
    Apply,
    Command,
    CommandReader,
    Fail,
    Move,
    PublishEvent,
    Relink,
    planned,
    refusal,
)
from roambus.bridge.transcript.document import Vocabulary
from roambus.bridge.transcript.network import Network
from roambus.experiments.exploring.nodes import Seen, Taken
from roambus.python_protocol.events import Event, Publish, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.vocabulary import NodeId, Role, SimTime

Parents = tuple[NodeId | None, ...]


class Published(NamedTuple):
    """A notification, what it is called, and those who have wanted it ever since it was published.

    It is `due` to those of them to whom there was a way from the publisher at every moment.
    """

    notification: Notification
    name: str
    wanted_by: frozenset[NodeId]
    due: frozenset[NodeId]


@dataclass(frozen=True, slots=True)
class World:
    """The state of everything but the nodes and what is under way between them."""

    graph: Graph
    """Which links carry, and who is down."""
    parents: Parents = ()
    """The given tree, node by node; empty if there is none."""
    left: tuple[int, ...] = ()
    """How often each of what may happen still may."""
    wanted: tuple[frozenset[Filter], ...] = ()
    numbers: tuple[int, ...] = ()
    """How many notifications each node has published."""
    published: tuple[Published, ...] = ()
    delivered: tuple[tuple[NotificationId, ...], ...] = ()
    """What each node was given, in the order in which it was."""
    taken: frozenset[tuple[str, NodeId]] = frozenset()
    """(notification, subscriber) that a node has taken on."""
    unwanted: frozenset[tuple[NodeId, NotificationId]] = frozenset()
    """What was given to a node that did not want it then, or that nobody had published."""
    messages: int = 0
    """How many messages were sent, and how many `commands` given, if a property counts them."""
    commands: int = 0
    elapsed: SimTime = 0
    """The time since the beginning, if that is limited."""
    calm: SimTime = 0
    """The time since something last happened, if a property wants calm."""

    @classmethod
    def of(cls, nodes: int, links: Iterable[Link], parents: Parents = ()) -> World:
        """The world in which nobody has done anything, with links or a given tree."""
        nobody = (frozenset[Filter](),) * nodes
        bare = cls(Graph.of(nodes, links), (None,) * len(parents), (), nobody, (0,) * nodes, (), ((),) * nodes)
        return bare.after(*(ParentChange(0, node, parent) for node, parent in enumerate(parents)))

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

    def after(self, *happenings: Happening | ParentChange) -> World:
        """The world after links, nodes or places in the given tree have changed."""
        tree = [one for one in happenings if isinstance(one, ParentChange)]
        parents = dict(enumerate(self.parents))
        graph = self.graph
        for one in (*tree_links(tree, parents), *(one for one in happenings if not isinstance(one, ParentChange))):
            graph = graph.after(one)
        parents |= {one.node: one.parent for one in tree}
        return replace(self, graph=graph, parents=tuple(parents.values()))

    def told(self, node: NodeId, event: object, name: str = "") -> World:
        """The world after an application's command, or as it is; a notification is called by that name."""
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
        """Whether the application of a node wants a notification now."""
        return any(one.matches(notification) for one in self.wanted[node])

    def is_published(self, identifier: NotificationId) -> bool:
        """Whether somebody has published something of that name."""
        publisher = identifier.publisher
        return publisher < self.nodes and identifier.sequence < self.numbers[publisher]

    def with_dues(self) -> World:
        """The world in which nothing is due to those who have given it up, or to whom there is no way now."""
        return replace(self, published=tuple(map(self._still_due, self.published)))

    def _still_due(self, one: Published) -> Published:
        wanted_by = frozenset(node for node in one.wanted_by if self.wants(node, one.notification))
        due = one.due & wanted_by
        return one._replace(wanted_by=wanted_by, due=due & self.part(one.notification.id.publisher) if due else due)

    def _with_wanted(self, node: NodeId, filters: frozenset[Filter]) -> World:
        return replace(self, wanted=(*self.wanted[:node], filters, *self.wanted[node + 1 :]))

    def seeing(self, node: NodeId, seen: Seen) -> World:
        """The world after a node was given something, or has taken it on."""
        if isinstance(seen, Taken):
            return replace(self, taken=self.taken | {(seen.notification, one) for one in seen.subscribers})
        own = (*self.delivered[node], seen.id)
        is_unwanted = not (self.is_published(seen.id) and self.wants(node, seen))
        unwanted = self.unwanted | {(node, seen.id)} if is_unwanted else self.unwanted
        delivered = (*self.delivered[:node], own, *self.delivered[node + 1 :])
        return replace(self, delivered=delivered, unwanted=unwanted)


class Told(NamedTuple):
    """What is told to whom after a command: first `before` what links have lost is told, then `after` it."""

    world: World
    before: tuple[tuple[NodeId, Event], ...] = ()
    after: tuple[tuple[NodeId, Event], ...] = ()


def do(command: Command, world: World, brokers: frozenset[NodeId]) -> Told:
    """What follows at once from a command that is possible, as in a run in which nothing else is planned."""
    plan = planned(command, 0)
    if isinstance(plan, PlannedCommand):
        node, event = plan.node, cast("Any", plan.command)
        if isinstance(event, Publication):
            event = published_by(node, world.numbers[node], event, dict(enumerate(world.wanted)))
        name = command.name if isinstance(command, PublishEvent) else ""
        return Told(world.told(node, event, name), after=((node, event),))
    new = world.after(plan)
    before = ((plan.node, TOLD_OF[plan.kind]),) if isinstance(plan, Fault) else ()
    if not world.parents or isinstance(plan, LinkChange):
        return Told(new, before)
    places = Places(dict(enumerate(world.parents)), brokers, world.down)
    return Told(new, before, tuple(places.news(sorted(set(places.apply(plan))))))


_TIMES = re.compile(r"(?:(\d{1,3})\s+times\s+)?(.+)")
_KINDS = re.compile(r"(\d{1,3})\s+(.+)")
_ABOUT = re.compile(r"(subscription|unsubscription|publication)s?\s+(?:to|from|of)\s+(.+)")

_WHEN_QUIET = " when quiet"

Options = Callable[[World], Iterator[Command]]


@dataclass(frozen=True, slots=True)
class May:
    """What may happen so many `times`: one of the `options` of the world as it is then. `text` is the line."""

    text: str
    times: int
    options: Options
    is_loss: bool = False
    """Whether it is a message that may get lost."""
    when_quiet: bool = False
    """Whether it may happen only while nothing is under way."""


class MayReader:
    """Reads lines about what may happen in one network."""

    def __init__(self, network: Network, vocabulary: Vocabulary) -> None:
        self._network = network
        self._vocabulary = vocabulary
        self._commands = CommandReader(network, vocabulary)
        self._allows_losses = False
        self._any: dict[str, Options] = {
            "link change": self._link_changes,
            "cut": self._cuts,
            "tree change": self._tree_changes,
            "client move": self._client_moves,
            "crash": self._crashes,
            "recovery": self._recoveries,
        }

    def read(self, text: str) -> May:
        """Reads "2 link changes", "p1 publishes e1 when quiet" or "2 times s1 is cut off"; raises ValueError."""
        bare = text.removesuffix(_WHEN_QUIET)
        may = replace(self._read(bare.rstrip()), when_quiet=bare != text)
        if may.is_loss and may.when_quiet:
            raise ValueError(f"{text!r} can never happen: only what is under way gets lost")
        if may.is_loss and self._allows_losses:
            raise ValueError("another line allows losses already: write one line, such as: may 2 losses")
        self._allows_losses |= may.is_loss
        return may

    def _read(self, text: str) -> May:
        match = _KINDS.fullmatch(text)
        kind = None if match is None else _singular(match[2])
        if match is not None and kind == "loss":
            return May(text, int(match[1]), lambda _: iter(()), is_loss=True)
        if match is not None and kind in self._any:
            return May(text, int(match[1]), self._any[kind])
        if match is not None and (about := _ABOUT.fullmatch(match[2])):
            return May(text, int(match[1]), self._about(about[1], about[2]))
        times = _TIMES.fullmatch(text)
        command = self._single(times[2]) if times else None
        if times is None or command is None:
            kinds = ", ".join(f"'2 {_plural(one)}'" for one in (*self._any, "loss"))
            raise ValueError(f"{text!r} is nothing that may happen; write a command, or one of {kinds}")
        return May(text, int(times[1] or 1), lambda world: self._possible(command, world))

    def _single(self, text: str) -> Command | None:
        if re.match(r"\d", text):
            return None
        commands = self._commands.read(text)
        if len(commands) != 1 or commands[0].after is not None or not isinstance(commands[0].command, _POSSIBLE):
            raise ValueError(f"{text!r} cannot be one of the things that may happen")
        return commands[0].command

    def _possible(self, command: Command, world: World) -> Iterator[Command]:
        """The command, if it is not refused, and changes anything."""
        match command:
            case Apply(node, event):
                is_new = node not in world.down and isinstance(event, Subscribe) == (
                    event.filter not in world.wanted[node]
                )
            case Relink():
                is_new = world.after(cast("LinkChange", planned(command, 0))) != world
            case _:
                is_new = True
        faults = dict.fromkeys(world.down, FaultKind.CRASH)
        if is_new and not refusal(command, dict(enumerate(world.parents)), faults, self._network):
            yield command

    def _about(self, kind: str, what: str) -> Options:
        event = self._vocabulary.events.read(what) if kind == "publication" else ()
        wanted = None if kind == "publication" else self._vocabulary.filters.read(what)
        role = Role.PUBLISHER if kind == "publication" else Role.SUBSCRIBER
        nodes = [node for node in range(len(self._network.processes)) if role in self._network.roles(node)]

        def options(world: World) -> Iterator[Command]:
            for node in nodes:
                command: Command = PublishEvent(node, what, event)
                if wanted is not None:
                    command = Apply(node, (Subscribe if kind == "subscription" else Unsubscribe)(wanted))
                yield from self._possible(command, world)

        return options

    def _link_changes(self, world: World) -> Iterator[Command]:
        for a, b in combinations(range(world.nodes), 2):
            yield Relink(a, b, not _is_link(a, b, world))

    def _cuts(self, world: World) -> Iterator[Command]:
        for a, b in combinations(range(world.nodes), 2):
            if _is_link(a, b, world):
                yield Relink(a, b, up=False)

    def _tree_changes(self, world: World) -> Iterator[Command]:
        for node in range(world.nodes):
            yield from self._moves(node, world)

    def _client_moves(self, world: World) -> Iterator[Command]:
        for node in range(world.nodes):
            if not self._network.is_broker(node):
                yield from self._moves(node, world)

    def _moves(self, node: NodeId, world: World) -> Iterator[Command]:
        brokers = [other for other in range(world.nodes) if self._network.is_broker(other)]
        joins = world.parents[node] is None
        for command in (Move(node, None), *(Move(node, broker, joins) for broker in brokers)):
            yield from self._possible(command, world)

    def _crashes(self, world: World) -> Iterator[Command]:
        for node in range(world.nodes):
            yield from self._possible(Fail(node, FaultKind.CRASH), world)

    def _recoveries(self, world: World) -> Iterator[Command]:
        for node in range(world.nodes):
            yield from self._possible(Fail(node, FaultKind.RECOVER), world)


_POSSIBLE = (Apply, PublishEvent, Move, Relink, Fail)


def _is_link(a: NodeId, b: NodeId, world: World) -> bool:
    """Whether a link is up, at least one way."""
    return b in world.graph.near[a] or a in world.graph.near[b]


def _singular(kind: str) -> str:
    return next((one for one in _ALL if kind in (one, _plural(one))), kind)


_ALL = ("link change", "cut", "tree change", "client move", "crash", "recovery", "loss")


def _plural(kind: str) -> str:
    if kind.endswith("y"):
        return f"{kind[:-1]}ies"
    return f"{kind}es" if kind.endswith(("s", "sh")) else f"{kind}s"


def automorphisms(world: World, kinds: Sequence[Hashable]) -> list[tuple[NodeId, ...]]:
    """All renamings of the nodes, whose `kinds` are kept, that keep links, places, wishes and who is down."""
    return [names for names in permutations(range(world.nodes)) if _keeps(names, world, kinds)]


def _keeps(names: tuple[NodeId, ...], world: World, kinds: Sequence[Hashable]) -> bool:
    nodes = range(world.nodes)
    near = world.graph.near
    links = all(near[names[node]] == {names[one] for one in near[node]} for node in nodes)
    places = all(world.parents[names[node]] == _named(world.parents[node], names) for node in nodes if world.parents)
    alike = all((kinds[names[one]], world.wanted[names[one]]) == (kinds[one], world.wanted[one]) for one in nodes)
    return links and places and alike and {names[one] for one in world.down} == world.down


def representatives(commands: Iterable[Command], names: Iterable[tuple[NodeId, ...]]) -> list[Command]:
    """One of the commands that are turned into each other."""
    found: dict[str, Command] = {}
    renamings = list(names)
    for command in commands:
        found.setdefault(min(repr(_renamed(command, one)) for one in renamings), command)
    return list(found.values())


def _named(node: NodeId | None, names: tuple[NodeId, ...]) -> NodeId | None:
    return None if node is None else names[node]


def _renamed(command: Any, names: tuple[NodeId, ...]) -> Command:
    match command:
        case Apply(node) | PublishEvent(node) | Fail(node):
            renamed: Command = replace(command, node=names[node])
        case Move(node, parent):
            renamed = replace(command, node=names[node], parent=_named(parent, names))
        case Relink(a, b):
            renamed = replace(command, a=min(names[a], names[b]), b=max(names[a], names[b]))
        case _:
            raise ValueError(f"{command} cannot be renamed")
    return renamed
