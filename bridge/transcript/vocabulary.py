"""Filters and events by name: f1 is `topic = 1`, e1 an event that only f1 matches, unless the head says otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from roambus.python_protocol.filters import Filter, Value, parse_filter, parse_value

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
