"""The texts of single values: each function here reads one, and raises ValueError for a text that it cannot read.

A number is refused if it is not finite, and a time if it is longer than a simulation can last, so that nothing behind
the reader has to think of either. What else a value may be is said by the range of its key.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from roambus.python_protocol.filters import Filter, Operator, Value, parse_filter
from roambus.python_protocol.roles import Role, parse_roles
from roambus.python_protocol.simtime import SECOND, SimTime, format_time, parse_time

LONGEST: SimTime = 9 * 10**9 * SECOND
"""OMNeT++ and the compiled radio count nanoseconds in 64 bits."""
MOST_DIGITS = 18
"""So that a whole number has room in 64 bits."""

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_TIME = re.compile(rf"\s*({_NUMBER.pattern})\s*[a-z]+\s*")
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
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text} is too large to be a number here")
    return value


def integer(text: str) -> int:
    """Reads a whole number from 0 up."""
    if re.fullmatch(r"\d+", text) is None:
        raise ValueError(f"{text} is not a whole number such as 32")
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a whole number of {len(text)} digits is too large")
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


def optional_file_beside(text: str) -> str:
    """Reads as `file_beside`, or "", which stands for no file."""
    return "" if string(text) == "" else file_beside(text)


def coordinate(text: str) -> float | Uniform:
    """Reads a number in metres, or uniform(a, b)."""
    match = _UNIFORM.fullmatch(text)
    return Uniform(number(match[1]), number(match[2])) if match else number(text)


def check_length(time: SimTime) -> SimTime:
    """Returns the time, or raises ValueError if it is longer than a simulation can last."""
    if time > LONGEST:
        raise ValueError(f"it is longer than a simulation can last, which is {format_time(LONGEST)}")
    return time


def duration(text: str) -> SimTime:
    """Reads a time with its unit: 700s, 100ms."""
    if (match := _TIME.fullmatch(text)) is None:
        raise ValueError(f"{text} is not a time with its unit, such as 700s or 100ms")
    if float(match[1]) > LONGEST:  # before Python writes all its digits out
        return check_length(LONGEST + 1)
    time = parse_time(text)
    if time < 0:
        raise ValueError(f"{text} is negative")
    return check_length(time)


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
