"""Reads the question of an exploration: a transcript's head with lines of its own.

Those lines are taken out, the rest is the head with its setup. They may stand anywhere:

    may 2 link changes
    must no loops
    must mine.py:nobody_waits
    graphs 4
    order any

Beside deliveries and timers, single commands may happen ("p1 publishes e1"), or any of a kind ("2 link changes"), so
many times, in any order. Refused and ineffective commands are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from roambus.bridge.agents import Announce, silently
from roambus.bridge.scenario.plans import FaultKind
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import read_text
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
from roambus.extensions.exploring.networks import Family, connected_graphs, rooted_trees
from roambus.extensions.exploring.properties import Property, find_property
from roambus.extensions.exploring.world import World
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime

MOST_HUNTED = 60
MOST_VALUES = 64


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
    """Messages on one link may overtake each other."""
    fast_messages: bool = False
    """Time passes only while no message is under way."""
    relative: bool = False
    """Only differences of times matter to the agents."""
    time_limit: SimTime | None = None
    """Nothing happens later than this after the beginning."""
    calm: SimTime | None = None
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
    """Parse the text of the file `path`; raises UserError, OSError."""
    head, may, must = list[str](), list[tuple[int, str]](), list[Property]()
    settings: dict[str, Any] = {}
    for number, line in enumerate(map(str.rstrip, text.splitlines()), 1):
        keyword, _, rest = line.partition(" ")
        rest = rest.partition("#")[0].strip()
        head.append("" if keyword in ("may", "must", *_SETTINGS) else line)
        with at(path, number):
            if line.startswith(">"):
                raise ValueError("an exploration has no commands: write what may happen, such as: may s1 subscribes f1")
            if keyword == "may":
                may.append((number, rest))
            elif keyword == "must":
                must.append(find_property(rest, path.parent, announce))
            elif keyword in _SETTINGS:
                name, read = _SETTINGS[keyword]
                value = read(keyword, rest)
                settings["family" if isinstance(value, Family) else name] = value
    if not must:
        raise UserError(f"{path}: nothing must hold; write a line such as: must probes arrive")
    return Question(path, tuple(head), tuple(may), tuple(must), **settings)


def _one_of(**values: Any) -> Callable[[str, str], Any]:
    """Read one of these words."""

    def read(keyword: str, rest: str) -> Any:
        if rest not in values:
            words = " or ".join(f"'{keyword} {value}'" for value in values)
            raise ValueError(f"'{keyword} {rest}' is none; write {words}")
        return values[rest]

    return read


def _values(_: str, rest: str) -> int:
    """Read the values tried of a range for draws."""
    values = {"least": 1, "ends": 2}.get(rest, int(rest) if rest.isdecimal() else 0)
    if not 1 <= values <= MOST_VALUES:
        raise ValueError(f"'chance {rest}' is none; write 'chance least', 'chance ends' or 'chance 5' (values)")
    return values


def _size(keyword: str, rest: str) -> int | Family:
    if match := re.fullmatch(r"(\d{1,3})\.\.(\d{1,3})", rest):
        family = Family(keyword, int(match[1]), int(match[2]))
        if not 2 <= family.least <= family.most <= MOST_HUNTED:
            raise ValueError(f"{keyword} of {rest} nodes: there can be 2 to {MOST_HUNTED} to be hunted in")
        return family
    if keyword in ("fields", "brokers") or rest not in list("23456"):
        raise ValueError(f"{keyword} of {rest!r} nodes: there can be 2 to 6, or for a hunt 2..{MOST_HUNTED}")
    return int(rest)


_SETTINGS: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "order": ("any_order", _one_of(any=True, kept=False)),
    "messages": ("fast_messages", _one_of(fast=True, slow=False)),
    "relative": ("relative", _one_of(time=True)),
    "nodes": ("alike", _one_of(alike=True, differ=False)),
    "chance": ("values", _values),
    "for": ("time_limit", lambda _, rest: parse_positive(rest)),
    "calm": ("calm", lambda _, rest: parse_duration(rest)),
    **{keyword: (keyword, _size) for keyword in ("graphs", "trees", "fields", "brokers")},
}
"""The lines with one value: the attribute of a question, and the function that reads it."""


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
        return [(_tree_name(tree), _with(question, "tree", *_branch(tree, None, "  "))) for tree in trees]
    return [(question.path.stem, question)]


def _with(question: Question, *drawing: str) -> Question:
    """Add the network at the end of the head, so that other lines keep their numbers."""
    return replace(question, head=(*question.head, *drawing), graphs=None, trees=None)


def _branch(tree: tuple[int | None, ...], parent: int | None, indent: str) -> Iterator[str]:
    for number, its in enumerate(tree, 1):
        if its == parent:
            yield f"{indent}b{number}/p{number}/s{number}"
            yield from _branch(tree, number - 1, f"{indent}  ")


def _tree_name(tree: tuple[int | None, ...]) -> str:
    return " ".join(f"{child + 1}:{parent + 1}" for child, parent in enumerate(tree) if parent is not None)


Options = Callable[[World], Iterable[Command]]
_WHEN_QUIET = " when quiet"
_POSSIBLE = (Apply, PublishEvent, Move, Relink, Fail)
_PLURALS = {"crash": "crashes", "recovery": "recoveries", "loss": "losses"}
"""Those that are not made with an s."""


@dataclass(frozen=True, slots=True)
class May:
    """Allows one of the world's `options`, so many `times`. `text` is the line."""

    text: str
    times: int
    options: Options
    is_loss: bool = False
    """Whether it is a message that may get lost."""
    when_quiet: bool = False
    """Whether it needs that nothing is under way."""


class MayReader:
    """Reads lines about what may happen in one network."""

    def __init__(self, network: Network, vocabulary: Vocabulary) -> None:
        self._network, self._vocabulary = network, vocabulary
        self._commands = CommandReader(network, vocabulary)
        self._allows_losses = False
        nodes = range(len(network.processes))
        clients, pairs = [node for node in nodes if not network.is_broker(node)], list(combinations(nodes, 2))
        self._kinds: dict[str, Options] = {
            "link changes": lambda world: (Relink(*pair, not _is_link(*pair, world)) for pair in pairs),
            "cuts": lambda world: (Relink(*pair, up=False) for pair in pairs if _is_link(*pair, world)),
            "tree changes": lambda world: self._moves(nodes, world),
            "client moves": lambda world: self._moves(clients, world),
            "crashes": lambda _: (Fail(node, FaultKind.CRASH) for node in nodes),
            "recoveries": lambda _: (Fail(node, FaultKind.RECOVER) for node in nodes),
            "losses": lambda _: (),
        }

    def read(self, text: str) -> May:
        """Read "2 link changes", "p1 publishes e1 when quiet" or "2 times s1 is cut off"; raises ValueError."""
        bare = text.removesuffix(_WHEN_QUIET)
        times, candidates = self._read(bare.rstrip())
        is_loss, when_quiet = candidates is self._kinds["losses"], bare != text
        if is_loss and when_quiet:
            raise ValueError(f"{text!r} can never happen: only what is under way gets lost")
        if is_loss and self._allows_losses:
            raise ValueError("another line allows losses already: write one line, such as: may 2 losses")
        self._allows_losses |= is_loss

        def options(world: World) -> Iterator[Command]:
            return (candidate for candidate in candidates(world) if self._is_possible(candidate, world))

        return May(text, times, options, is_loss, when_quiet)

    def _read(self, text: str) -> tuple[int, Options]:
        """Return how often a line allows something, and what."""
        times, _, rest = text.partition(" ")
        kind = _PLURALS.get(rest, rest if rest.endswith("s") else f"{rest}s")
        number = int(times) if re.fullmatch(r"\d{1,3}", times) else None
        if number is not None and kind in self._kinds:
            return number, self._kinds[kind]
        about = re.fullmatch(r"(subscription|unsubscription|publication)s?\s+(?:to|from|of)\s+(.+)", rest)
        if number is not None and about:
            return number, self._about(about[1], about[2])
        single = rest.removeprefix("times ").lstrip() if number is not None and rest.startswith("times ") else text
        if re.match(r"\d", single):
            kinds = ", ".join(f"'2 {kind}'" for kind in self._kinds)
            raise ValueError(f"{text!r} is nothing that may happen; write a command, or one of {kinds}")
        commands = self._commands.read(single)
        if len(commands) != 1 or commands[0].after is not None or not isinstance(commands[0].command, _POSSIBLE):
            raise ValueError(f"{single!r} cannot be one of the things that may happen")
        if isinstance(commands[0].command, Apply):
            _check_rests(commands[0].command.command.filter)
        return 1 if number is None else number, lambda _: (commands[0].command,)

    def _is_possible(self, command: Command, world: World) -> bool:
        """Whether a command is accepted and has an effect."""
        is_new = True
        if isinstance(command, Apply):
            wants = command.command.filter in world.wanted[command.node]
            is_new = command.node not in world.down and wants is not isinstance(command.command, Subscribe)
        elif isinstance(command, Relink):
            change: Any = planned(command, 0)
            is_new = world.after(change) != world
        faults = dict.fromkeys(world.down, FaultKind.CRASH)
        return is_new and not refusal(command, dict(enumerate(world.parents)), faults, self._network)

    def _about(self, kind: str, what: str) -> Options:
        role = Role.PUBLISHER if kind == "publication" else Role.SUBSCRIBER
        nodes = [node for node in range(len(self._network.processes)) if role in self._network.roles(node)]
        if kind == "publication":
            event = self._vocabulary.events.read(what)
            return lambda _: (PublishEvent(node, what, event) for node in nodes)
        wish = (Subscribe if kind == "subscription" else Unsubscribe)(self._vocabulary.filters.read(what))
        _check_rests(wish.filter)
        return lambda _: (Apply(node, wish) for node in nodes)

    def _moves(self, nodes: Iterable[NodeId], world: World) -> Iterator[Command]:
        brokers = [other for other in range(world.nodes) if self._network.is_broker(other)]
        for node in nodes:
            yield Move(node, None)
            yield from (Move(node, broker, world.parents[node] is None) for broker in brokers)


def _check_rests(wanted: Filter) -> None:
    if wanted.is_moving:
        raise ValueError(f"{wanted}: nodes do not move during exploration: write within 30 of (40, 20)")


def _is_link(a: NodeId, b: NodeId, world: World) -> bool:
    """Whether a link is up, at least one way."""
    return b in world.graph.near[a] or a in world.graph.near[b]
