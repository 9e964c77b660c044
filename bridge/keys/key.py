"""A key of the ini: it is declared once, and everything else about it is made from that declaration.

A settings class of the scenario is a frozen dataclass. Each of its fields that comes from the ini is made by `key()`,
which takes the key's path, its default as Castalia has it, the kind of its value, its unit, its range and its meaning.
The reader of the ini builds the class from these declarations, the compiled radio lays its records out by the same
fields, and the texts of errors and the page of the docs are written from them. A key that has no effect here, or that
can have one value only, needs no field: it is a `Key` in the tuple `KEYS` of the module that declares its neighbours.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from roambus.bridge.keys.kinds import Kind
from roambus.bridge.keys.values import Uniform
from roambus.bridge.limits import Limit
from roambus.python_protocol.simtime import format_time

EVERY_NODE = "node[*]"
"""Stands for each node in the path of a key that every node has."""

_KEY = "key"


@dataclass(frozen=True, slots=True)
class Range:
    """The values that a key may have, in the key's own unit; None means that there is no such bound."""

    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None

    def holds(self, value: float) -> bool:
        """Whether the value keeps every bound."""
        return (
            (self.at_least is None or value >= self.at_least)
            and (self.at_most is None or value <= self.at_most)
            and (self.above is None or value > self.above)
        )


ANY = Range()


@dataclass(frozen=True, slots=True)
class Key:
    """A key: its full path, the kind of its value, its default (None says that it must be set), and its meaning."""

    path: str
    kind: Kind
    default: str | None
    doc: str
    unit: str = ""
    within: Range = ANY
    only: tuple[Any, ...] = ()
    """The values that the embedded radio knows, if it does not know all that Castalia does."""
    limit: Limit | None = None
    """What bounds the value beside its range, because more would take too long."""
    limit_unit: int = 1
    """How many of the value's unit make one of the limit's."""

    @property
    def is_per_node(self) -> bool:
        """Whether every node has this key."""
        return EVERY_NODE in self.path

    def read(self, text: str) -> Any:
        """The value that `text` stands for; raises ValueError for one that cannot be read or is out of range."""
        value = self.kind.parse(text)
        for number in (value.low, value.high) if isinstance(value, Uniform) else (value,):
            if self.within is not ANY and number is not None and not self.within.holds(number):
                raise ValueError(f"{text} is out of range: it must be {self.range_text()}")
        if self.limit is not None:
            self.limit.check(value / self.limit_unit)
        return self.kind.convert(value)

    def range_text(self) -> str:
        """The range in words, such as "above 0 ms" or "from 0 to 1"; empty if there is none."""
        low, high, above = (
            self._bound(value) for value in (self.within.at_least, self.within.at_most, self.within.above)
        )
        bounds = {"at least": low, "above": above, "at most": high}
        words = [f"{word} {bound}" for word, bound in bounds.items() if bound]
        if low and high:
            words = [f"from {low} to {high}"]
        return f"{' and '.join(words)} {self.unit or self.kind.unit}".strip() if words else ""

    def choices(self) -> list[str]:
        """The values in `only` as the ini writes them, but for the quotes around texts."""
        return [str(one).lower() if isinstance(one, bool) else str(one) for one in self.only]

    def _bound(self, value: float | None) -> str:
        if value is None:
            return ""
        if self.kind.has_unit:
            return format_time(round(value))
        return f"{value:.12g}"


def key(  # noqa: PLR0913, PLR0917  # each is one of the things that a key is declared to be
    path: str,
    kind: Kind,
    default: str | None,
    doc: str,
    unit: str = "",
    within: Range = ANY,
    only: tuple[Any, ...] = (),
    limit: Limit | None = None,
    limit_unit: int = 1,
) -> Any:
    """A field of a settings class, with the key that it comes from; the arguments are those of `Key`."""
    declared = Key(path, kind, default, doc, unit, within, only, limit, limit_unit)
    if default is None:
        return dataclasses.field(kw_only=True, metadata={_KEY: declared})
    return dataclasses.field(default=declared.read(default), metadata={_KEY: declared})


def declared_keys(settings: type[Any]) -> dict[str, Key]:
    """The keys that the fields of a settings class come from, by the fields' names."""
    return {field.name: field.metadata[_KEY] for field in dataclasses.fields(settings) if _KEY in field.metadata}


def keys_of(settings: type[Any]) -> tuple[Key, ...]:
    """The keys that a settings class declares."""
    return tuple(declared_keys(settings).values())


def path_of(settings: type[Any], field: str) -> str:
    """The path of the key that a field comes from."""
    return declared_keys(settings)[field].path
