"""Files of contacts, the times at which nodes could hear each other. They become ideal links that go up and down.

Two forms are read, plain or gzipped, and a file has one of them:

- The events of the ONE simulator (Keranen, Ott and Karkkainen, 2009): `10.5 CONN 3 7 up`, and later `42 CONN 3 7 down`.
  Words after that are left out, as are events of other kinds, for a file of the ONE's has its messages, too.
- CSV with a heading that names the columns `start`, `end`, `a` and `b`, in any order and beside others. A line is a
  contact.

Times are seconds. Reading is strict: a node that the scenario does not have, an event that changes nothing, a contact
that ends before it begins, or a line that is neither is an error with file and line, because a file that is wrong in
one line is most often made for another scenario. Contacts of a pair that overlap are one. What begins after the end of
the run is left out.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.bridge.movement_files import Extent, read_lines
from roambus.bridge.scenario.plans import LinkChange
from roambus.python_protocol.settings import read_number
from roambus.python_protocol.vocabulary import NodeId, SimTime, from_seconds

_CSV_COLUMNS = ("start", "end", "a", "b")
_UP = {"up": True, "down": False}
_LATEST_S = 9e9
"""The longest run there can be."""

Pair = tuple[NodeId, NodeId]


def read_contacts(path: Path, extent: Extent) -> tuple[LinkChange, ...]:
    """How links come and go by a file, in the order of time; raises UserError with file and line, OSError."""
    lines = ((number, line) for number, line in read_lines(path) if line)
    _, first = next(lines, (0, ""))
    if not first:
        raise UserError(f"{path}: there is no contact in it; give CONN events of the ONE, or CSV (start,end,a,b)")
    columns = [cell.strip() for cell in next(csv.reader([first]))]
    reader = _Csv(columns, extent) if set(_CSV_COLUMNS) <= set(columns) else _Events(extent)
    if isinstance(reader, _Events):
        lines = ((number, line) for number, line in read_lines(path) if line)
    for number, line in lines:
        try:
            reader.take(line)
        except ValueError as error:
            raise UserError(f"{path}:{number}: {error}") from None
    return tuple(sorted(reader.changes(), key=lambda one: (one.at, one.up, one.a, one.b)))


class _Contacts:
    """Contacts as a reader takes them: for each pair, when they begin and end."""

    def __init__(self, extent: Extent) -> None:
        self._extent = extent
        self._spans: dict[Pair, list[tuple[SimTime, SimTime]]] = {}

    def _pair(self, a: str, b: str) -> Pair:
        one, other = sorted((self._extent.node(a.strip()), self._extent.node(b.strip())))
        if one == other:
            raise ValueError(f"node {one} meets itself")
        return one, other

    def _add(self, pair: Pair, start: SimTime, end: SimTime) -> None:
        self._spans.setdefault(pair, []).append((start, end))

    def changes(self) -> Iterator[LinkChange]:
        """The links that come up, and go down again if that is before the end of the run."""
        limit = self._extent.time_limit
        for (a, b), spans in self._spans.items():
            for start, end in _joined(spans):
                if start < limit:
                    yield LinkChange(start, a, b, up=True)
                if end < limit:
                    yield LinkChange(end, a, b, up=False)


class _Csv(_Contacts):
    """A contact a line."""

    def __init__(self, columns: list[str], extent: Extent) -> None:
        super().__init__(extent)
        self._places = [columns.index(name) for name in _CSV_COLUMNS]

    def take(self, line: str) -> None:
        """Raises ValueError for what is no contact."""
        cells = next(csv.reader([line]))
        if len(cells) <= max(self._places):
            raise ValueError(f"{line:.40} has no column for each of {', '.join(_CSV_COLUMNS)}")
        start, end, a, b = (cells[place] for place in self._places)
        begins, ends = _time(start), _time(end)
        if ends <= begins:
            raise ValueError(f"a contact that begins at {start.strip()} s cannot end at {end.strip()} s")
        self._add(self._pair(a, b), begins, ends)


class _Events(_Contacts):
    """The ONE's events, which are in the order of time."""

    def __init__(self, extent: Extent) -> None:
        super().__init__(extent)
        self._begun: dict[Pair, SimTime] = {}
        self._last: SimTime = 0

    def take(self, line: str) -> None:
        """Raises ValueError for what is not an event, or one that changes nothing."""
        words = line.split()
        if len(words) < 2:
            raise ValueError(f"{line:.40} is not an event such as 10.5 CONN 3 7 up")
        at = _time(words[0])
        if words[1] != "CONN":
            return
        if len(words) < 5 or words[4] not in _UP:
            raise ValueError(f"{line:.40} is not an event such as 10.5 CONN 3 7 up")
        if at < self._last:
            raise ValueError(f"an event at {words[0]} s comes after a later one")
        self._last = at
        pair = self._pair(words[2], words[3])
        if _UP[words[4]] == (pair in self._begun):
            raise ValueError(f"the link of {pair[0]} and {pair[1]} is {words[4]} already")
        if _UP[words[4]]:
            self._begun[pair] = at
        elif (begun := self._begun.pop(pair)) < at:
            self._add(pair, begun, at)

    def changes(self) -> Iterator[LinkChange]:
        """What is up at the end of the file stays up."""
        for pair, begun in self._begun.items():
            self._add(pair, begun, from_seconds(_LATEST_S))
        self._begun.clear()
        yield from super().changes()


def _joined(spans: list[tuple[SimTime, SimTime]]) -> Iterator[tuple[SimTime, SimTime]]:
    """The same times without overlaps."""
    begins, ends = -1, -1
    for start, end in sorted(spans):
        if start > ends:
            if begins >= 0:
                yield begins, ends
            begins, ends = start, end
        ends = max(ends, end)
    yield begins, ends


def _time(text: str) -> SimTime:
    seconds = read_number(text.strip())
    if not 0 <= seconds <= _LATEST_S:
        raise ValueError(f"{text.strip():.20} s is not a time of a run")
    return from_seconds(seconds)
