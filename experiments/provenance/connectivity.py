"""How connected the networks of runs were: mean shortest way, and how often they were in pieces.

Kurkowski, Camp and Colagrosso ask for both, because results of well and of badly connected networks say different
things. Two nodes count as linked if each is within the distance at which the mean path loss leaves the other's
sensitivity; fading is left out. Some moments of a run are looked at.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from roambus.bridge.backends.ideal.graph import reach_m
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import read_trace
from roambus.bridge.trace.schema import DETAIL, EVENT, NODE, TIME_S
from roambus.python_protocol.actions import MOVE
from roambus.python_protocol.simtime import SECOND

MOMENTS = 10
"""So many moments of a run are looked at, evenly spread."""


@dataclass(frozen=True, slots=True)
class Connectivity:
    """The mean of the shortest ways between nodes that reach each other (hops), and the share of moments in pieces."""

    hops: float
    in_pieces: float


def connectivity(runs: Sequence[tuple[Scenario, Path]]) -> Connectivity | None:
    """Over some moments of these runs, each with its trace; None where no trace says where nodes are."""
    ways: list[int] = []
    pieces: list[bool] = []
    for scenario, trace in runs:
        reaches = np.array([reach_m(scenario, node) for node in scenario.nodes])
        for places in _places(trace, len(scenario.nodes), scenario.time_limit / SECOND):
            apart = np.hypot(*(places[:, None] - places[None]).T)
            own, missing = _ways(apart <= np.minimum(reaches[:, None], reaches[None]))
            ways += own
            pieces.append(missing)
    return Connectivity(float(np.mean(ways)) if ways else 0.0, float(np.mean(pieces))) if pieces else None


def _places(trace: Path, nodes: int, end_s: float) -> list[np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    """Where the nodes are at each moment: metres[nodes, 2]; none unless all of them say so."""
    table = read_trace(trace)
    rows = table.filter(pc.equal(table[EVENT], MOVE)).select([TIME_S, NODE, DETAIL]).to_pylist()
    points: dict[int, list[tuple[float, float, float]]] = {}
    for row in rows:
        x, y = map(float, row[DETAIL].split())
        points.setdefault(row[NODE], []).append((row[TIME_S], x, y))
    if len(points) < nodes:
        return []
    moments = (np.arange(MOMENTS) + 0.5) / MOMENTS * end_s
    found = np.empty((MOMENTS, nodes, 2))
    for node in range(nodes):
        times, *coordinates = np.array(points[node]).T
        for axis, values in enumerate(coordinates):
            found[:, node, axis] = np.interp(moments, times, values)
    return list(found)


def _ways(linked: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> tuple[list[int], bool]:
    """The shortest ways from each node to the others that it reaches, and whether it does not reach all."""
    neighbours = [np.flatnonzero(row) for row in linked]
    ways: list[int] = []
    missing = False
    for start in range(len(neighbours)):
        hops = {start: 0}
        waiting = deque([start])
        while waiting:
            node = waiting.popleft()
            for other in neighbours[node]:
                if other not in hops:
                    hops[int(other)] = hops[node] + 1
                    waiting.append(int(other))
        ways += [way for way in hops.values() if way]
        missing |= len(hops) < len(neighbours)
    return ways, missing
