"""What may happen beside deliveries and timers: single commands, or any command of a kind, each so many times.

A line such as "2 link changes" stands for every change of one link, wherever and in whatever order; one such as
"p1 publishes e1" for that command alone. What a command does to the world is in `doing`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from roambus.bridge.scenario.happenings import FaultKind
from roambus.bridge.transcript.commands import Apply, Command, CommandReader, Fail, Move, PublishEvent, Relink
from roambus.bridge.transcript.network import Network
from roambus.bridge.transcript.vocabulary import Vocabulary
from roambus.experiments.exploring.world import World
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.roles import NodeId, Role

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
        event = self._vocabulary.event(what) if kind == "publication" else ()
        wanted = None if kind == "publication" else self._vocabulary.filter(what)
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
        case Relink(a, b, up):
            return up != ((min(a, b), max(a, b)) in world.links)
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
