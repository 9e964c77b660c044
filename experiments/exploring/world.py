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
from typing import Any, NamedTuple

from roambus.bridge.scenario.plans import FaultKind
from roambus.bridge.scenario.tree import place
from roambus.bridge.transcript.commands import Apply, Command, CommandReader, Fail, Move, PublishEvent, Relink
from roambus.bridge.transcript.document import Vocabulary
from roambus.bridge.transcript.network import Network
from roambus.python_protocol.events import Crashed, Event, Publish, Recovered, Rewired, Subscribe, Unsubscribe
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

    nodes: int
    links: frozenset[tuple[NodeId, NodeId]]
    """The links that are up, each with its lower end first; those of a given tree are its edges."""
    blocked: frozenset[tuple[NodeId, NodeId]] = frozenset()
    """From which sender to which receiver a link that is up does not carry."""
    parents: Parents = ()
    """The given tree, node by node; empty if there is none."""
    down: frozenset[NodeId] = frozenset()
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

    @property
    def edges(self) -> frozenset[tuple[NodeId, NodeId]]:
        """The links that carry, because they and both ends are up."""
        return frozenset(one for one in self.links if self.down.isdisjoint(one))

    def neighbours(self, node: NodeId) -> list[NodeId]:
        """Those to whom a link carries, in their order."""
        near = (b if a == node else a for a, b in self.edges if node in (a, b))
        return sorted(one for one in near if (node, one) not in self.blocked)

    def part(self, node: NodeId) -> frozenset[NodeId]:
        """The nodes that a node can reach, itself included."""
        found, waiting = {node}, [node]
        while waiting:
            new = [one for one in self.neighbours(waiting.pop()) if one not in found]
            found.update(new)
            waiting += new
        return frozenset(found)

    def children(self, node: NodeId) -> tuple[NodeId, ...]:
        """The children of a node in the given tree."""
        return tuple(child for child, parent in enumerate(self.parents) if parent == node)

    def is_below(self, node: NodeId, above: NodeId) -> bool:
        """Whether `node` is `above`, or below it in the given tree."""
        place: NodeId | None = node
        while place is not None:
            if place == above:
                return True
            place = self.parents[place]
        return False

    def place(self, node: NodeId, brokers: frozenset[NodeId]) -> Rewired:
        """The place of a node in the given tree, as it is told."""
        return place(self.parents[node], self.children(node), self.down, brokers)

    def with_parent(self, node: NodeId, parent: NodeId | None) -> World:
        """The world in which a node has another parent."""
        parents = (*self.parents[:node], parent, *self.parents[node + 1 :])
        return replace(self, parents=parents, links=tree_edges(enumerate(parents)))

    def with_link(self, relink: Relink) -> World:
        """The world in which a link has come up or gone down."""
        link = frozenset({(min(relink.a, relink.b), max(relink.a, relink.b))})
        if relink.one_way:
            way = {(relink.a, relink.b)}
            return replace(self, blocked=self.blocked - way if relink.up else self.blocked | way)
        blocked = self.blocked - {(relink.a, relink.b), (relink.b, relink.a)}
        return replace(self, links=self.links | link if relink.up else self.links - link, blocked=blocked)

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

    def with_published(self, notification: Notification, name: str) -> World:
        """The world in which that was published."""
        wanting = frozenset(node for node in range(self.nodes) if self.wants(node, notification))
        node = notification.id.publisher
        numbers = (*self.numbers[:node], self.numbers[node] + 1, *self.numbers[node + 1 :])
        published = (*self.published, Published(notification, name, wanting, wanting))
        return replace(self, numbers=numbers, published=published)

    def with_wanted(self, node: NodeId, filters: frozenset[Filter]) -> World:
        """The world in which the application of a node wants this."""
        return replace(self, wanted=(*self.wanted[:node], filters, *self.wanted[node + 1 :]))

    def with_delivered(self, node: NodeId, notification: Notification) -> World:
        """The world in which a node was given a notification."""
        identifier = notification.id
        own = (*self.delivered[node], identifier)
        is_unwanted = not (self.is_published(identifier) and self.wants(node, notification))
        unwanted = self.unwanted | {(node, identifier)} if is_unwanted else self.unwanted
        delivered = (*self.delivered[:node], own, *self.delivered[node + 1 :])
        return replace(self, delivered=delivered, unwanted=unwanted)


def tree_edges(parents: Iterable[tuple[NodeId, NodeId | None]]) -> frozenset[tuple[NodeId, NodeId]]:
    """The edges of a tree, each with its lower end first."""
    pairs = ((node, parent) for node, parent in parents if parent is not None)
    return frozenset((min(pair), max(pair)) for pair in pairs)


class Told(NamedTuple):
    """What is told to whom after a command: first `before` what links have lost is told, then `after` it."""

    world: World
    before: tuple[tuple[NodeId, Event], ...] = ()
    after: tuple[tuple[NodeId, Event], ...] = ()


def do(command: Command, world: World, brokers: frozenset[NodeId]) -> Told:
    """What follows at once from a command that is possible."""
    match command:
        case Apply(node, event):
            wanted = world.wanted[node]
            given = frozenset({event.filter})
            now = wanted | given if isinstance(event, Subscribe) else wanted - given
            return Told(world.with_wanted(node, now), after=((node, event),))
        case PublishEvent():
            return _publish(command, world)
        case Move(node, parent):
            return _retold(world, world.with_parent(node, parent), brokers)
        case Relink():
            return Told(world.with_link(command))
        case Fail():
            return _fail(command, world, brokers)
    raise ValueError(f"{command} is nothing that an explorer does")


def _publish(command: PublishEvent, world: World) -> Told:
    node = command.node
    notification = Notification(NotificationId(node, world.numbers[node]), command.attributes)
    after = world.with_published(notification, command.name)
    event: Any = Publish(notification, tuple(sorted(after.published[-1].wanted_by)))
    return Told(after, after=((node, event),))


def _fail(fail: Fail, world: World, brokers: frozenset[NodeId]) -> Told:
    crashes = fail.kind is FaultKind.CRASH
    down = world.down | {fail.node} if crashes else world.down - {fail.node}
    told = _retold(world, replace(world, down=down), brokers)
    event: Any = Crashed() if crashes else Recovered()
    return told._replace(before=((fail.node, event),))


def _retold(old: World, new: World, brokers: frozenset[NodeId]) -> Told:
    return Told(new, after=tuple(_places(old, new, brokers)) if new.parents else ())


def _places(old: World, new: World, brokers: frozenset[NodeId]) -> Iterator[tuple[NodeId, Event]]:
    """The places of the nodes that are up and have another one than before, or do not know theirs any more."""
    for node in range(new.nodes):
        if node in new.down:
            continue
        place = new.place(node, brokers)
        if node in old.down or place != old.place(node, brokers):
            yield node, place


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
        return May(text, int(times[1] or 1), lambda world: self._if_possible(command, world))

    def _single(self, text: str) -> Command | None:
        if re.match(r"\d", text):
            return None
        commands = self._commands.read(text)
        if len(commands) != 1 or commands[0].after is not None or not isinstance(commands[0].command, _POSSIBLE):
            raise ValueError(f"{text!r} cannot be one of the things that may happen")
        return commands[0].command

    def _if_possible(self, command: Command, world: World) -> Iterator[Command]:
        if is_possible(command, world):
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
                yield from self._if_possible(command, world)

        return options

    def _link_changes(self, world: World) -> Iterator[Command]:
        for a, b in combinations(range(world.nodes), 2):
            yield Relink(a, b, (a, b) not in world.links)

    def _cuts(self, world: World) -> Iterator[Command]:
        for a, b in sorted(world.links):
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
            yield from self._if_possible(command, world)

    def _crashes(self, world: World) -> Iterator[Command]:
        for node in range(world.nodes):
            yield from self._if_possible(Fail(node, FaultKind.CRASH), world)

    def _recoveries(self, world: World) -> Iterator[Command]:
        for node in range(world.nodes):
            yield from self._if_possible(Fail(node, FaultKind.RECOVER), world)


_POSSIBLE = (Apply, PublishEvent, Move, Relink, Fail)


def is_possible(command: Command, world: World) -> bool:
    """Whether a command can be given in this world."""
    match command:
        case Apply(node, event):
            return node not in world.down and isinstance(event, Subscribe) == (event.filter not in world.wanted[node])
        case PublishEvent(node):
            return node not in world.down
        case Move():
            return _can_move(command, world)
        case Relink(a, b, up, one_way):
            is_up = (min(a, b), max(a, b)) in world.links
            return is_up and up == ((a, b) in world.blocked) if one_way else up != is_up
        case Fail(node, kind):
            return (node in world.down) == (kind is FaultKind.RECOVER)
    return False


def _can_move(move: Move, world: World) -> bool:
    old = world.parents[move.node]
    is_new = old != move.parent and (old is None or not move.joins)
    return is_new and (move.parent is None or not world.is_below(move.parent, move.node))


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
    links = {(min(names[a], names[b]), max(names[a], names[b])) for a, b in world.links}
    places = all(world.parents[names[node]] == _named(world.parents[node], names) for node in nodes if world.parents)
    alike = all((kinds[names[one]], world.wanted[names[one]]) == (kinds[one], world.wanted[one]) for one in nodes)
    return links == world.links and places and alike and {names[one] for one in world.down} == world.down


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
