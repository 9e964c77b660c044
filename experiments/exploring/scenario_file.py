"""Reads what is to be explored: a transcript whose last lines say what may happen, and what must hold.

The lines that only an exploration has are taken out; what is left is the head of a transcript, with its setup. All of
them begin with a word of their own, and may stand anywhere in the head:

    may 2 link changes
    must no loops
    must mine.py:nobody_waits
    graphs 4
    order any

All small networks: the connected graphs of so many nodes, and the trees of so many brokers, each shape once.

Two networks have one shape if the nodes of one can be renamed so that it becomes the other. A tree is a rooted one,
because who is whose parent matters. Every node is a publisher and a subscriber: in a tree each broker has both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations
from pathlib import Path

from roambus.bridge.agents import Announce, silently
from roambus.bridge.errors import UserError
from roambus.bridge.files import read_text
from roambus.bridge.transcript.document import parse_duration, parse_positive
from roambus.experiments.exploring.properties import Property, find_property
from roambus.python_protocol.vocabulary import SimTime


@dataclass(frozen=True, slots=True)
class Family:
    """Random networks of one kind, of so many nodes; of a tree, brokers are counted, and clients come to them."""

    kind: str
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Question:
    """What is explored, but for the network: the lines of the transcript's head, what may happen, what must hold."""

    path: Path
    head: tuple[str, ...]
    """The lines of the file, those taken out left blank, so that they keep their numbers."""
    may: tuple[tuple[int, str], ...] = ()
    """What may happen, with the numbers of the lines."""
    must: tuple[Property, ...] = ()
    any_order: bool = False
    slow_messages: bool = False
    drift: SimTime = 0
    time_limit: SimTime | None = None
    calm: SimTime | None = None
    horizon: SimTime | None = None
    alike: bool = False
    """The names of nodes do not matter to the agents."""
    both_ends: bool = False
    """Chance takes the least and the greatest of a range, and not only the least."""
    graphs: int | None = None
    """Explore all connected graphs of so many nodes."""
    trees: int | None = None
    """Explore all trees of so many brokers."""

    family: Family | None = None
    """Hunt in random networks of this family."""

    def without_families(self, head: tuple[str, ...]) -> Question:
        """The same question about one network, which `head` draws."""
        return replace(self, head=head, graphs=None, trees=None)


@contextmanager
def at(path: Path, number: int) -> Iterator[None]:
    """Gives an error about a line the name of the file and the line's number."""
    try:
        yield
    except (ValueError, UserError) as error:
        raise UserError(f"{path}:{number}: {error}") from error


def read_question(path: Path, announce: Announce = silently) -> Question:
    """Reads a file; tells of files with properties before they run. Raises UserError naming file and line, OSError."""
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
        if keyword == "sites" and rest:  # alone it draws some, as in any transcript
            read = _size(keyword)
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

    def read_order(self, rest: str) -> None:
        """Takes in which order messages on a link arrive."""
        if rest not in ("any", "kept"):
            raise ValueError(f"'order {rest}' is none; write 'order any' or 'order kept'")
        self.others["any_order"] = rest == "any"

    def read_nodes(self, rest: str) -> None:
        """Takes whether nodes that look alike are alike."""
        if rest not in ("alike", "differ"):
            raise ValueError(f"'nodes {rest}' is none; write 'nodes alike' or 'nodes differ'")
        self.others["alike"] = rest == "alike"

    def read_chance(self, rest: str) -> None:
        """Takes what is tried of a range from which an agent draws."""
        if rest not in ("least", "ends"):
            raise ValueError(f"'chance {rest}' is none; write 'chance least' or 'chance ends'")
        self.others["both_ends"] = rest == "ends"

    def read_messages(self, rest: str) -> None:
        """Takes whether timers run out while messages are under way."""
        if rest not in ("slow", "fast"):
            raise ValueError(f"'messages {rest}' is none; write 'messages slow' or 'messages fast'")
        self.others["slow_messages"] = rest == "slow"


def _time(name: str, parse: Callable[[str], SimTime]) -> Callable[[_Reader, str], None]:
    def read(reader: _Reader, rest: str) -> None:
        reader.others[name] = parse(rest)

    return read


_RANGE = re.compile(r"(\d{1,3})\.\.(\d{1,3})")
MOST_HUNTED = 60


def _size(name: str) -> Callable[[_Reader, str], None]:
    def read(reader: _Reader, rest: str) -> None:
        if match := _RANGE.fullmatch(rest):
            family = Family(name, int(match[1]), int(match[2]))
            if not 2 <= family.least <= family.most <= MOST_HUNTED:
                raise ValueError(f"{name} of {rest} nodes: there can be 2 to {MOST_HUNTED} to be hunted in")
            reader.others["family"] = family
        elif name in ("fields", "sites") or not rest.isdecimal() or not 2 <= int(rest) <= 6:
            raise ValueError(f"{name} of {rest!r} nodes: there can be 2 to 6, or for a hunt 2..{MOST_HUNTED}")
        else:
            reader.others[name] = int(rest)

    return read


_KEYWORDS: dict[str, Callable[[_Reader, str], None]] = {
    "may": lambda _, __: None,
    "must": _Reader.add_property,
    "order": _Reader.read_order,
    "messages": _Reader.read_messages,
    "nodes": _Reader.read_nodes,
    "chance": _Reader.read_chance,
    "drift": _time("drift", parse_duration),
    "for": _time("time_limit", parse_positive),
    "calm": _time("calm", parse_duration),
    "horizon": _time("horizon", parse_positive),
    "graphs": _size("graphs"),
    "trees": _size("trees"),
    "fields": _size("fields"),
}


Edge = tuple[int, int]


def variants(question: Question) -> list[tuple[str, Question]]:
    """The questions about single networks that a question stands for, with what each is called."""
    if question.family is not None:
        raise UserError(f"{question.path}: random networks cannot be explored; hunt in them: --hunt 60")
    if question.graphs is not None:
        graphs = connected_graphs(question.graphs)
        return [(_graph_name(graph), _with(question, _graph_head(graph))) for graph in graphs]
    if question.trees is not None:
        return [(_tree_name(tree), _with(question, _tree_head(tree))) for tree in rooted_trees(question.trees)]
    return [(question.path.stem, question)]


def _with(question: Question, drawing: tuple[str, ...]) -> Question:
    """The network goes where the first line of the head is blank: numbers of other lines stay as they are."""
    return question.without_families((*question.head, *drawing))


def connected_graphs(size: int) -> list[tuple[Edge, ...]]:
    """A graph of each shape of connected graphs, those with fewer links first."""
    pairs = list(combinations(range(size), 2))
    found: dict[tuple[Edge, ...], None] = {}
    for links in range(size - 1, len(pairs) + 1):
        for graph in combinations(pairs, links):
            if _is_connected(size, graph):
                found.setdefault(_shape(size, graph))
    return list(found)


def rooted_trees(size: int) -> list[tuple[int | None, ...]]:
    """The parents of the nodes in a tree of each shape of rooted trees; node 0 is the root."""
    found: dict[str, tuple[int | None, ...]] = {}
    for tree in _parents(size):
        found.setdefault(_canonical(tree, 0), tree)
    return list(found.values())


def _parents(size: int) -> Iterator[tuple[int | None, ...]]:
    if size == 1:
        yield (None,)
        return
    for tree in _parents(size - 1):
        for parent in range(size - 1):
            yield (*tree, parent)


def _canonical(tree: tuple[int | None, ...], root: int) -> str:
    children = (child for child, parent in enumerate(tree) if parent == root)
    return f"({''.join(sorted(_canonical(tree, child) for child in children))})"


def _shape(size: int, graph: tuple[Edge, ...]) -> tuple[Edge, ...]:
    renamed = (_renamed(graph, names) for names in permutations(range(size)))
    return min(renamed)


def _renamed(graph: tuple[Edge, ...], names: tuple[int, ...]) -> tuple[Edge, ...]:
    return tuple(sorted((min(names[a], names[b]), max(names[a], names[b])) for a, b in graph))


def _is_connected(size: int, graph: tuple[Edge, ...]) -> bool:
    reached, before = {0}, 0
    while len(reached) > before:
        before = len(reached)
        reached |= {end for edge in graph if reached & set(edge) for end in edge}
    return len(reached) == size


def _graph_head(graph: tuple[Edge, ...]) -> tuple[str, ...]:
    return (f"links {' '.join(f'n{a + 1}-n{b + 1}' for a, b in graph)}",)


def _graph_name(graph: tuple[Edge, ...]) -> str:
    return " ".join(f"{a + 1}-{b + 1}" for a, b in graph)


def _tree_head(tree: tuple[int | None, ...]) -> tuple[str, ...]:
    return ("tree", *_branch(tree, 0, 1))


def _branch(tree: tuple[int | None, ...], node: int, depth: int) -> Iterator[str]:
    number = node + 1
    yield f"{'  ' * depth}b{number}/p{number}/s{number}"
    for child, parent in enumerate(tree):
        if parent == node:
            yield from _branch(tree, child, depth + 1)


def _tree_name(tree: tuple[int | None, ...]) -> str:
    return " ".join(f"{child + 1}:{parent + 1}" for child, parent in enumerate(tree) if parent is not None)
