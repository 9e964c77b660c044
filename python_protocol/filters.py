"""Notifications, and the filters that select them.

A notification is a set of named attributes, the topic among them, a filter a conjunction of constraints. A value of the
other kind, number or text, satisfies only `!=`, a missing attribute nothing; a filter without constraints matches
everything. 3 and 3.0 are equal, with different bytes. The encoding is compact for the air, and cached, because many
nodes send the same notification.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from struct import Struct
from typing import Any, ClassVar, Self

from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.octets import DecodeError, Reader, Shape, Writer, fields, number, repeated
from roambus.python_protocol.roles import NodeId

Value = int | float | str
"""The value of an attribute."""

_IDENTIFIER = Struct("!HI")
_INTEGER, _REAL, _TEXT = 0, 1, 2


class Operator(Enum):
    """The comparison of an attribute with an operand."""

    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    PREFIX = "prefix"
    EXISTS = "exists"
    WITHIN = "within"
    """Of a place, the attributes x and y; the operand is an area: "50 of (40, 20)", "50 of me"."""


_OPERATORS = list(Operator)
"""An operator travels as its place here, so the order must stay."""
# What two operands of one kind are compared by; the prefix and the existence of an attribute are no comparisons.
_COMPARE: dict[Operator, Callable[[Any, Any], bool]] = {
    Operator.EQUAL: operator.eq,
    Operator.NOT_EQUAL: operator.ne,
    Operator.LESS: operator.lt,
    Operator.LESS_OR_EQUAL: operator.le,
    Operator.GREATER: operator.gt,
    Operator.GREATER_OR_EQUAL: operator.ge,
}
_REAL_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_WHOLE, _NUMBER = re.compile(r"[-+]?[0-9]+"), re.compile(_REAL_NUMBER)
_CIRCLE = re.compile(rf"\s*({_REAL_NUMBER})\s+of\s+\(\s*({_REAL_NUMBER})\s*,\s*({_REAL_NUMBER})\s*\)\s*")
_AROUND_ME = re.compile(rf"\s*({_REAL_NUMBER})\s+of\s+me\s*")
_INSIDE = re.compile(r"\s*inside\s+\({0},{0}\)\s*-\s*\({0},{0}\)\s*".format(rf"\s*({_REAL_NUMBER})\s*"))
_AREA_WORD = re.compile(r"\s*(within|inside)\s+[^!<>=\s]")
_SYNTAX = re.compile(r"\s*([A-Za-z_][\w.]*)\s*(!=|<=|>=|=|<|>|\bprefix\b|\bexists\b)\s*(.*?)\s*", re.DOTALL)


# What travels is told to other programs, such as dissectors, in the same place as it is written by hand: the class of
# each value has a `shape` beside its `write` and `read`, and these three must be changed together.

TEXT: Shape = {"kind": "text"}
VALUE: Shape = {"kind": "tagged", "cases": {_INTEGER: number("q"), _REAL: number("d"), _TEXT: TEXT}}
"""The shape of a value."""


@dataclass(frozen=True, slots=True)
class NotificationId:
    """Identifies a notification: its publisher and the publisher's counter."""

    publisher: NodeId
    sequence: int
    shape: ClassVar[Shape] = fields(publisher=number("H"), sequence=number("I"))

    def __str__(self) -> str:
        return f"{self.publisher}.{self.sequence}"

    def describe(self, names: Names) -> str:
        """The name that a transcript has for the notification."""
        return str(names.notification_id(str(self)))

    def write(self, writer: Writer) -> None:
        """Write its six bytes."""
        writer.pack(_IDENTIFIER, self.publisher, self.sequence)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the bytes of `write`; raise DecodeError."""
        return cls(reader.u16(), reader.u32())


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification; the thesis, section 1.1, calls it an event.

    `attributes` are pairs of name and value, sorted by different names; `payload` is a number of opaque bytes.
    """

    id: NotificationId
    attributes: tuple[tuple[str, Value], ...]
    payload: int = 0
    _bytes: bytes | None = field(default=None, init=False, repr=False, compare=False)
    """Its bytes, cached after the first use."""
    shape: ClassVar[Shape] = fields(
        id=NotificationId.shape, attribute=repeated(fields(name=TEXT, value=VALUE)), payload={"kind": "padding"}
    )

    def __reduce__(self) -> tuple[type[Notification], tuple[object, ...]]:
        return type(self), (self.id, self.attributes, self.payload)  # the cache is no part of its state

    def write(self, writer: Writer) -> None:
        """Write identifier, attributes and payload."""
        if self._bytes is None:
            own = Writer()
            self.id.write(own)
            own.u8(len(self.attributes))
            for name, value in self.attributes:
                own.text(name)
                write_value(own, value)
            own.u16(self.payload)
            own.zeros(self.payload)
            object.__setattr__(self, "_bytes", own.getvalue())  # as a frozen dataclass sets its own fields
        writer.raw(self._bytes or b"")

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the bytes of `write`; raise DecodeError."""
        identifier = NotificationId.read(reader)
        attributes = tuple((reader.text(), read_value(reader)) for _ in range(reader.u8()))
        payload = reader.u16()
        reader.zeros(payload)
        return cls(identifier, attributes, payload)

    def describe(self, names: Names) -> str:
        """The name that a transcript has for the notification."""
        return str(names.notification(self))


@dataclass(frozen=True, slots=True)
class Constraint:
    """Compares an attribute with an operand, which is "" for `exists`."""

    attribute: str
    operator: Operator
    operand: Value = ""

    def __post_init__(self) -> None:
        # nan is unequal to itself: a filter with it could never be unsubscribed.
        if isinstance(self.operand, float) and not math.isfinite(self.operand):
            raise ValueError(f"{self}: the operand is not a finite number")

    def matches(self, attributes: dict[str, Value]) -> bool:
        """Whether the attribute is there and compares as asked."""
        if self.operator is Operator.WITHIN:
            return _is_within(self.operand, attributes.get("x"), attributes.get("y"))
        value = attributes.get(self.attribute)
        if value is None:
            return False
        if self.operator is Operator.EXISTS:
            return True
        # Python would raise TypeError for 3 < "a", and tell a subscriber's mistake at the broker that routes.
        if isinstance(value, str) != isinstance(self.operand, str):
            return self.operator is Operator.NOT_EQUAL
        if self.operator is Operator.PREFIX:
            return str(value).startswith(str(self.operand))
        return _COMPARE[self.operator](value, self.operand)

    def __str__(self) -> str:
        if self.operator is Operator.EXISTS:
            return f"{self.attribute} exists"
        if self.operator is Operator.WITHIN:
            return f"within {self.operand}"
        operand = f"'{self.operand}'" if isinstance(self.operand, str) else self.operand
        return f"{self.attribute} {self.operator.value} {operand}"


def _is_around_me(constraint: Constraint) -> bool:
    return constraint.operator is Operator.WITHIN and _AROUND_ME.fullmatch(str(constraint.operand)) is not None


@lru_cache(4096)
def circle(operand: Value) -> tuple[float, float, float] | None:
    """Return radius (m) and centre of an area such as "50 of (40, 20)"; None for another operand."""
    match = _CIRCLE.fullmatch(str(operand))
    return None if match is None else (float(match[1]), float(match[2]), float(match[3]))


def _is_within(operand: Value, *place: Value | None) -> bool:
    """Whether a place is in an area or on its border."""
    area, there = circle(operand), [coordinate for coordinate in place if isinstance(coordinate, int | float)]
    return area is not None and len(there) == 2 and math.dist(area[1:], there) <= area[0]


@dataclass(frozen=True, slots=True)
class Filter:
    """A conjunction of constraints; a filter without any matches every notification."""

    constraints: tuple[Constraint, ...] = ()
    shape: ClassVar[Shape] = fields(
        constraint=repeated(
            fields(
                attribute=TEXT,
                operator={"kind": "enumerated", "names": [symbol.value for symbol in Operator]},
                operand=VALUE,
            )
        )
    )

    def describe(self, names: Names) -> str:
        """The name that a transcript has for the filter."""
        return str(names.filter(self))

    @property
    def is_moving(self) -> bool:
        """Whether an area moves with the subscriber."""
        return any(_is_around_me(constraint) for constraint in self.constraints)

    def around(self, place: tuple[float, float]) -> Filter:
        """Return the filter of a subscriber at a place (m)."""
        here = f"({_exact(place[0])}, {_exact(place[1])})"
        return Filter(
            tuple(
                Constraint("", Operator.WITHIN, str(constraint.operand).replace("me", here))
                if _is_around_me(constraint)
                else constraint
                for constraint in self.constraints
            )
        )

    def matches(self, notification: Notification) -> bool:
        """Whether all constraints hold: f(e) of the thesis, section 2.2."""
        if not self.constraints:  # no dictionary has to be made: brokers ask this for each filter and notification
            return True
        attributes = dict(notification.attributes)
        return all(constraint.matches(attributes) for constraint in self.constraints)

    def write(self, writer: Writer) -> None:
        """Write a count, then attribute, operator and operand of each constraint."""
        writer.u8(len(self.constraints))
        for constraint in self.constraints:
            writer.text(constraint.attribute)
            writer.u8(_OPERATORS.index(constraint.operator))
            write_value(writer, constraint.operand)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Read the bytes of `write`; raise DecodeError."""
        return cls(tuple(_read_constraint(reader) for _ in range(reader.u8())))

    def __str__(self) -> str:
        return " and ".join(map(str, self.constraints)) or "all"


DESTINATION = "destination"
"""The attribute that names a notification's only receiver: unicast by publish/subscribe."""


def addressed_to(node: NodeId) -> Filter:
    """Return a node's subscription to its own identifier (the thesis, section 4.5.1)."""
    return Filter((Constraint(DESTINATION, Operator.EQUAL, node),))


def _read_constraint(reader: Reader) -> Constraint:
    attribute, code = reader.text(), reader.u8()
    if code >= len(_OPERATORS):
        raise DecodeError(f"no operator has the code {code}")
    try:
        return Constraint(attribute, _OPERATORS[code], read_value(reader))
    except ValueError as error:
        raise DecodeError(str(error)) from None


def write_value(writer: Writer, value: Value) -> None:
    """Write a byte for the type, then eight bytes or a text."""
    if isinstance(value, str):
        writer.u8(_TEXT)
        writer.text(value)
    elif isinstance(value, int):
        writer.u8(_INTEGER)
        writer.i64(value)
    else:
        writer.u8(_REAL)
        writer.f64(value)


_READERS: dict[int, Callable[[Reader], Value]] = {_INTEGER: Reader.i64, _REAL: Reader.f64, _TEXT: Reader.text}


def read_value(reader: Reader) -> Value:
    """Read a value as `write_value` wrote it; raise DecodeError for an unknown type."""
    read = _READERS.get(kind := reader.u8())
    if read is None:
        raise DecodeError(f"no value has the type {kind}")
    return read(reader)


def parse_filter(text: str) -> Filter:
    """Read "topic = 'news' and price < 10", "name prefix 'a'", "x exists" or "all"; raise ValueError.

    "within 50 of (40, 20)", "within 50 of me" and "inside (0, 0)-(30, 30)" are areas for x and y. A text stands in
    single quotes and cannot contain one; an `and` with an even number of quotes behind it separates constraints.
    """
    if text.strip() in ("", "all"):
        return Filter()
    parts = re.split(r"\band\b(?=(?:[^']*'[^']*')*[^']*$)", text)
    return Filter(tuple(constraint for part in parts for constraint in _parse_area(part) or [_parse_constraint(part)]))


def _parse_area(text: str) -> list[Constraint]:
    """Read an area as constraints on x and y; none for another text."""
    if match := _INSIDE.fullmatch(text):
        left, bottom, right, top = (parse_value(match[group]) for group in range(1, 5))
        bounds = (("x", left, right), ("y", bottom, top))
        if not all(float(low) < float(high) for _, low, high in bounds):
            raise ValueError(f"{text.strip()!r} is an area of no size: write the lower left corner first")
        return [
            Constraint(name, comparison, bound)
            for name, low, high in bounds
            for comparison, bound in ((Operator.GREATER_OR_EQUAL, low), (Operator.LESS_OR_EQUAL, high))
        ]
    word, _, operand = text.strip().partition(" ")
    area, around_me = circle(operand), _AROUND_ME.fullmatch(operand)
    numbers = area or ((float(around_me[1]),) if around_me else ())
    if word != "within" or not numbers:
        return []
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"{text.strip()!r} is an area without an end")
    if numbers[0] <= 0:
        raise ValueError(f"{text.strip()!r} is an area of no size: its radius is above 0")
    radius, *centre = map(_exact, numbers)
    return [Constraint("", Operator.WITHIN, f"{radius} of ({', '.join(centre)})" if centre else f"{radius} of me")]


def _exact(number: float) -> str:
    """Return the shortest text that is read as this number: areas travel as text."""
    return repr(float(number)).removesuffix(".0")


def _parse_constraint(text: str) -> Constraint:
    match = _SYNTAX.fullmatch(text)
    if match is None and _AREA_WORD.match(text):
        areas = "within 50 of (40, 20), within 50 of me or inside (0, 0)-(30, 30)"
        raise ValueError(f"{text.strip()!r} is not an area such as {areas}")
    if match is None:
        raise ValueError(f"{text.strip()!r} is not a constraint such as topic = 'news', price < 10 or name exists")
    comparison = Operator(match[2])
    if comparison is Operator.EXISTS:
        return Constraint(match[1], comparison)
    return Constraint(match[1], comparison, parse_value(match[3]))


def parse_value(text: str) -> Value:
    """Read 3, 2.5 or 'text'; raises ValueError."""
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1]
    if _WHOLE.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text) and math.isfinite(value := float(text)):
        return value
    raise ValueError(f"{text!r} is neither a number nor a text in single quotes")
