"""A transcript as lines of text: the author's, and those that roambus writes.

Lines before the first `>` are the head. After it, commands, comments and blank lines are the author's. Other lines are
outputs, dropped on reading and rewritten below their commands: a file can be remade from itself, and a test compares
the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from roambus.bridge.system.errors import UserError, mistakes_at
from roambus.bridge.system.files import check_writable, read_text
from roambus.bridge.system.limits import DURATION
from roambus.python_protocol.filters import Filter, Value, parse_filter, parse_value
from roambus.python_protocol.simtime import SimTime, parse_time, to_seconds

PROMPT = ">"
COMMENT = "#"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file, counted from 1."""

    number: int
    text: str

    @property
    def is_command(self) -> bool:
        """Whether it is a command."""
        return self.text.startswith(PROMPT)

    @property
    def is_empty(self) -> bool:
        """Whether it is a comment or blank."""
        return not self.text.strip() or self.text.lstrip().startswith(COMMENT)


@dataclass(frozen=True, slots=True)
class Document:
    """The author's lines: the head, then commands, comments and blank lines."""

    path: Path
    head: tuple[Line, ...]
    body: tuple[Line, ...]
    outputs: tuple[Line, ...]
    """The outputs between them."""

    def commands(self) -> list[Line]:
        """The commands, in order."""
        return [line for line in self.body if line.is_command]

    def with_outputs(self, outputs: Mapping[int, Sequence[str]]) -> str:
        """The whole file, with `outputs` below the command of their line number."""
        texts: list[str] = []
        for line in (*self.head, *self.body):
            texts += [line.text, *outputs.get(line.number, ())]
        return "\n".join(texts) + "\n"

    @contextmanager
    def at(self, number: int) -> Iterator[None]:
        """Prefix a ValueError or UserError with the file and line number."""
        try:
            yield
        except (ValueError, UserError) as error:
            raise UserError(f"{self.path}:{number}: {error}") from error


def read_document(path: Path) -> Document:
    """Read a file without its outputs; raises UserError for no text or no command, and OSError."""
    return parse_document(path, read_text(path))


def parse_document(path: Path, text: str) -> Document:
    """Read the text of the file `path` without its outputs; raises UserError."""
    lines = [Line(number, line.rstrip()) for number, line in enumerate(text.splitlines(), 1)]
    for line in lines:
        with mistakes_at(f"{path}:{line.number}"):
            check_writable(line.text)  # no file has a half character, but what somebody asks of a page can
    first = next((index for index, line in enumerate(lines) if line.is_command), None)
    if first is None:
        raise UserError(f"{path}:{len(lines) or 1}: there is no command; write one such as > s1 subscribes f1")
    outputs = tuple(line for line in lines[first:] if not (line.is_command or line.is_empty))
    body = tuple(line for line in lines[first:] if line.is_command or line.is_empty)
    return Document(path, tuple(lines[:first]), body, outputs)


def parse_duration(text: str) -> SimTime:
    """Read a time from 0 up; raises ValueError."""
    time = parse_time(text)
    if time < 0:
        raise ValueError(f"{text} is negative")
    DURATION.check(to_seconds(time))
    return time


def parse_positive(text: str) -> SimTime:
    """Read a time above 0; raises ValueError."""
    time = parse_duration(text)
    if time == 0:
        raise ValueError(f"{text} is not a time greater than 0")
    return time


Attributes = tuple[tuple[str, Value], ...]

_ATTRIBUTE = re.compile(r"\s*([A-Za-z_][\w.]*)\s*=\s*('[^']*'|[^\s',]+)\s*")
_COMMA = re.compile(r",(?=(?:[^']*'[^']*')*[^']*$)")

Meaning = TypeVar("Meaning")


@dataclass(frozen=True, slots=True)
class Names(Generic[Meaning]):
    """The names of one kind and their values; `parse` reads a value written out."""

    kind: str
    parse: Callable[[str], Meaning]
    meanings: dict[str, Meaning] = field(default_factory=dict)

    def define(self, name: str, text: str) -> None:
        """Raises ValueError for an unreadable text or a taken name."""
        if name in self.meanings:
            raise ValueError(f"{self.kind} {name} is defined twice")
        self.meanings[name] = self.parse(text)

    def read(self, text: str) -> Meaning:
        """The value of a name or a written-out text; raises ValueError."""
        number = re.fullmatch(rf"{self.kind[0]}(\d+)", text)
        if number and text not in self.meanings:
            self.define(text, f"topic = {number[1]}")
        return self.meanings[text] if text in self.meanings else self.parse(text)


class Vocabulary:
    """The named filters and events."""

    def __init__(self) -> None:
        self.filters = Names("filter", parse_filter)
        self.events = Names("event", parse_attributes)

    @property
    def filter_names(self) -> dict[Filter, str]:
        """The transcript's name of each filter; of several the last defined."""
        return {meaning: name for name, meaning in self.filters.meanings.items()}


def parse_attributes(text: str) -> Attributes:
    """Read "topic = 1, price = 2.5, name = 'a, b'", sorted by name; raises ValueError."""
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
    """The inverse of `parse_attributes`."""
    return ", ".join(
        f"{name} = '{value}'" if isinstance(value, str) else f"{name} = {value}" for name, value in attributes
    )
