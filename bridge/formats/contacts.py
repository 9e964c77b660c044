"""Files of contacts between nodes, which become ideal links that go up and down.

A file has one of two forms:

- Events of the ONE simulator (Keranen, Ott and Karkkainen, 2009): `10.5 CONN 3 7 up`, later `42 CONN 3 7 down`; the
  rest is ignored.
- CSV with `,`, `;` or tabs, whose heading names `start`, `end`, `a` and `b`, and nothing else.

Contacts that end when they begin, as many of a scan every few minutes do, are left out and counted.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from operator import index
from pathlib import Path
from typing import NamedTuple

from roambus.bridge.formats.format import Contact, ContactFormat, Extent, Pair, mistakes_of, read_file, time_s
from roambus.bridge.scenario.plans import LinkChange
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.schema import LATEST_S
from roambus.python_protocol.simtime import SECOND, SimTime, from_seconds

_COLUMNS = ("start", "end", "a", "b")
_SEPARATORS = ",;\t"
_OF_LINKS = ("loss", "delay")
"""What a link could have beside its times, and a contact has not."""
_UP = {"up": True, "down": False}
_CONNECTION = "CONN"
_OF_MESSAGES = ("C", "S", "DE", "A", "DR", "R")
"""The ONE's actions that concern messages."""


class Contacts(NamedTuple):
    """The changes of links by time, and the number of contacts that were left out since they last no time."""

    changes: tuple[LinkChange, ...]
    passing: int = 0


def read_contacts(path: Path, extent: Extent) -> Contacts:
    """Return link changes by time; raise UserError with file and line, or OSError."""
    reader = read_file(path, ContactFormat, extent)  # type: ignore[type-abstract]  # its subclasses are asked
    with mistakes_of(reader, path):
        contacts = [_checked(contact, extent) for contact in reader.contacts()]
    if not contacts:
        problem = f"its {reader.passing} contacts end when they begin" if reader.passing else reader.NOTHING
        raise UserError(f"{path}: {problem}: give {reader.FORM}")
    if (begin := min(start for _, start, _ in contacts)) >= extent.time_limit:
        limit = extent.time_limit / SECOND
        raise UserError(f"{path}: its first contact, at {begin / SECOND:g} s, is after the run of {limit:g} s")
    changes = sorted(
        _changes(contacts, extent.time_limit), key=lambda change: (change.at, change.up, change.a, change.b)
    )
    return Contacts(tuple(changes), reader.passing)


def _checked(contact: Contact, extent: Extent) -> Contact:
    """Return a contact; raise ValueError for one that no file can have, as a package's format may make it."""
    (first, second), start, end = contact
    read_pair(extent, str(first), str(second))
    if not (first < second and 0 <= index(start) < index(end)):  # a number of seconds would be some ns
        raise ValueError(f"there is no contact of {first} and {second} from {start} ns to {end} ns")
    return contact


def _changes(contacts: list[Contact], limit: SimTime) -> Iterator[LinkChange]:
    spans: dict[Pair, list[tuple[SimTime, SimTime]]] = {}
    for pair, start, end in contacts:
        spans.setdefault(pair, []).append((start, end))
    for (a, b), own in spans.items():
        for start, end in _joined(own):
            if start < limit:
                yield LinkChange(start, a, b, up=True)
            if end < limit:
                yield LinkChange(end, a, b, up=False)


def _joined(spans: list[tuple[SimTime, SimTime]]) -> Iterator[tuple[SimTime, SimTime]]:
    begins, ends = -1, -1
    for start, end in sorted(spans):
        if start > ends:
            if begins >= 0:
                yield begins, ends
            begins, ends = start, end
        ends = max(ends, end)
    yield begins, ends


def read_pair(extent: Extent, a: str, b: str) -> Pair:
    """Read two different nodes; raise ValueError."""
    first, second = extent.node(a.strip()), extent.node(b.strip())
    if first == second:
        raise ValueError(f"node {first} meets itself")
    return first, second


def _separator_of(line: str) -> str | None:
    return next((one for one in _SEPARATORS if set(_COLUMNS) <= set(_cells(line, one))), None)


def _cells(line: str, separator: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator))] if line else []
    except csv.Error as error:
        raise ValueError(f"this is no line of CSV: {error}") from None


class ContactsCsv(ContactFormat):
    """CSV with a heading."""

    FORM = "CSV whose heading has the columns start, end, a and b"

    def __init__(self, extent: Extent) -> None:
        super().__init__(extent)
        self.passing = 0
        self._separator = ""
        self._width, self._places = 0, [0]
        self._contacts: list[Contact] = []

    @classmethod
    def begins(cls, line: str) -> bool:
        """Return whether this heading has all columns."""
        return _separator_of(line) is not None

    def _read_heading(self, separator: str, columns: list[str]) -> None:
        self._separator = separator
        if twice := next((name for name in columns if columns.count(name) > 1), None):
            raise ValueError(f"the heading has the column {twice!r} twice")
        if unused := next((name for name in columns if name.lower() in _OF_LINKS), None):
            raise ValueError(
                f"contacts have no {unused}: leave the column out, and set SN.ideal.{unused} for all links"
            )
        if others := [name for name in columns if name not in _COLUMNS]:
            raise ValueError(f"the heading has the column {others[0]!r}, which is not used: leave it out")
        self._width, self._places = len(columns), [columns.index(name) for name in _COLUMNS]

    def take(self, number: int, line: str) -> None:
        """Take the heading or one contact; raise ValueError for neither."""
        del number
        if not self._width and (separator := _separator_of(line)) is not None:
            self._read_heading(separator, _cells(line, separator))
            return
        cells = _cells(line, self._separator)
        if len(cells) != self._width:
            raise ValueError(f"{line:.40} has {len(cells)} columns, and the heading has {self._width}")
        start, end, a, b = (cells[place] for place in self._places)
        begins, ends = from_seconds(time_s(start)), from_seconds(time_s(end))
        if ends < begins:
            raise ValueError(f"a contact that begins at {start} s cannot end at {end} s")
        a_node, b_node = sorted(read_pair(self.extent, a, b))
        self.passing += begins == ends
        if begins < ends:
            self._contacts.append(((a_node, b_node), begins, ends))

    def contacts(self) -> Iterator[Contact]:
        """All contacts."""
        return iter(self._contacts)


class OneEvents(ContactFormat):
    """The ONE's events in time order.

    Each node can record a contact (`2 CONN 9`, `9 CONN 2`): two overlapping ones.
    """

    FORM = "CONN events of the ONE, 10.5 CONN 3 7 up"

    def __init__(self, extent: Extent) -> None:
        super().__init__(extent)
        self.passing = 0
        self._begun: dict[Pair, SimTime] = {}
        self._contacts: list[Contact] = []
        self._last: SimTime = 0

    @classmethod
    def begins(cls, line: str) -> bool:
        """Return whether the line is an event."""
        return line.split()[1:2] in ([action] for action in (_CONNECTION, *_OF_MESSAGES))

    def take(self, number: int, line: str) -> None:
        """Take one line; raise ValueError for no event or no change."""
        del number
        words = line.split()
        if len(words) < 2 or (words[1] != _CONNECTION and words[1] not in _OF_MESSAGES):
            raise ValueError(f"{line:.40} is no event of the ONE, such as 10.5 CONN 3 7 up")
        at = from_seconds(time_s(words[0]))
        if words[1] != _CONNECTION:
            return
        if len(words) != 5 or words[4] not in _UP:
            raise ValueError(f"{line:.40} is not an event such as 10.5 CONN 3 7 up")
        if at < self._last:
            raise ValueError(f"an event at {words[0]} s comes after a later one")
        self._last = at
        self._change(read_pair(self.extent, words[2], words[3]), at, up=_UP[words[4]])

    def _change(self, pair: Pair, at: SimTime, *, up: bool) -> None:
        if not up and pair not in self._begun:
            pair = pair[1], pair[0]
        if up == (pair in self._begun):
            raise ValueError(f"the link of {pair[0]} and {pair[1]} is {'up' if up else 'down'} already")
        if up:
            self._begun[pair] = at
        elif (begun := self._begun.pop(pair)) < at:
            self._add(pair, begun, at)
        else:
            self.passing += 1

    def _add(self, pair: Pair, start: SimTime, end: SimTime) -> None:
        first, second = sorted(pair)
        self._contacts.append(((first, second), start, end))

    def contacts(self) -> Iterator[Contact]:
        """Return all contacts; those still up last to the end."""
        for pair, begun in self._begun.items():
            self._add(pair, begun, from_seconds(LATEST_S))
        self._begun.clear()
        return iter(self._contacts)
