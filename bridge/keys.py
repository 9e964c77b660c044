"""Keys of the ini: their declarations, their kinds of values, and how texts are read.

Fields of the scenario's settings classes (frozen dataclasses) come from `key()`, which declares a `Setting`: the key's
path and a default text as in Castalia. The ini reader, the compiled radio's records, templates, errors and docs all use
these declarations.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from roambus.python_protocol import settings
from roambus.python_protocol.filters import Filter, Notification, NotificationId, Operator, Value, parse_filter
from roambus.python_protocol.messages.octets import bytes_of
from roambus.python_protocol.roles import Role, parse_roles
from roambus.python_protocol.settings import (
    ANY,
    NUMBER,
    NUMBER_PATTERN,
    Kind,
    Range,
    Setting,
    read_number,
    setting_field,
    settings_of,
)
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime, format_time, parse_time

EVERY_NODE = "node[*]"
"""Stands for each node in a path."""

LONGEST: SimTime = 9 * 10**9 * SECOND
"""OMNeT++ and the compiled radio count ns in 64 bits."""
MOST_DIGITS = 18
"""Whole numbers of this length fit in 64 bits."""

_TIME = re.compile(rf"\s*({NUMBER_PATTERN})\s*[a-z]+\s*")
_UNIFORM = re.compile(r"uniform\(\s*([^,()]+?)\s*,\s*([^,()]+?)\s*\)")
_FILTER_SEPARATOR = r";(?=(?:[^']*'[^']*')*[^']*$)"
"""A semicolon outside texts."""
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def key(  # noqa: PLR0913, PLR0917  # each is one of the things that a key is declared to be
    path: str,
    kind: Kind,
    default: str | None,
    meaning: str,
    unit: str = "",
    within: Range = ANY,
    choices: tuple[Any, ...] = (),
) -> Any:
    """Return a settings field; without a default the key is required."""
    declared = Setting(path, kind, default, meaning, unit, within, choices)
    if default is None:
        return setting_field(declared, kw_only=True)
    return setting_field(declared, default=declared.read(default))


def keys_of(owner: type[Any]) -> tuple[Setting, ...]:
    """Return a settings class's keys."""
    return tuple(settings_of(owner).values())


def path_of(owner: type[Any], field: str) -> str:
    """Return the path of a field's key."""
    return settings_of(owner)[field].name


# Texts of single values: each function reads one, and raises ValueError for a text that it cannot read


class Uniform(NamedTuple):
    """A draw per node between `low` and `high`."""

    low: float
    high: float


def matched(pattern: re.Pattern[str], text: str, what: str) -> re.Match[str]:
    """Return the text's parts; raise ValueError naming `what` for another form."""
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a {what}")
    return match


def integer(text: str) -> int:
    """Read a whole number from 0 up."""
    if re.fullmatch(r"\d+", text) is None:
        raise ValueError(f"{text} is not a whole number such as 32")
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a whole number of {len(text)} digits is too large")
    return int(text)


def boolean(text: str) -> bool:
    """Read true or false."""
    if text not in ("true", "false"):
        raise ValueError(f"{text} is neither true nor false")
    return text == "true"


def string(text: str) -> str:
    """Read "text" with C's escapes."""
    if re.fullmatch(r'"(?:[^"\\]|\\.)*"', text) is None:
        raise ValueError(f'{text} is not a string in double quotes, such as "CC2420.txt"')
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1])


def quote(text: str) -> str:
    """The text that `string` reads back."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r") + '"'


def file_beside(text: str) -> str:
    """Read a path below the ini's folder, e.g. "ways/walk.movements"."""
    name = string(text)
    parts = name.split("/")
    if "\0" in name or not all(parts) or ".." in parts or "." in parts:
        raise ValueError(f'{text} is not a path of a file below the folder of the ini, such as "ways/walk.movements"')
    return name


def optional_file_beside(text: str) -> str:
    """Read as `file_beside`; "" stands for no file."""
    return "" if string(text) == "" else file_beside(text)


def coordinate(text: str) -> float | Uniform:
    """Read metres, or uniform(a, b)."""
    match = _UNIFORM.fullmatch(text)
    return Uniform(*map(read_number, match.groups())) if match else read_number(text)


def check_length(time: SimTime) -> SimTime:
    """Return the time; raise ValueError if too long for a simulation."""
    if time > LONGEST:
        raise ValueError(f"it is longer than a simulation can last, which is {format_time(LONGEST)}")
    return time


def duration(text: str) -> SimTime:
    """Read a time with unit: 700s, 100ms."""
    if (match := _TIME.fullmatch(text)) is None:
        raise ValueError(f"{text} is not a time with its unit, such as 700s or 100ms")
    time = LONGEST + 1 if float(match[1]) > LONGEST else parse_time(text)  # Python would write all its digits out
    if time < 0:
        raise ValueError(f"{text} is negative")
    return check_length(time)


def power(text: str) -> float | None:
    """Read "-5dBm" or "-5"; None for "": the radio's first level."""
    content = string(text).strip()
    return read_number(content.removesuffix("dBm").strip()) if content else None


def roles(text: str) -> Role:
    """Read roles, e.g. "publisher broker"; raise ValueError."""
    return parse_roles(string(text))


def filters(text: str) -> tuple[Filter, ...]:
    """Read "topic = 'news' and price < 10; topic = 'weather'"."""
    found = tuple(map(parse_filter, re.split(_FILTER_SEPARATOR, string(text))))
    for wanted in found:
        _check_travels(wanted)
    return found


def attributes(text: str) -> tuple[tuple[str, Value], ...]:
    """Read "topic = 'news' and price = 3", sorted by name."""
    constraints = parse_filter(string(text)).constraints
    values = {constraint.attribute: constraint.operand for constraint in constraints}
    if len(values) < len(constraints) or any(constraint.operator is not Operator.EQUAL for constraint in constraints):
        raise ValueError(f"{text} is not a list of attributes, each once, such as \"topic = 'news' and price = 3\"")
    found = tuple(sorted(values.items()))
    _check_travels(Notification(NotificationId(0, 0), found))
    return found


def _check_travels(value: Filter | Notification) -> None:
    try:
        bytes_of(value)
    except (struct.error, ArithmeticError):
        raise ValueError("no message can carry it: a text has at most 255 bytes, and a number 64 bits") from None


def assignments(text: str) -> tuple[tuple[str, str], ...]:
    """Read "name=value name=value", sorted by name."""
    pairs = [pair.partition("=") for pair in string(text).split()]
    if any(not (name and equals and value) for name, equals, value in pairs):
        raise ValueError(f'{text} is not a list of settings such as "heartbeat_interval=1s sticky_parent=false"')
    values = {name: value for name, _, value in pairs}
    if len(values) < len(pairs):
        raise ValueError(f"{text} sets a parameter twice")
    return tuple(sorted(values.items()))


# Kinds


def quoted(name: str, read: Callable[[str], Any], unit: str = "") -> Kind:
    """Make a kind of value quoted in the ini."""
    return Kind(name, read, unit=unit, write=quote)


def _in_units_of(unit: SimTime) -> Callable[[float], SimTime]:
    """Convert numbers to times; above 0 stays above 0."""

    def convert(number: float) -> SimTime:
        return max(check_length(round(number * unit)), int(number > 0))

    return convert


WHOLE = replace(settings.WHOLE, read=integer)
TRUTH = replace(settings.TRUTH, read=boolean)
WORD = Kind("word without quotes", str)
TEXT = quoted("text", string)
FILE = quoted("file below the ini's folder", file_beside)
OPTIONAL_FILE = quoted("file below the ini's folder, or none", optional_file_beside)
COORDINATE = Kind("number, or uniform(a, b)", coordinate, unit="m", types=(int, float, str))
POWER = quoted("text with a number", power, unit="dBm")
SECONDS = replace(NUMBER, convert=_in_units_of(SECOND), unit="s")
MILLISECONDS = replace(NUMBER, convert=_in_units_of(MILLISECOND), unit="ms")
TIME = replace(settings.TIME, name="time with its unit", read=duration)
