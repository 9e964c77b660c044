"""The head of a transcript says which agent runs over which network, and what stands for what."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations

from roambus.bridge.limits import LINKS
from roambus.bridge.transcript.document import Document, Line, Vocabulary, parse_measure, parse_positive
from roambus.bridge.transcript.network import Drawing, Network, expand_names
from roambus.python_protocol.settings import unknown
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime


@dataclass(slots=True)
class Head:
    """What the lines before the first command say."""

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    agent: str = ""
    agent_line: int = 0
    parameters: dict[str, str] = field(default_factory=dict)
    seed: int = 0
    delay: SimTime = MILLISECOND
    """The delay of every link."""
    slot: SimTime = SECOND
    """How long a command's messages are waited for."""
    times: bool = False
    by_hand: bool = False
    """Messages arrive, and timers run out, when a command says so."""
    hidden: dict[str, int] = field(default_factory=dict)
    """Types of messages and notes that are not shown, with the number of the line that says so."""
    range_m: float = 30.0
    """The range of every node, on a field."""
    speed_mps: float = 10.0
    """The speed of nodes that move, on a field."""
    setup: list[Line] = field(default_factory=list)
    """The commands before those of the body; nothing is shown of what they cause."""


def read_head(document: Document) -> tuple[Head, Network]:
    """Reads the head; raises UserError naming file and line."""
    reader = _HeadReader()
    for line in document.head:
        with document.at(line.number):
            reader.read(line)
    with document.at(document.body[0].number):
        if not reader.head.agent:
            raise ValueError("no agent is named; write a line such as: agent mft")
        network = reader.drawing.finish()
    if reader.about_field and not network.places:
        with document.at(reader.about_field):
            raise ValueError("that is about a field; draw one, below a line 'field'")
    return reader.head, network


class _HeadReader:
    """Takes the lines of a head one by one."""

    def __init__(self) -> None:
        self.head = Head()
        self.drawing = Drawing()
        self.about_field = 0
        """The number of a line that means nothing without a field."""
        self._indented: Callable[[Line], None] | None = None
        """What an indented line means after the last keyword."""
        self._blocks: dict[str, Callable[[Line], None]] = {
            "tree": self._tree,
            "sites": self._site,
            "field": self._place,
            "setup": self.head.setup.append,
        }
        self._keywords: dict[str, Callable[[Line, str], None]] = {
            "agent": self._agent,
            "seed": self._seed,
            "delay": self._delay,
            "slot": self._slot,
            "range": self._range,
            "speed": self._speed,
            "times": self._times,
            "by": self._by_hand,
            "hide": self._hide,
            "clients": self._clients,
            "links": self._links,
            "complete": self._complete,
            "filter": self._filter,
            "event": self._event,
        }

    def read(self, line: Line) -> None:
        """Takes the next line; raises ValueError."""
        if line.is_empty:
            return
        if line.is_indented:
            if self._indented is None:
                *others, last = self._blocks
                raise ValueError(f"only below {', '.join(others)} or {last} lines are indented")
            self._indented(line)
            return
        keyword, _, rest = line.text.partition(" ")
        self._indented = self._blocks.get(keyword)
        if self._indented is None:
            self._read_keyword(line, keyword, rest.strip())

    def _read_keyword(self, line: Line, keyword: str, rest: str) -> None:
        if keyword not in self._keywords:
            raise ValueError(unknown("keyword", keyword, {**self._keywords, **self._blocks}))
        self._keywords[keyword](line, rest)

    def _tree(self, line: Line) -> None:
        self.drawing.draw_tree_line(line.text.partition("#")[0].rstrip())

    def _site(self, line: Line) -> None:
        self.drawing.draw_site(line.text.partition("#")[0])

    def _place(self, line: Line) -> None:
        self.drawing.draw_place(line.text.partition("#")[0])

    def _agent(self, line: Line, rest: str) -> None:
        name, *settings = rest.split() or [""]
        self.head.agent, self.head.agent_line = name, line.number
        for setting in settings:
            key, equals, value = setting.partition("=")
            if not equals:
                raise ValueError(f"{setting!r} is no parameter such as storage_limit=100")
            self.head.parameters[key] = value

    def _seed(self, _: Line, rest: str) -> None:
        if not rest.isdecimal():
            raise ValueError(f"{rest!r} is no seed such as 7")
        self.head.seed = int(rest)

    def _delay(self, _: Line, rest: str) -> None:
        self.head.delay = parse_positive(rest)

    def _slot(self, _: Line, rest: str) -> None:
        self.head.slot = parse_positive(rest)

    def _range(self, line: Line, rest: str) -> None:
        self.about_field = line.number
        self.head.range_m = parse_measure(rest, "m")

    def _speed(self, line: Line, rest: str) -> None:
        self.about_field = line.number
        self.head.speed_mps = parse_measure(rest, "m/s")

    def _times(self, _: Line, rest: str) -> None:
        if rest:
            raise ValueError("'times' stands alone")
        self.head.times = True

    def _by_hand(self, _: Line, rest: str) -> None:
        if rest != "hand":
            raise ValueError(f"'by {rest}' is no setting; write 'by hand'")
        self.head.by_hand = True

    def _hide(self, line: Line, rest: str) -> None:
        self.head.hidden |= dict.fromkeys(rest.split(), line.number)

    def _clients(self, _: Line, rest: str) -> None:
        for word in rest.split():
            self.drawing.draw_client(word)

    def _links(self, _: Line, rest: str) -> None:
        for word in rest.split():
            self.drawing.draw_link(word)

    def _complete(self, _: Line, rest: str) -> None:
        nodes = [name for word in rest.split() for name in expand_names(word)]
        if len(nodes) < 2:
            raise ValueError(f"{rest!r} does not name two nodes or more, such as b1 n1..n5")
        LINKS.check(len(nodes) * (len(nodes) - 1) // 2)
        for a, b in combinations(nodes, 2):
            self.drawing.draw_link(f"{a}-{b}")

    def _filter(self, _: Line, rest: str) -> None:
        self.head.vocabulary.define_filter(*_definition(rest, "filter f1: topic = 1"))

    def _event(self, _: Line, rest: str) -> None:
        self.head.vocabulary.define_event(*_definition(rest, "event e1: topic = 1, price = 3"))


def _definition(text: str, example: str) -> tuple[str, str]:
    match = re.fullmatch(r"(\w+)\s*:\s*(.+)", text)
    if match is None:
        raise ValueError(f"write it so: {example}")
    return match[1], match[2]
