"""A transcript as lines, some of which its author wrote, and the tool the others.

A field, on which nodes have places, are linked while they are in range, and walk where they are told.

Reads the times of transcripts, which are at least 0 and no longer than a run may last.

Filters and events by name: f1 is `topic = 1`, e1 an event that only f1 matches, unless the head says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import dist
from pathlib import Path
from typing import NamedTuple

from roambus.bridge.errors import UserError
from roambus.bridge.limits import DURATION
from roambus.bridge.scenario.nodes import GivenWay, WayPoint
from roambus.bridge.texts import read_text
from roambus.python_protocol.filters import Filter, Value, parse_filter, parse_value
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime, parse_time, to_seconds

PROMPT = ">"
COMMENT = "#"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file, counted from 1."""

    number: int
    text: str

    @property
    def is_command(self) -> bool:
        """Whether something is to happen here."""
        return self.text.startswith(PROMPT)

    @property
    def is_indented(self) -> bool:
        """Whether the line belongs to a keyword above it."""
        return self.text.startswith((" ", "\t"))

    @property
    def is_empty(self) -> bool:
        """Whether it is a comment, or blank: kept, and without meaning."""
        return not self.text.strip() or self.text.lstrip().startswith(COMMENT)


@dataclass(frozen=True, slots=True)
class Document:
    """The author's lines, which are the head, and then commands, comments and blank lines."""

    path: Path
    head: tuple[Line, ...]
    body: tuple[Line, ...]
    outputs: tuple[Line, ...]
    """The outputs that stand between these."""

    def commands(self) -> list[Line]:
        """The commands, in their order."""
        return [line for line in self.body if line.is_command]

    def with_outputs(self, outputs: Mapping[int, Sequence[str]]) -> str:
        """The whole file; `outputs` go below the command of their line number."""
        texts: list[str] = []
        for line in (*self.head, *self.body):
            texts += [line.text, *outputs.get(line.number, ())]
        return "\n".join(texts) + "\n"

    @contextmanager
    def at(self, number: int) -> Iterator[None]:
        """Gives a ValueError or UserError about a line the name of the file and the line's number."""
        try:
            yield
        except (ValueError, UserError) as error:
            raise UserError(f"{self.path}:{number}: {error}") from error


def read_document(path: Path) -> Document:
    """Reads a file, and forgets its outputs; raises UserError if it is no text or has no command, and OSError."""
    return parse_document(path, read_text(path))


def parse_document(path: Path, text: str) -> Document:
    """Reads the text of the file `path`, and forgets its outputs; raises UserError."""
    lines = [Line(number, line.rstrip()) for number, line in enumerate(text.splitlines(), 1)]
    first = next((index for index, line in enumerate(lines) if line.is_command), None)
    if first is None:
        raise UserError(f"{path}:{len(lines) or 1}: there is no command; write one such as > s1 subscribes f1")
    body = tuple(line for line in lines[first:] if line.is_command or line.is_empty)
    outputs = tuple(line for line in lines[first:] if not (line.is_command or line.is_empty))
    return Document(path, tuple(lines[:first]), body, outputs)


_PLACE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?),(\d{1,6}(?:\.\d{1,3})?)")
_MEASURE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)(m|m/s)")


class Place(NamedTuple):
    """A place in metres."""

    x: float
    y: float


def parse_place(text: str) -> Place:
    """Reads a place such as 20,7.5; raises ValueError."""
    match = _PLACE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no place such as 20,7.5 (metres)")
    return Place(float(match[1]), float(match[2]))


def parse_measure(text: str, unit: str) -> float:
    """Reads a measure above 0, such as 30m or 1.5m/s; raises ValueError."""
    match = _MEASURE.fullmatch(text)
    if match is None or match[2] != unit or float(match[1]) == 0:
        raise ValueError(f"{text!r} is no measure such as 30{unit}")
    return float(match[1])


class Ways:
    """The ways of all nodes, which grow: straight from place to place, at one speed."""

    def __init__(self, places: Mapping[NodeId, Place], speed_mps: float) -> None:
        """Puts every node at its place at time 0."""
        self._speed_mps = speed_mps
        self._points = {node: [WayPoint(0.0, *place)] for node, place in places.items()}

    def walk(self, node: NodeId, place: Place, now: SimTime) -> SimTime:
        """Has a node go to a place from `now` on, and no farther on its way before; returns how long that takes."""
        begin = now / SECOND
        here = self.place(node, begin)
        lasts = dist(here, place) / self._speed_mps
        before = [point for point in self._points[node] if point.time_s < begin]
        arrival = [WayPoint(begin + lasts, *place)] if lasts else []
        self._points[node] = [*before, WayPoint(begin, *here), *arrival]
        return round(lasts * SECOND)

    def place(self, node: NodeId, at_s: float) -> Place:
        """Where a node is at a time (s)."""
        points = self._points[node]
        behind = [point for point in points if point.time_s <= at_s][-1]
        ahead = next((point for point in points if point.time_s > at_s), behind)
        share = (at_s - behind.time_s) / (ahead.time_s - behind.time_s) if ahead is not behind else 0.0
        return Place(behind.x + share * (ahead.x - behind.x), behind.y + share * (ahead.y - behind.y))

    def field_m(self, margin_m: float) -> tuple[float, float]:
        """Width and height of a field that has all ways on it, with a margin behind the farthest."""
        points = [point for way in self._points.values() for point in way]
        return max(point.x for point in points) + margin_m, max(point.y for point in points) + margin_m

    def way(self, node: NodeId) -> GivenWay:
        """The way of a node, as a scenario has it."""
        return GivenWay(tuple(self._points[node]))


def parse_duration(text: str) -> SimTime:
    """Reads a time from 0 up; raises ValueError."""
    time = parse_time(text)
    if time < 0:
        raise ValueError(f"{text} is negative")
    DURATION.check(to_seconds(time))
    return time


def parse_positive(text: str) -> SimTime:
    """Reads a time above 0; raises ValueError."""
    time = parse_duration(text)
    if time == 0:
        raise ValueError(f"{text} is no time greater than 0")
    return time


Attributes = tuple[tuple[str, Value], ...]

_FILTER_NAME, _EVENT_NAME = re.compile(r"f(\d+)"), re.compile(r"e(\d+)")
_ATTRIBUTE = re.compile(r"\s*([A-Za-z_][\w.]*)\s*=\s*('[^']*'|[^\s',]+)\s*")
_COMMA = re.compile(r",(?=(?:[^']*'[^']*')*[^']*$)")


@dataclass(slots=True)
class Vocabulary:
    """What names stand for; `filter_names` is what a transcript calls the filters that occur in it."""

    filters: dict[str, Filter] = field(default_factory=dict)
    events: dict[str, Attributes] = field(default_factory=dict)
    filter_names: dict[Filter, str] = field(default_factory=dict)

    def define_filter(self, name: str, text: str) -> None:
        """Raises ValueError for a text that is no filter, or a name that is taken."""
        if name in self.filters:
            raise ValueError(f"filter {name} is defined twice")
        self.filters[name] = parse_filter(text)
        self.filter_names[self.filters[name]] = name

    def define_event(self, name: str, text: str) -> None:
        """Raises ValueError for a text that is no event, or a name that is taken."""
        if name in self.events:
            raise ValueError(f"event {name} is defined twice")
        self.events[name] = parse_attributes(text)

    def filter(self, text: str) -> Filter:
        """What the text stands for, by name or as it is written; raises ValueError."""
        number = _FILTER_NAME.fullmatch(text)
        if number and text not in self.filters:
            self.define_filter(text, f"topic = {number[1]}")
        return self.filters[text] if text in self.filters else parse_filter(text)

    def event(self, text: str) -> Attributes:
        """What the text stands for, by name or as it is written; raises ValueError."""
        number = _EVENT_NAME.fullmatch(text)
        if number and text not in self.events:
            self.define_event(text, f"topic = {number[1]}")
        return self.events[text] if text in self.events else parse_attributes(text)


def parse_attributes(text: str) -> Attributes:
    """Reads "topic = 1, price = 2.5, name = 'a, b'", sorted by name; raises ValueError."""
    attributes: dict[str, Value] = {}
    for part in _COMMA.split(text):
        match = _ATTRIBUTE.fullmatch(part)
        if match is None:
            raise ValueError(f"{part.strip()!r} is neither a name such as e1 nor an attribute such as topic = 1")
        if match[1] in attributes:
            raise ValueError(f"attribute {match[1]} is given twice")
        attributes[match[1]] = parse_value(match[2])
    return tuple(sorted(attributes.items()))


def format_attributes(attributes: Attributes) -> str:
    """The text that `parse_attributes` reads back."""
    return ", ".join(f"{name} = {_format_value(value)}" for name, value in attributes)


def _format_value(value: Value) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)
