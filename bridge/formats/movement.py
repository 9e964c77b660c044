"""Files of movement: native traces of BonnMotion, the files of ns-2's `setdest`, and formats of packages.

All become way-points per node from time 0, in ascending times; a node rests at its last. Anything unknown, or outside
the scenario's nodes, field and duration, is an error with file and line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from roambus.bridge.formats.format import Extent, MovementFormat, Ways, check_ways, mistakes_of, read_file, time_s
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.system.errors import mistakes_at
from roambus.bridge.system.files import read_lines
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import read_number
from roambus.python_protocol.simtime import SECOND

SLOWEST_MPS = 1e-6
"""Slower is a mistake: under a metre in eleven days."""

_NUMBER = re.compile(r"[-+.\d]")
_START = re.compile(r"\$node_\((\d+)\)\s+set\s+([XYZ])_\s+(\S+)")
_ORDER = re.compile(r'\$\w+\s+at\s+(\S+)\s+"\$node_\((\d+)\)\s+setdest\s+(\S+)\s+(\S+)\s+([^\s"]+)\s*"')
_GOD = "god_"
_MOVEMENTS = (".movements.gz", ".movements")


def read_movement(path: Path, extent: Extent) -> Ways:
    """Return every node's way; raise UserError with file and line, or OSError."""
    reader = read_file(path, MovementFormat, extent)  # type: ignore[type-abstract]  # its subclasses are asked
    with mistakes_of(reader, path):
        ways = reader.ways()
        check_ways(reader, ways)
        _check_begin(ways, extent.time_limit / SECOND)
    reader.check(path)
    return ways


def _check_begin(ways: Ways, limit_s: float) -> None:
    legs = (leg for way in ways.values() for leg in pairwise(way))
    begin = min((before.time_s for before, after in legs if before[1:] != after[1:]), default=0.0)
    if begin >= limit_s:
        raise ValueError(f"the first node moves at {begin:g} s, after the run of {limit_s:g} s (sim-time-limit)")


class BonnMotion(MovementFormat):
    """Takes a trace's lines; the n-th is node n's."""

    FORM = "a trace of BonnMotion, t x y t x y ..."

    def __init__(self, extent: Extent) -> None:
        super().__init__(extent)
        self._ways: list[tuple[WayPoint, ...]] = []
        self._last = 0

    @classmethod
    def begins(cls, line: str) -> bool:
        """Return whether the line begins with a number."""
        return _NUMBER.match(line) is not None

    def take(self, number: int, line: str) -> None:
        """Take the line with that number; raise ValueError."""
        if self._last and number > self._last + 1:
            raise ValueError("an empty line comes before it, but each line is a node's")
        self._last = number
        self.extent.node(str(len(self._ways)))
        self._ways.append(tuple(self._way(line.split())))

    def ways(self) -> dict[NodeId, tuple[WayPoint, ...]]:
        """Return each node's way."""
        return dict(enumerate(self._ways))

    def check(self, path: Path) -> None:
        """Raise UserError with file and line unless the trace fits the `.params` beside it."""
        params = params_file(path)
        if params is not None:
            check_params(params, self.extent, len(self._ways))

    def _way(self, words: list[str]) -> Iterator[WayPoint]:
        if len(words) % 3:
            raise ValueError(
                f"{len(words)} numbers are not way-points of time, x and y (three dimensions are not read)"
            )
        last: WayPoint | None = None
        for at, x, y in zip(words[::3], words[1::3], words[2::3], strict=True):
            point = WayPoint(time_s(at), *self.extent.place(x, y))
            if last is None:
                yield point._replace(time_s=0.0)  # it has been there since the start
            elif point.time_s < last.time_s or (point.time_s == last.time_s and point != last):
                raise ValueError(
                    f"at {at} s it would be at ({x}, {y}), but at {last.time_s:g} s at ({last.x:g}, {last.y:g})"
                )
            if point.time_s > (last.time_s if last else 0.0):
                yield point
            last = point


def params_file(movement: Path) -> Path | None:
    """Return the `.params` beside a BonnMotion trace, or None."""
    for suffix in _MOVEMENTS:
        if movement.name.endswith(suffix):
            file = movement.with_name(f"{movement.name.removesuffix(suffix)}.params")
            return file if file.is_file() else None
    return None


def with_params(folder: Path, names: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Yield each movement file by its path from `folder`, then its `.params`."""
    for name in names:
        yield name, folder / name
        params = params_file(folder / name)
        if params is not None:
            yield str(params.relative_to(folder)), params


def check_params(path: Path, extent: Extent, lines: int) -> None:
    """Raise UserError with file and line unless the trace of `lines` nodes fits."""
    for position, line in read_lines(path):
        name, equals, value = (part.strip() for part in line.partition("="))
        if equals:
            with mistakes_at(f"{path}:{position}: {name}"):
                _check(name, value, extent, lines)


def _check(name: str, value: str, extent: Extent, lines: int) -> None:
    """Refuse a field larger than the scenario's, which nodes could leave."""
    match name:
        case "nn":
            if read_number(value) != lines:
                raise ValueError(f"there should be {value[:20]} nodes, but the trace has {lines} lines: one is cut off")
        case "x" | "y":
            metres, most = read_number(value), extent.field_m["xy".index(name)]
            if metres > most:
                raise ValueError(f"its field has {metres:g} m, more than the {most:g} m of SN.field_{name}")
        case "duration":
            seconds, least = read_number(value), extent.time_limit / SECOND
            if seconds < least:
                raise ValueError(f"it ends at {seconds:g} s, before the run at {least:g} s (sim-time-limit)")
        case "J" if value != "2D":
            raise ValueError(f"{value[:20]} is not 2D: movement has two dimensions here")


class Order(NamedTuple):
    """From `time_s` the node goes to (x, y) metres at `speed_mps`."""

    time_s: float
    x: float
    y: float
    speed_mps: float


class SetDest(MovementFormat):
    """Takes a file's lines in any order, sorted by time later."""

    FORM = "a file of ns-2's setdest, $node_(0) set X_ 10"

    def __init__(self, extent: Extent) -> None:
        super().__init__(extent)
        self._starts: dict[NodeId, dict[str, float]] = {}
        self._orders: dict[NodeId, list[Order]] = {}

    @classmethod
    def begins(cls, line: str) -> bool:
        """Return whether the line begins with a variable of Tcl, or has the distances that setdest writes."""
        return line.startswith("$") or _GOD in line

    def take(self, number: int, line: str) -> None:
        """Take the next line; raise ValueError."""
        del number
        line = line.rstrip("; \t")  # Tcl ends an order with it before a comment
        if start := _START.fullmatch(line):
            self._start(self.extent.node(start[1]), start[2], start[3])
        elif order := _ORDER.fullmatch(line):
            at, node, x, y, speed = order.groups()
            command = Order(time_s(at), *self.extent.place(x, y), speed_mps(speed))
            self._orders.setdefault(self.extent.node(node), []).append(command)
        elif line and _GOD not in line:
            raise ValueError(f"{line[:60]!r} neither sets a node's X_, Y_ or Z_ nor gives it a setdest")

    def ways(self) -> dict[NodeId, tuple[WayPoint, ...]]:
        """Return each node's way; raise ValueError without a start."""
        for node in {**self._starts, **self._orders}:
            if not {"X", "Y"} <= self._starts.get(node, {}).keys():
                raise ValueError(f"node {node} has no X_ and Y_ to start at")
        return {node: self._way(node, start) for node, start in self._starts.items()}

    def _start(self, node: NodeId, axis: str, text: str) -> None:
        place = self._starts.setdefault(node, {})
        if axis in place:
            raise ValueError(f"node {node} has an {axis}_ already")
        place[axis] = self.extent.coordinate(axis.lower(), text)

    def _way(self, node: NodeId, start: dict[str, float]) -> tuple[WayPoint, ...]:
        way = [WayPoint(0.0, start["X"], start["Y"])]
        for order in sorted(self._orders.get(node, ()), key=attrgetter("time_s")):
            _follow(way, order)
        return tuple(way)


def speed_mps(text: str) -> float:
    """Read a speed; raise ValueError if negative or below SLOWEST_MPS."""
    speed = read_number(text)
    if speed != 0 and speed < SLOWEST_MPS:
        raise ValueError(f"{text[:20]} is not a speed: 0, or from {SLOWEST_MPS:g} m/s up")
    return speed


def _follow(way: list[WayPoint], order: Order) -> None:
    """End the node's movement at the order's time; add its arrival.

    Drops a way without duration in a double: way-points need distinct times.
    """
    here = _interrupt(way, order.time_s)
    way_m = math.hypot(order.x - here.x, order.y - here.y)
    if order.speed_mps == 0 or way_m == 0:
        return
    arrival_s = here.time_s + way_m / order.speed_mps
    if arrival_s > here.time_s:
        way.append(WayPoint(arrival_s, order.x, order.y))


def _interrupt(way: list[WayPoint], time_s: float) -> WayPoint:
    last = way[-1]
    if last.time_s > time_s:
        way.pop()
        before = way[-1]
        share = (time_s - before.time_s) / (last.time_s - before.time_s)
        last = WayPoint(time_s, before.x + share * (last.x - before.x), before.y + share * (last.y - before.y))
    if way[-1].time_s < time_s:
        way.append(last._replace(time_s=time_s))
    return way[-1]
