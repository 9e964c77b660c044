"""The files of ns-2's `setdest` (the ns manual, "Mobile networking in ns"), and what BonnMotion's NSFile writes.

    $node_(0) set X_ 83.4
    $node_(0) set Y_ 239.4
    $ns_ at 2.0 "$node_(0) setdest 90.4 44.9 1.4"

From 2 s on node 0 goes straight to (90.4, 44.9) at 1.4 m/s, from wherever it is then; it rests where it arrives. At
speed 0 it rests where it is. What a file says of distances (`$god_`) is left out: it follows from the movement.
"""

from __future__ import annotations

import math
import re
from operator import attrgetter
from typing import NamedTuple

from roambus.bridge.movement.extent import Extent, number, time_s
from roambus.bridge.scenario.mobility import WayPoint
from roambus.python_protocol.roles import NodeId

SLOWEST_MPS = 1e-6
"""Slower than this, a node moves less than a metre in eleven days, and nobody meant it to move."""

_START = re.compile(r"\$node_\((\d+)\)\s+set\s+([XYZ])_\s+(\S+)")
_ORDER = re.compile(r'\$\w+\s+at\s+(\S+)\s+"\$node_\((\d+)\)\s+setdest\s+(\S+)\s+(\S+)\s+([^\s"]+)\s*"')
_GOD = "god_"


class Order(NamedTuple):
    """From `time_s` on, the node goes to (x, y) metres at `speed_mps`."""

    time_s: float
    x: float
    y: float
    speed_mps: float


class SetDest:
    """Takes the lines of a file, in any order."""

    def __init__(self, extent: Extent) -> None:
        self._extent = extent
        self._starts: dict[NodeId, dict[str, float]] = {}
        self._orders: dict[NodeId, list[Order]] = {}

    def take(self, line: str) -> None:
        """Takes the next line; raises ValueError."""
        if start := _START.fullmatch(line):
            self._start(self._extent.node(start[1]), start[2], start[3])
        elif order := _ORDER.fullmatch(line):
            at, node, x, y, speed = order.groups()
            command = Order(time_s(at), *self._extent.place(x, y), _speed(speed))
            self._orders.setdefault(self._extent.node(node), []).append(command)
        elif line and _GOD not in line:
            raise ValueError(f"{line[:60]!r} neither sets a node's X_, Y_ or Z_ nor gives it a setdest")

    def ways(self) -> dict[NodeId, tuple[WayPoint, ...]]:
        """The way of each node; raises ValueError for one that moves, but starts nowhere."""
        for node in self._orders:
            if not {"X", "Y"} <= self._starts.get(node, {}).keys():
                raise ValueError(f"node {node} moves, but has no X_ and Y_ to start at")
        return {node: self._way(node, start) for node, start in self._starts.items()}

    def _start(self, node: NodeId, axis: str, text: str) -> None:
        place = self._starts.setdefault(node, {})
        if axis in place:
            raise ValueError(f"node {node} has an {axis}_ already")
        place[axis] = self._extent.coordinate(axis.lower(), text)

    def _way(self, node: NodeId, start: dict[str, float]) -> tuple[WayPoint, ...]:
        if not {"X", "Y"} <= start.keys():
            raise ValueError(f"node {node} has no X_ and Y_ to start at")
        way = [WayPoint(0.0, start["X"], start["Y"])]
        for order in sorted(self._orders.get(node, ()), key=attrgetter("time_s")):
            _follow(way, order)
        return tuple(way)


def _speed(text: str) -> float:
    speed = number(text)
    if speed != 0 and speed < SLOWEST_MPS:
        raise ValueError(f"{text[:20]} is no speed: 0, or from {SLOWEST_MPS:g} m/s up")
    return speed


def _follow(way: list[WayPoint], order: Order) -> None:
    """Ends what the node was doing at the time of the order, and adds where and when it arrives."""
    here = _interrupt(way, order.time_s)
    way_m = math.hypot(order.x - here.x, order.y - here.y)
    if order.speed_mps == 0 or way_m == 0:
        return
    arrival_s = here.time_s + way_m / order.speed_mps
    if arrival_s > here.time_s:
        way.append(WayPoint(arrival_s, order.x, order.y))


def _interrupt(way: list[WayPoint], time_s: float) -> WayPoint:
    """Ends the way where the node is at `time_s`, which becomes its last way-point."""
    last = way[-1]
    if last.time_s > time_s:
        way.pop()
        before = way[-1]
        share = (time_s - before.time_s) / (last.time_s - before.time_s)
        last = WayPoint(time_s, before.x + share * (last.x - before.x), before.y + share * (last.y - before.y))
    if way[-1].time_s < time_s:
        way.append(last._replace(time_s=time_s))
    return way[-1]
