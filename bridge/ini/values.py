"""Single values of an ini file: from the text after the equals sign to Python. Each reader raises ValueError.

Castalia's own parameters are plain numbers in units that their names do not tell (ms, kbit/s); OMNeT++ refuses a
unit there, and so do we. Parameters of our own modules, and OMNeT++'s options, carry their unit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from roambus.python_protocol.filters import Filter, Operator, Value, parse_filter
from roambus.python_protocol.roles import Role, parse_roles
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime, parse_time

Reader = Callable[[str], Any]

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_UNIFORM = re.compile(r"uniform\(\s*([^,()]+?)\s*,\s*([^,()]+?)\s*\)")
_FILTER_SEPARATOR = r";(?=(?:[^']*'[^']*')*[^']*$)"
"""A semicolon that is in no text."""
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Uniform:
    """A number drawn anew for each node between `low` and `high`."""

    low: float
    high: float


def number(text: str) -> float:
    """Reads 3, -95.0 or 1e-5."""
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(f"{text} is not a number without unit, such as 4 or -95.0")
    return float(text)


def not_negative(text: str) -> float:
    """Reads a number from 0 up."""
    value = number(text)
    if value < 0:
        raise ValueError(f"{text} is negative")
    return value


def positive(text: str) -> float:
    """Reads a number above 0."""
    value = number(text)
    if value <= 0:
        raise ValueError(f"{text} is not above 0")
    return value


def integer(text: str) -> int:
    """Reads a whole number from 0 up."""
    if re.fullmatch(r"\d+", text) is None:
        raise ValueError(f"{text} is not a whole number such as 32")
    return int(text)


def count(text: str) -> int:
    """Reads a whole number from 1 up."""
    if integer(text) == 0:
        raise ValueError("must be at least 1")
    return int(text)


def boolean(text: str) -> bool:
    """Reads true or false."""
    if text not in ("true", "false"):
        raise ValueError(f"{text} is neither true nor false")
    return text == "true"


def word(text: str) -> str:
    """Takes the text as it stands (OMNeT++'s options want no quotes around names)."""
    return text


def string(text: str) -> str:
    """Reads "text" with the escapes of C."""
    if re.fullmatch(r'"(?:[^"\\]|\\.)*"', text) is None:
        raise ValueError(f'{text} is not a string in double quotes, such as "CC2420.txt"')
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1])


def quote(text: str) -> str:
    """The text that `string` reads back."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r") + '"'


def file_beside(text: str) -> str:
    """Reads "walk.movements" or "ways/walk.movements": the path of a file from the folder of the ini downwards."""
    name = string(text)
    parts = name.split("/")
    if "\0" in name or not all(parts) or ".." in parts or "." in parts:
        raise ValueError(f'{text} is no path of a file below the folder of the ini, such as "ways/walk.movements"')
    return name


def coordinate(text: str) -> float | Uniform:
    """Reads a number in metres, or uniform(a, b)."""
    match = _UNIFORM.fullmatch(text)
    return Uniform(number(match[1]), number(match[2])) if match else number(text)


def seconds(text: str) -> SimTime:
    """Reads a number of seconds without unit."""
    return round(not_negative(text) * SECOND)


def milliseconds(text: str) -> SimTime:
    """Reads a number of milliseconds without unit."""
    return round(not_negative(text) * MILLISECOND)


def interval(text: str) -> SimTime:
    """Reads a number of milliseconds above 0, without unit."""
    return max(round(positive(text) * MILLISECOND), 1)


def duration(text: str) -> SimTime:
    """Reads a time with its unit: 700s, 100ms."""
    if re.search(r"[a-z]\s*$", text) is None:
        raise ValueError(f"{text} is not a time with its unit, such as 700s or 100ms")
    time = parse_time(text)
    if time < 0:
        raise ValueError(f"{text} is negative")
    return time


def power(text: str) -> float | None:
    """Reads "-5dBm" or "-5"; None for "", which stands for the radio's first level."""
    content = string(text).strip()
    return number(content.removesuffix("dBm").strip()) if content else None


def roles(text: str) -> Role:
    """Reads "publisher broker"."""
    return parse_roles(string(text))


def filters(text: str) -> tuple[Filter, ...]:
    """Reads "topic = 'news' and price < 10; topic = 'weather'"."""
    return tuple(map(parse_filter, re.split(_FILTER_SEPARATOR, string(text))))


def attributes(text: str) -> tuple[tuple[str, Value], ...]:
    """Reads "topic = 'news' and price = 3", and sorts it by name."""
    constraints = parse_filter(string(text)).constraints
    values = {constraint.attribute: constraint.operand for constraint in constraints}
    if len(values) < len(constraints) or any(constraint.operator is not Operator.EQUAL for constraint in constraints):
        raise ValueError(f"{text} is no list of attributes, each once, such as \"topic = 'news' and price = 3\"")
    return tuple(sorted(values.items()))


def assignments(text: str) -> tuple[tuple[str, str], ...]:
    """Reads "name=value name=value", and sorts it by name."""
    pairs = [pair.partition("=") for pair in string(text).split()]
    if any(not (name and equals and value) for name, equals, value in pairs):
        raise ValueError(f'{text} is no list of settings such as "heartbeat_interval=1s sticky_parent=false"')
    values = {name: value for name, _, value in pairs}
    if len(values) < len(pairs):
        raise ValueError(f"{text} sets a parameter twice")
    return tuple(sorted(values.items()))
