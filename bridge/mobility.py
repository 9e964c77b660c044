"""Mobility: initial places of nodes, and their way-points for the whole run.

Ideal links and the embedded radio share it: a seed gives the same places under any agents, since placement and each
node's way have their own generators, spawned from the run's seed. Random waypoint (Johnson and Maltz, 1996): nodes
gather in the middle over time, unless first destinations and pauses give a steady-state start.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import count, pairwise

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backend import Move
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import GivenWay, Line, Mobility, RandomWaypoint, WayPoint
from roambus.python_protocol.simtime import SECOND, SimTime, from_seconds

Path = Sequence[WayPoint]
"""From time 0 to the run's end or later, unless the node comes to rest."""

PLACEMENT, MOBILITY, FIRST_OF_OTHERS = range(3)
"""Numbers of the generators spawned from the run's seed; others follow."""


def paths_of(scenario: Scenario) -> list[Path]:
    """The way-points of each node."""
    seeds = np.random.SeedSequence(scenario.seed).spawn(FIRST_OF_OTHERS)[MOBILITY].spawn(len(scenario.nodes))
    return [
        path(settings.mobility, (x, y), scenario.field_m, scenario.time_limit, seed)
        for settings, (x, y), seed in zip(scenario.nodes, places_of(scenario).tolist(), seeds, strict=True)
    ]


def places_of(scenario: Scenario) -> NDArray[np.float64]:
    """Return metres[n, 2] at time 0; all are drawn, so given places move no other node."""
    seed = np.random.SeedSequence(scenario.seed).spawn(FIRST_OF_OTHERS)[PLACEMENT]
    places: NDArray[np.float64] = np.random.default_rng(seed).uniform(0, 1, (len(scenario.nodes), 2))
    places *= scenario.field_m
    for node, settings in enumerate(scenario.nodes):
        if settings.position is not None:
            places[node] = settings.position
    return places


def path(
    mobility: Mobility,
    start: tuple[float, float],
    field_m: tuple[float, float],
    time_limit: SimTime,
    seed: np.random.SeedSequence,
) -> Path:
    """Return the way-points of a node at `start` at time 0."""
    points = [WayPoint(0.0, *start)]
    for point in _onward(mobility, points[0], field_m, seed):
        points.append(point)
        if point.time_s * SECOND >= time_limit:
            break
    return points


def positions(points: Path, times_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return metres[time, 2] of the node; it stays at its last way-point."""
    times, xs, ys = np.array(points).T
    return np.column_stack([np.interp(times_s, times, xs), np.interp(times_s, times, ys)])


def moves_until(paths: Sequence[Path], end: SimTime) -> list[Move]:
    """Return way-points up to `end`, and moving nodes' places then, by (time, node)."""
    return sorted(move for node, points in enumerate(paths) for move in _moves_of(node, points, end))


def _moves_of(node: int, points: Path, end: SimTime) -> Iterator[Move]:
    yield Move(0, node, points[0].x, points[0].y)
    for before, after in pairwise(points):
        time = from_seconds(after.time_s)
        if time < end:
            yield Move(time, node, after.x, after.y)
        elif from_seconds(before.time_s) < end:
            x, y = positions(points, np.array([end / SECOND]))[0].tolist()
            yield Move(end, node, x, y)


def _onward(
    mobility: Mobility, start: WayPoint, field_m: tuple[float, float], seed: np.random.SeedSequence
) -> Iterator[WayPoint]:
    """Return later way-points, endless unless the node comes to rest."""
    match mobility:
        case Line(speed_mps=speed) if speed > 0 and (start.x, start.y) != (mobility.x, mobility.y):
            return _to_and_fro(mobility, start)
        case RandomWaypoint(speed_mps=speed) if speed > 0:
            return _wander(mobility, start, field_m, np.random.default_rng(seed))
        case GivenWay(points=(_, *onward)):
            return iter(onward)
    return iter(())


def _to_and_fro(line: Line, start: WayPoint) -> Iterator[WayPoint]:
    """Yield both ends in turn; multiplied leg times avoid accumulated rounding."""
    leg_s = math.hypot(line.x - start.x, line.y - start.y) / line.speed_mps
    for legs in count(1):
        there = legs % 2 == 1
        yield WayPoint(legs * leg_s, line.x if there else start.x, line.y if there else start.y)


def _wander(
    waypoint: RandomWaypoint, at: WayPoint, field_m: tuple[float, float], random: np.random.Generator
) -> Iterator[WayPoint]:
    """Yield random way-points; a steady-state start gives the first destination and pause."""
    if waypoint.first_pause:
        at = at._replace(time_s=waypoint.first_pause / SECOND)
        yield at
    destination, (left, bottom), (right, top) = waypoint.first, (0.0, 0.0), field_m
    if waypoint.area_width and waypoint.area_height:
        left, bottom = waypoint.area_x, waypoint.area_y
        right, top = left + waypoint.area_width, bottom + waypoint.area_height
    while True:
        x, y = destination or (random.uniform(left, right), random.uniform(bottom, top))
        destination = None
        at = WayPoint(at.time_s + math.hypot(x - at.x, y - at.y) / waypoint.speed_mps, x, y)
        yield at
        if waypoint.pause:
            at = at._replace(time_s=at.time_s + waypoint.pause / SECOND)
            yield at
