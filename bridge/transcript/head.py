"""The head of a transcript: the agent, the network, and the definitions of names.

A line begins with its keyword. Indented lines below `tree`, `field` and `setup` belong to that keyword. Defaults suit
readable transcripts: links of a millisecond, and slots of a second.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import combinations

from roambus.bridge.scenario.plans import share
from roambus.bridge.system.code import DRIVERS, named
from roambus.bridge.system.limits import LINKS
from roambus.bridge.transcript.document import Document, Line, Vocabulary, parse_positive
from roambus.bridge.transcript.network import Drawing, Network, expand_names, parse_measure
from roambus.python_protocol.settings import unknown
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime


@dataclass(slots=True)
class Head:
    """The content of the lines before the first command."""

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    agent: str = ""
    agent_line: int = 0
    parameters: dict[str, str] = field(default_factory=dict)
    seed: int = 0
    delay: SimTime = MILLISECOND
    """The delay of links without their own (`delays`)."""
    delays: dict[str, SimTime] = field(default_factory=dict)
    """By links such as n1-n2; `losses` can also be one-way, n1->n2."""
    loss: float = 0.0
    """The loss of links without their own."""
    losses: dict[str, float] = field(default_factory=dict)
    slot: SimTime = SECOND
    """The time for a command's messages."""
    times: bool = False
    driver: str = ""
    """The name of the driver whose commands decide arrivals and timers."""
    hidden: dict[str, int] = field(default_factory=dict)
    """Message types and notes that are not shown, with their line numbers."""
    range_m: float = 30.0
    """Every node's range, on a field."""
    speed_mps: float = 10.0
    """The speed of moving nodes, on a field."""
    setup: list[Line] = field(default_factory=list)
    """Commands before those of the body, whose effects are not shown."""


def read_head(document: Document) -> tuple[Head, Network]:
    """Read the head; raises UserError naming file and line."""
    reader = _HeadReader()
    for line in document.head:
        with document.at(line.number):
            reader.read(line)
    with document.at(document.body[0].number):
        if not reader.head.agent:
            raise ValueError("no agent is named; write a line such as: agent mft")
        network = reader.drawing.finish()
    for way, number in reader.about_links:
        with document.at(number):
            network.link(way)
    if reader.about_field and not network.places:
        with document.at(reader.about_field):
            raise ValueError("that needs a field; draw one, below a line 'field'")
    return reader.head, network


BLOCKS = ("tree", "field", "setup")
"""Keywords with indented lines below them."""
KEYWORDS = (
    "agent", "times", "by", "hide",
    "seed", "delay", "loss", "slot", "range", "speed",
    "clients", "links", "nodes", "complete", "filter", "event",
)  # fmt: skip
"""Keywords of one line: run, display, numbers, network and names."""


_ONCE = ("agent", "times", "by", "seed", "slot", "range", "speed")
"""Keywords of which a second line would replace the first."""


class _HeadReader:
    def __init__(self) -> None:
        self.head = Head()
        self.drawing = Drawing()
        self.about_field = 0
        """The number of a line that requires a field."""
        self.about_links: list[tuple[str, int]] = []
        """Links with their own delay or loss, and the line number."""
        self._block = ""
        """The keyword of the indented lines."""
        self._given: dict[str, int] = {}
        """The last line of each keyword."""

    def read(self, line: Line) -> None:
        """Read the next line; raises ValueError."""
        keyword, _, rest = line.text.partition(" ")
        if line.is_empty:
            return
        if line.text.startswith((" ", "\t")):
            self._read_indented(line)
        elif keyword in BLOCKS:
            self._block = keyword
        elif keyword in KEYWORDS:
            self._block = ""
            if keyword in _ONCE and keyword in self._given:
                raise ValueError(f"'{keyword}' stands in line {self._given[keyword]} already")
            self._given[keyword] = line.number
            # Each of these reads the keywords that it knows, and nothing else.
            for read in (self._read_run, self._read_number, self._read_names):
                read(line.number, keyword, rest.strip())
        else:
            raise ValueError(unknown("keyword", keyword, dict.fromkeys(KEYWORDS + BLOCKS)))

    def _read_indented(self, line: Line) -> None:
        """A # begins a comment in a drawing, but is text in a setup command."""
        text = line.text.partition("#")[0]
        match self._block:
            case "tree":
                self.drawing.draw_tree_line(text.rstrip())
            case "field":
                self.drawing.draw_place(text)
            case "setup":
                self.head.setup.append(line)
            case _:
                raise ValueError(f"only below {', '.join(BLOCKS[:-1])} or {BLOCKS[-1]} lines are indented")

    def _read_run(self, number: int, keyword: str, rest: str) -> None:
        match keyword:
            case "agent":
                self.head.agent_line = number
                self._read_agent(*rest.split())
            case "times" if rest:
                raise ValueError("'times' stands alone")
            case "times":
                self.head.times = True
            case "by" if rest not in (drivers := named(DRIVERS)):
                raise ValueError(unknown("driver", rest, drivers))
            case "by":
                self.head.driver = rest
            case "hide":
                self.head.hidden |= dict.fromkeys(rest.split(), number)

    def _read_number(self, number: int, keyword: str, rest: str) -> None:
        match keyword:
            case "seed" if not rest.isdecimal():
                raise ValueError(f"{rest!r} is not a seed such as 7")
            case "seed":
                self.head.seed = int(rest)
            case "delay" | "loss":
                self._read_links(number, keyword, rest.split())
            case "slot":
                self.head.slot = parse_positive(rest)
            case "range":
                self.about_field, self.head.range_m = number, parse_measure(rest, "m")
            case "speed":
                self.about_field, self.head.speed_mps = number, parse_measure(rest, "m/s")

    def _read_links(self, number: int, keyword: str, words: list[str]) -> None:
        """Read a delay or a loss, of all links or of those listed before it."""
        *ways, last = words or [""]
        value = parse_positive(last) if keyword == "delay" else share(last)
        if not ways and f"{keyword} of all" in self._given:
            raise ValueError(f"'{keyword}' of all links stands in line {self._given[f'{keyword} of all']} already")
        if not ways:
            self._given[f"{keyword} of all"] = number
            setattr(self.head, keyword, value)
        others: dict[str, float | SimTime] = getattr(self.head, "delays" if keyword == "delay" else "losses")
        for way in ways:
            if way in others:
                raise ValueError(f"{way} has a {keyword} already")
            others[way] = value
            self.about_links.append((way, number))

    def _read_agent(self, name: str = "", *settings: str) -> None:
        self.head.agent = name
        for setting in settings:
            key, equals, value = setting.partition("=")
            if not equals:
                raise ValueError(f"{setting!r} is not a parameter such as storage_limit=100")
            self.head.parameters[key] = value

    def _read_names(self, _: int, keyword: str, rest: str) -> None:
        match keyword:
            case "clients" | "links":
                for word in rest.split():
                    (self.drawing.draw_client if keyword == "clients" else self.drawing.draw_link)(word)
            case "nodes":
                for name in (name for word in rest.split() for name in expand_names(word)):
                    self.drawing.draw_node(name)
            case "complete":
                self._read_complete(rest)
            case "filter":
                self.head.vocabulary.filters.define(*_definition(rest, "filter f1: topic = 1"))
            case "event":
                self.head.vocabulary.events.define(*_definition(rest, "event e1: topic = 1, price = 3"))

    def _read_complete(self, rest: str) -> None:
        nodes = [name for word in rest.split() for name in expand_names(word)]
        if len(nodes) < 2:
            raise ValueError(f"{rest!r} does not name two nodes or more, such as b1 n1..n5")
        LINKS.check(len(nodes) * (len(nodes) - 1) // 2)
        for a, b in combinations(nodes, 2):
            self.drawing.draw_link(f"{a}-{b}")


def _definition(text: str, example: str) -> tuple[str, str]:
    match = re.fullmatch(r"(\w+)\s*:\s*(.+)", text)
    if match is None:
        raise ValueError(f"write it so: {example}")
    return match[1], match[2]
