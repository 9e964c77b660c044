"""Formats of movement and contact files: a class each, which the entry points `roambus.formats` name.

A format takes a file's lines one by one, without comments, and has the ways or contacts at the end. It claims files by
the end of their names, or else by their first line. A ValueError becomes an error with file and line. Nothing is
repaired: no figure would show a deviation from the file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, TypeVar

from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.system.code import FORMATS, classes, errors_of, is_ours, is_own, load, named
from roambus.bridge.system.errors import UserError, mistakes_at
from roambus.bridge.system.files import read_lines
from roambus.bridge.trace.schema import LATEST_S
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import read_number
from roambus.python_protocol.simtime import SimTime

Ways = Mapping[NodeId, tuple[WayPoint, ...]]
"""Each node's way-points from time 0, times ascending; it rests at the last."""

Pair = tuple[NodeId, NodeId]
Contact = tuple[Pair, SimTime, SimTime]
"""A pair of nodes, the smaller first, and when their link goes up and down."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Number of nodes, field size (m), run length (ns)."""

    nodes: int
    field_m: tuple[float, float]
    time_limit: SimTime

    def node(self, text: str) -> NodeId:
        """Read a node number; raise ValueError if the scenario lacks it."""
        if not text.isdecimal() or len(text) > 9 or int(text) >= self.nodes:
            raise ValueError(
                f"node {text:.20} is not one of the {self.nodes} nodes, 0 to {self.nodes - 1} (SN.numNodes)"
            )
        return int(text)

    def place(self, x: str, y: str) -> tuple[float, float]:
        """Read a place; raise ValueError outside the field."""
        return self.coordinate("x", x), self.coordinate("y", y)

    def coordinate(self, axis: str, text: str) -> float:
        """Read metres; raise ValueError outside the flat field."""
        value, limit = read_number(text), (*self.field_m, 0.0)["xyz".index(axis)]
        if not 0 <= value <= limit:
            raise ValueError(f"{axis} = {text:.20} is out of the field, 0 to {limit:g} m (SN.field_{axis})")
        return value


def time_s(text: str) -> float:
    """Read seconds; raise ValueError for no time of a run."""
    value = read_number(text)
    if not 0 <= value <= LATEST_S:
        raise ValueError(f"{text[:20]} is not a time from 0 to {LATEST_S:g} s")
    return value


class Format(ABC):
    """A format of files; an instance reads one of them."""

    FORM: ClassVar[str]
    """An example of such a file, for messages."""
    NOTHING: ClassVar[str]
    """A remark on an empty file, for messages."""
    SUFFIXES: ClassVar[tuple[str, ...]] = ()
    """Ends of file names that are this format's alone, without `.gz`."""

    def __init__(self, extent: Extent) -> None:
        self.extent = extent

    @classmethod
    def begins(cls, line: str) -> bool:
        """Return whether this is the first line of such a file."""
        del line
        return False

    @abstractmethod
    def take(self, number: int, line: str) -> None:
        """Take the line with that number, stripped and not empty; raise ValueError."""

    def check(self, path: Path) -> None:
        """Check the file as a whole when it has been read; raise UserError."""
        del path


class MovementFormat(Format):
    """A format of movements."""

    NOTHING = "no node moves here"

    @abstractmethod
    def ways(self) -> Ways:
        """Return the way of each node that the file has; raise ValueError."""


class ContactFormat(Format):
    """A format of contacts."""

    NOTHING = "there is no contact in it"

    passing: int = 0
    """How many contacts end when they begin: no frame passes in them, and they are left out."""

    @abstractmethod
    def contacts(self) -> Iterator[Contact]:
        """Yield all contacts; raise ValueError."""


F = TypeVar("F", bound=Format)


def formats_of(kind: type[F]) -> dict[str, type[F]]:
    """Return the formats of a kind that are installed, by name."""
    found = classes(FORMATS, Format)  # type: ignore[type-abstract]  # no class is made, only subclasses are found
    return {name: one for name, one in sorted(found.items()) if issubclass(one, kind)}


def packages_of(files: Iterable[Path]) -> Iterator[str]:
    """Yield the modules of the packages' formats that these files have; raise UserError, OSError."""
    foreign = [point for point in named(FORMATS).values() if not is_own(point)]
    for file in files if foreign else ():
        _, line = next(read_lines(file), (0, ""))
        yield from (point.module for point in foreign if claims(load(point), file, line))


def claims(one: type[Format], path: Path, line: str) -> bool:
    """Return whether a file is of this format, by its name or its first line."""
    return path.name.removesuffix(".gz").endswith(one.SUFFIXES) if one.SUFFIXES else one.begins(line)


def read_file(path: Path, kind: type[F], extent: Extent) -> F:
    """Return the reader of a file that has taken all its lines; raise UserError with file and line, OSError."""
    reader: F | None = None
    for number, line in read_lines(path):
        if reader is None:
            reader = _format_of(path, number, line, kind)(extent)
        with mistakes_of(reader, f"{path}:{number}"):
            reader.take(number, line)
    if reader is None:
        raise UserError(f"{path}: {kind.NOTHING}: {_forms(formats_of(kind))}")
    return reader


@contextmanager
def mistakes_of(reader: Format, place: object) -> Iterator[None]:
    """Raise UserError with a place for a mistake in the file, and for any error of a package's format."""
    format_of = f"{type(reader).__module__}.{type(reader).__name__}"
    with errors_of(type(reader).__module__, f"{place}: the format {format_of}"), mistakes_at(place):
        yield


def _format_of(path: Path, number: int, line: str, kind: type[F]) -> type[F]:
    formats = formats_of(kind)
    found = {name: one for name, one in formats.items() if claims(one, path, line)}
    by_name = {name: one for name, one in found.items() if one.SUFFIXES}
    found = by_name or found
    if not found:
        raise UserError(f"{path}:{number}: {line[:60]!r} begins no file of a known format: {_forms(formats)}")
    if len(found) > 1:
        raise UserError(f"{path}: it could be {' or '.join(found)}: uninstall the package of one of them")
    return next(iter(found.values()))


def _forms(formats: Mapping[str, type[Format]]) -> str:
    return f"give {', or '.join(f'{one.FORM} ({name})' for name, one in formats.items())}"


def check_ways(reader: MovementFormat, ways: Ways) -> None:
    """Raise ValueError for a way of a package's format that no node can go; ours cannot have one."""
    if is_ours(type(reader).__module__):
        return
    for node, way in ways.items():
        reader.extent.node(str(node))
        if not way or way[0].time_s != 0:
            raise ValueError(f"node {node} has no place at time 0")
        for point in way:
            time_s(str(point.time_s))
            reader.extent.place(str(point.x), str(point.y))
        if any(not before.time_s < after.time_s for before, after in pairwise(way)):
            raise ValueError(f"the times of node {node} do not ascend")
