"""Makes the way-points of each node for the whole run, and finds the cells that it is seen in.

A node goes straight from way-point to way-point; the channel sees where it is every update interval only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.interface import Move
from roambus.bridge.backends.radio.channel import Cells
from roambus.bridge.backends.radio.state import MOVE
from roambus.bridge.scenario.nodes import GivenWay, Line, Mobility, RandomWaypoint, Static, WayPoint
from roambus.python_protocol.simtime import SECOND, SimTime, from_seconds

Path = Sequence[WayPoint]
"""The first point is at time 0, the last at the end of the run or later, unless the node has come to rest."""


def path(
    mobility: Mobility,
    start: tuple[float, float],
    field_m: tuple[float, float],
    time_limit: SimTime,
    seed: np.random.SeedSequence,
) -> Path:
    """The way-points of a node that is at `start` at time 0."""
    points = [WayPoint(0.0, *start)]
    for point in _onward(mobility, points[0], field_m, seed):
        points.append(point)
        if point.time_s * SECOND >= time_limit:
            break
    return points


def _onward(
    mobility: Mobility, start: WayPoint, field_m: tuple[float, float], seed: np.random.SeedSequence
) -> Iterator[WayPoint]:
    match mobility:
        case Line(speed_mps=speed) if speed > 0 and (start.x, start.y) != (mobility.x, mobility.y):
            return _to_and_fro(mobility, start)
        case RandomWaypoint(speed_mps=speed) if speed > 0:
            return _wander(mobility, start, field_m, np.random.default_rng(seed))
        case GivenWay(points=(_, *onward)):
            return iter(onward)
    return iter(())


def _to_and_fro(line: Line, start: WayPoint) -> Iterator[WayPoint]:
    leg_s = math.hypot(line.x - start.x, line.y - start.y) / line.speed_mps
    legs = 0
    while True:
        legs += 1
        there = legs % 2 == 1
        yield WayPoint(legs * leg_s, line.x if there else start.x, line.y if there else start.y)


def _wander(
    waypoint: RandomWaypoint, at: WayPoint, field_m: tuple[float, float], random: np.random.Generator
) -> Iterator[WayPoint]:
    first = waypoint.first
    if waypoint.first_pause:
        at = at._replace(time_s=waypoint.first_pause / SECOND)
        yield at
    while True:
        x, y = first or (random.uniform(0, field_m[0]), random.uniform(0, field_m[1]))
        first = None
        at = WayPoint(at.time_s + math.hypot(x - at.x, y - at.y) / waypoint.speed_mps, x, y)
        yield at
        if waypoint.pause:
            at = at._replace(time_s=at.time_s + waypoint.pause / SECOND)
            yield at


def positions(points: Path, times_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """The place metres[time, 2] of the node at each time; it stays at its last way-point."""
    times, xs, ys = np.array(points).T
    return np.column_stack([np.interp(times_s, times, xs), np.interp(times_s, times, ys)])


def cell_changes(
    mobilities: Sequence[Mobility], paths: Sequence[Path], cells: Cells, time_limit: SimTime
) -> NDArray[np.void]:
    """The changes MOVE[m], by (time, node): each says when a node is first seen in a new cell."""
    changes = [
        _changes_of(node, mobility, points, cells, time_limit)
        for node, (mobility, points) in enumerate(zip(mobilities, paths, strict=True))
    ]
    moves = np.concatenate(changes) if changes else np.zeros(0, MOVE)
    return moves[np.lexsort((moves["node"], moves["time"]))]


def _changes_of(node: int, mobility: Mobility, points: Path, cells: Cells, time_limit: SimTime) -> NDArray[np.void]:
    if isinstance(mobility, Static) or len(points) == 1:
        return np.zeros(0, MOVE)
    times = np.arange(0, time_limit, mobility.update_interval)
    seen_in = cells.holding(positions(points, times / SECOND))
    new = np.flatnonzero(np.diff(seen_in)) + 1
    moves = np.zeros(len(new), MOVE)
    moves["time"], moves["node"], moves["cell"] = times[new], node, seen_in[new]
    return moves


def moves_until(paths: Sequence[Path], end: SimTime) -> list[Move]:
    """Every way-point up to `end`, and where each moving node is then; by (time, node)."""
    return sorted(move for node, points in enumerate(paths) for move in _moves_of(node, points, end))


def _moves_of(node: int, points: Path, end: SimTime) -> Iterator[Move]:
    yield Move(0, node, points[0].x, points[0].y)
    for before, after in pairwise(points):
        time = from_seconds(after.time_s)
        if time < end:
            yield Move(time, node, after.x, after.y)
        elif from_seconds(before.time_s) < end:
            x, y = positions(points, np.array([end / SECOND]))[0]
            yield Move(end, node, float(x), float(y))
