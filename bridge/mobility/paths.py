"""Paths: initial places of nodes, and their way-points for the whole run.

Ideal links and the embedded radio share them: a seed gives the same places under any agents, since placement and each
node's way have their own generators, spawned from the run's seed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backend import Course, Move
from roambus.bridge.mobility.model import Mobility, WayPoint
from roambus.bridge.mobility.outside import onward
from roambus.bridge.mobility.static import Static
from roambus.bridge.mobility.steered import Steered
from roambus.bridge.scenario.definition import Scenario
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime, from_seconds

Path = Sequence[WayPoint]
"""From time 0 to the run's end or later, unless the node comes to rest."""
Pair = tuple[float, float]
"""x and y, in m or m/s."""
_time = itemgetter(0)

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
    """Return the way-points of a node at `start` at time 0; raise UserError for a package's that are none."""
    points = [WayPoint(0.0, *start)]
    if isinstance(mobility, Static):  # a generator for each of many nodes that stay would cost more than their ways
        return points
    for point in onward(mobility, points[0], field_m, np.random.default_rng(seed)):
        points.append(point)
        if point.time_s * SECOND >= time_limit:
            break
    return points


def positions(points: Path, times_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return metres[time, 2] of the node; it stays at its last way-point, and is where a jump leads at its time."""
    times, xs, ys = np.array(points).T
    return np.column_stack([np.interp(times_s, times, xs), np.interp(times_s, times, ys)])


def positions_before(points: Path, times_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return metres[time, 2] at which the node comes to its places: where a jump begins, at its time."""
    backwards = [point._replace(time_s=-point.time_s) for point in reversed(points)]
    return positions(backwards, -times_s)


def motion(path: Path, at_s: float) -> tuple[Pair, Pair]:
    """Return the place (m) and the velocity (m/s) on a path at a time."""
    index = bisect_right(path, at_s, key=_time)
    if index == len(path):
        return path[-1][1:], (0.0, 0.0)
    before, after = path[index - 1], path[index]
    lasting, passed = after.time_s - before.time_s, at_s - before.time_s
    vx, vy = (after.x - before.x) / lasting, (after.y - before.y) / lasting
    return (before.x + vx * passed, before.y + vy * passed), (vx, vy)


# Nodes that their agents move


def steered(scenario: Scenario) -> dict[NodeId, Steered]:
    """Return the nodes that their agents move, each with its settings."""
    mobilities = enumerate(settings.mobility for settings in scenario.nodes)
    return {node: mobility for node, mobility in mobilities if isinstance(mobility, Steered)}


def turn(path: list[WayPoint], course: Course) -> None:
    """Replace the rest of a path from `course.at` on."""
    at_s = course.at / SECOND
    while path and path[-1].time_s >= at_s:
        path.pop()
    path.append(WayPoint(at_s, course.x, course.y))
    if course.until > course.at:
        path.append(WayPoint(course.until / SECOND, course.to_x, course.to_y))


def rest_of(path: Path, at_s: float) -> list[WayPoint]:
    """Return the path from a time on."""
    return [WayPoint(at_s, *motion(path, at_s)[0]), *path[bisect_right(path, at_s, key=_time) :]]


# Rows of the trace


def known_moves(scenario: Scenario, paths: Sequence[Path], end: SimTime) -> list[Move]:
    """Return the moves of all nodes but those that their agents move, which are the host's."""
    own = steered(scenario)
    return moves_until({node: points for node, points in enumerate(paths) if node not in own}, end)


def moves_until(paths: Mapping[NodeId, Path], end: SimTime) -> list[Move]:
    """Return way-points up to `end`, and moving nodes' places then, by (time, node)."""
    moves = (move for node, points in paths.items() for move in _moves_of(node, points, end))
    return sorted(moves, key=itemgetter(0, 1))  # both places of a jump in their order


def _moves_of(node: int, points: Path, end: SimTime) -> Iterator[Move]:
    yield Move(0, node, points[0].x, points[0].y)
    for before, after in pairwise(points):
        time = from_seconds(after.time_s)
        if time < end:
            yield Move(time, node, after.x, after.y)
        elif from_seconds(before.time_s) < end:
            x, y = positions(points, np.array([end / SECOND]))[0].tolist()
            yield Move(end, node, x, y)
