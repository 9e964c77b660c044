"""Reads what is to be explored: a transcript whose last lines say what may happen, and what must hold.

The lines that only an exploration has are taken out; what is left is the head of a transcript, with its setup. All of
them begin with a word of their own, and may stand anywhere in the head:

    may 2 link changes
    must no loops
    must mine.py:nobody_waits
    graphs 4
    order any

What may happen, beside deliveries and timers, is single commands, or any command of a kind, each so many times. A line
such as "2 link changes" stands for every change of one link, wherever and in whatever order; one such as
"p1 publishes e1" for that command alone. What a transcript would refuse cannot happen, and what would change nothing
is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import cast

from roambus.bridge.agents import Announce, silently
from roambus.bridge.errors import UserError
from roambus.bridge.files import read_text
from roambus.bridge.scenario.plans import FaultKind, LinkChange
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
from roambus.bridge.transcript.document import Vocabulary, parse_duration, parse_positive
from roambus.bridge.transcript.network import Network
from roambus.experiments.exploring.properties import Property, find_property
from roambus.experiments.exploring.shapes import connected_graphs, rooted_trees
from roambus.experiments.exploring.world import World
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.vocabulary import NodeId, Role, SimTime


@dataclass(frozen=True, slots=True)
class Family:
    """Random networks of one kind and size; a tree's size counts brokers, clients are added."""

    kind: str
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Question:
    """The question without its network: the head's lines, the `may` and the `must` lines."""

    path: Path
    head: tuple[str, ...]
    """The file's lines; those taken out are blank, to keep line numbers."""
    may: tuple[tuple[int, str], ...] = ()
    """What may happen, with the numbers of the lines."""
    must: tuple[Property, ...] = ()
    any_order: bool = False
    fast_messages: bool = False
    """Time passes only while no message is under way."""
    relative: bool = False
    """Only differences of times matter to the agents."""
    drift: SimTime = 0
    time_limit: SimTime | None = None
    calm: SimTime | None = None
    horizon: SimTime | None = None
    alike: bool = False
    """The names of nodes do not matter to the agents."""
    values: int = 1
    """How many values of a range chance takes: least, greatest, middle, quarters, and so on."""
    graphs: int | None = None
    """Explore all connected graphs of this number of nodes."""
    trees: int | None = None
    """Explore all trees of this number of brokers."""

    family: Family | None = None
    """Hunt in random networks of this family."""


@contextmanager
def at(path: Path, number: int) -> Iterator[None]:
    """Add the file's name and the line's number to an error."""
    try:
        yield
    except (ValueError, UserError) as error:
        raise UserError(f"{path}:{number}: {error}") from error


def read_question(path: Path, announce: Announce = silently) -> Question:
    """Read a file; announce files of properties before they run.

    Raises UserError naming file and line, OSError.
    """
    return parse_question(path, read_text(path), announce)


def parse_question(path: Path, text: str, announce: Announce = silently) -> Question:
    """Reads the text of the file `path`; raises UserError, OSError."""
    reader = _Reader(path, announce)
    for number, line in enumerate(text.splitlines(), 1):
        with at(path, number):
            reader.read(number, line.rstrip())
    return reader.finish()


@dataclass(slots=True)
class _Reader:
    """Takes the lines of a file one by one."""

    path: Path
    announce: Announce
    head: list[str] = field(default_factory=list)
    may: list[tuple[int, str]] = field(default_factory=list)
    must: list[Property] = field(default_factory=list)
    others: dict[str, object] = field(default_factory=dict)

    def read(self, number: int, line: str) -> None:
        """Takes the next line; raises ValueError, UserError."""
        if line.startswith(">"):
            raise ValueError("an exploration has no commands: write what may happen, such as: may s1 subscribes f1")
        keyword, _, rest = line.partition(" ")
        rest = rest.partition("#")[0].strip()
        read = None if line.startswith((" ", "\t")) else _KEYWORDS.get(keyword)
        self.head.append("" if read else line)
        if keyword == "may" and read:
            self.may.append((number, rest))
        elif read:
            read(self, rest)

    def finish(self) -> Question:
        """The question, about properties that all hold; raises UserError if nothing has to."""
        if not self.must:
            raise UserError(f"{self.path}: nothing must hold; write a line such as: must probes arrive")
        others = self.others
        return Question(self.path, tuple(self.head), tuple(self.may), tuple(self.must), **others)  # type: ignore[arg-type]

    def add_property(self, rest: str) -> None:
        """Takes what must hold."""
        self.must.append(find_property(rest, self.path.parent, self.announce))

    def read_chance(self, rest: str) -> None:
        """Takes what is tried of a range from which an agent draws."""
        values = {"least": 1, "ends": 2}.get(rest, int(rest) if rest.isdecimal() else 0)
        if not 1 <= values <= MOST_VALUES:
            raise ValueError(f"'chance {rest}' is none; write 'chance least', 'chance ends' or 'chance 5' (values)")
        self.others["values"] = values


def _either(keyword: str, name: str, yes: str, no: str) -> Callable[[_Reader, str], None]:
    def read(reader: _Reader, rest: str) -> None:
        if rest not in (yes, no):
            raise ValueError(f"'{keyword} {rest}' is none; write '{keyword} {yes}' or '{keyword} {no}'")
        reader.others[name] = rest == yes

    return read


def _time(name: str, parse: Callable[[str], SimTime]) -> Callable[[_Reader, str], None]:
    def read(reader: _Reader, rest: str) -> None:
        reader.others[name] = parse(rest)

    return read


def _relative_time(reader: _Reader, rest: str) -> None:
    if rest != "time":
        raise ValueError(f"'relative {rest}' is none; write 'relative time'")
    reader.others["relative"] = True


_RANGE = re.compile(r"(\d{1,3})\.\.(\d{1,3})")
MOST_HUNTED = 60
MOST_VALUES = 64


def _size(name: str) -> Callable[[_Reader, str], None]:
    def read(reader: _Reader, rest: str) -> None:
        if match := _RANGE.fullmatch(rest):
            family = Family(name, int(match[1]), int(match[2]))
            if not 2 <= family.least <= family.most <= MOST_HUNTED:
                raise ValueError(f"{name} of {rest} nodes: there can be 2 to {MOST_HUNTED} to be hunted in")
            reader.others["family"] = family
        elif name in ("fields", "brokers") or not rest.isdecimal() or not 2 <= int(rest) <= 6:
            raise ValueError(f"{name} of {rest!r} nodes: there can be 2 to 6, or for a hunt 2..{MOST_HUNTED}")
        else:
            reader.others[name] = int(rest)

    return read


_KEYWORDS: dict[str, Callable[[_Reader, str], None]] = {
    "may": lambda _, __: None,
    "must": _Reader.add_property,
    "order": _either("order", "any_order", "any", "kept"),
    "messages": _either("messages", "fast_messages", "fast", "slow"),
    "relative": _relative_time,
    "nodes": _either("nodes", "alike", "alike", "differ"),
    "chance": _Reader.read_chance,
    "drift": _time("drift", parse_duration),
    "for": _time("time_limit", parse_positive),
    "calm": _time("calm", parse_duration),
    "horizon": _time("horizon", parse_positive),
    "graphs": _size("graphs"),
    "trees": _size("trees"),
    "fields": _size("fields"),
    "brokers": _size("brokers"),
}


def variants(question: Question) -> list[tuple[str, Question]]:
    """The questions about single networks that a question stands for, with their names."""
    if question.family is not None:
        raise UserError(f"{question.path}: random networks cannot be explored; hunt in them: --hunt 60")
    if question.graphs is not None:
        graphs = connected_graphs(question.graphs, alike=question.alike)
        drawn = (" ".join(f"n{a + 1}-n{b + 1}" for a, b in graph) for graph in graphs)
        return [(links.replace("n", ""), _with(question, f"links {links}")) for links in drawn]
    if question.trees is not None:
        trees = rooted_trees(question.trees, alike=question.alike)
        return [(_tree_name(tree), _with(question, "tree", *_branch(tree, tree.index(None), 1))) for tree in trees]
    return [(question.path.stem, question)]


def _with(question: Question, *drawing: str) -> Question:
    """Add the network at the end of the head, so that other lines keep their numbers."""
    return replace(question, head=(*question.head, *drawing), graphs=None, trees=None)


def _branch(tree: tuple[int | None, ...], node: int, depth: int) -> Iterator[str]:
    number = node + 1
    yield f"{'  ' * depth}b{number}/p{number}/s{number}"
    for child, parent in enumerate(tree):
        if parent == node:
            yield from _branch(tree, child, depth + 1)


def _tree_name(tree: tuple[int | None, ...]) -> str:
    return " ".join(f"{child + 1}:{parent + 1}" for child, parent in enumerate(tree) if parent is not None)


_TIMES = re.compile(r"(?:(\d{1,3})\s+times\s+)?(.+)")
_KINDS = re.compile(r"(\d{1,3})\s+(.+)")
_ABOUT = re.compile(r"(subscription|unsubscription|publication)s?\s+(?:to|from|of)\s+(.+)")

_WHEN_QUIET = " when quiet"

Options = Callable[[World], Iterator[Command]]


@dataclass(frozen=True, slots=True)
class May:
    """Allows one of the world's `options`, so many `times`. `text` is the line."""

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
        """Read "2 link changes", "p1 publishes e1 when quiet" or "2 times s1 is cut off"; raises ValueError."""
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
