"""The page's picture of a network, from trace and scenario alone, without an agent's code.

*Places* come from moves; without any, a given tree stands level by level, and other nodes on a circle by number.
*Links* are drawn by distance over a radio, or by the scenario's graph; no trace says which frames could arrive.
*Arrivals*: a receive belongs to the last send that fits (`match_arrivals`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, cos, pi, sin
from typing import Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from roambus.bridge.backends.ideal.backend import given_graph
from roambus.bridge.backends.ideal.graph import reach_m
from roambus.bridge.host.positions import Receiver
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import LinkChange
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.schema import DETAIL, EVENT, NODE, TIME_S
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime
from roambus.python_protocol.trace_rows import MOVE, RECEIVE, SEND

DRAWN_SIDE_M = 100.0
"""The side of the field for nodes without places."""

_RADIUS_M = 0.45 * DRAWN_SIDE_M
"""Of the circle of all nodes."""


class Place(NamedTuple):
    """A straight move of `node` from its last place to (x, y) in metres, reached at `time_s`."""

    time_s: float
    node: NodeId
    x: float
    y: float


def moved_places(table: pa.Table) -> list[Place]:
    """Return the trace's move rows; raise UserError for an invalid place."""
    rows = table.filter(pc.equal(table[EVENT], MOVE)).select([TIME_S, NODE, DETAIL]).to_pylist()
    return [_place(row) for row in rows]


def _place(row: Mapping[str, Any]) -> Place:
    try:
        x, y = map(float, str(row[DETAIL]).split())
    except ValueError:
        raise UserError(f"the trace has node {row[NODE]} move to {row[DETAIL]!r}, which is not a place: x y") from None
    return Place(row[TIME_S], row[NODE], x, y)


def drawn_places(nodes: int, scenario: Scenario | None) -> list[Place]:
    """Return places for nodes without any: a given tree level by level, others on a circle, clockwise from the top."""
    changes = () if scenario is None else scenario.tree
    parents = {change.node: change.parent for change in changes if change.at == 0 and change.parent is not None}
    if parents:
        return _on_levels(nodes, parents)
    middle, angles = DRAWN_SIDE_M / 2, [2 * pi * node / nodes for node in range(nodes)]
    return [Place(0, node, middle + _RADIUS_M * sin(a), middle - _RADIUS_M * cos(a)) for node, a in enumerate(angles)]


def _on_levels(nodes: int, parents: Mapping[NodeId, NodeId]) -> list[Place]:
    """Return a tree's places, root on top, levels and leaves evenly spaced."""
    order = _depth_first(nodes, parents)
    depths: dict[NodeId, int] = {}
    for node in order:
        depths[node] = depths[parents[node]] + 1 if node in parents else 0
    leaves = [node for node in order if node not in parents.values()]
    # Leaves stand side by side, and everybody else in the middle above those below it, so that no lines cross.
    columns = {leaf: (number + 0.5) / len(leaves) for number, leaf in enumerate(leaves)}
    for node in reversed(order):
        below = [columns[child] for child in order if parents.get(child) == node]
        if below:
            columns[node] = sum(below) / len(below)
    height = max(depths.values()) + 1
    return [Place(0, n, columns[n] * DRAWN_SIDE_M, (depths[n] + 0.5) / height * DRAWN_SIDE_M) for n in range(nodes)]


def _depth_first(nodes: int, parents: Mapping[NodeId, NodeId]) -> list[NodeId]:
    """Every node after its parent, with subtrees together."""
    order: list[NodeId] = []
    waiting = [node for node in reversed(range(nodes)) if node not in parents]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += [child for child in reversed(range(nodes)) if parents.get(child) == node]
    return order


@dataclass(frozen=True, slots=True)
class DrawnLinks:
    """Links drawn by distance up to `reach_m[node]`, or by a graph's changes in time order.

    `partitions` has each node's group from a time on, for both.
    """

    kind: Literal["unknown", "distance", "graph"]
    reach_m: tuple[float, ...] = ()
    changes: tuple[LinkChange, ...] = ()
    partitions: tuple[tuple[SimTime, tuple[int, ...]], ...] = ()
    given: tuple[tuple[int, int, float], ...] = ()
    """Two nodes or cells, and the distance (m) of the mean path loss that is given between them."""
    cells: tuple[int, int] | None = None
    """The columns and rows of cells, if losses are given between these."""


def drawn_links(scenario: Scenario | None, *, over_radio: bool) -> DrawnLinks:
    """Return the scenario's links; over a radio only distance counts."""
    if scenario is None:
        return DrawnLinks("unknown")
    graph = None if over_radio else given_graph(scenario)
    partitions = () if over_radio else tuple(_partitions(scenario))
    if graph is not None:
        start = [LinkChange(0, a, b, up=True) for a, b in graph.links]
        changes = (*start, *sorted(graph.changes, key=lambda change: change.at))
        return DrawnLinks("graph", changes=changes, partitions=partitions)
    law = scenario.propagation
    if type(law) is not LogDistance:  # no distance says whether two places are linked
        return DrawnLinks("unknown")
    reaches = tuple(reach_m(scenario, node) for node in scenario.nodes)
    given, cells = _given_losses(scenario, law) if over_radio else ((), None)
    return DrawnLinks("distance", reaches, partitions=partitions, given=given, cells=cells)


def _given_losses(
    scenario: Scenario, law: LogDistance
) -> tuple[tuple[tuple[int, int, float], ...], tuple[int, int] | None]:
    """Return the given losses as distances, the greater of both directions, and the cells."""
    channel, losses = scenario.channel, scenario.losses
    if losses is None:
        return (), None
    worst: dict[tuple[int, int], float] = {}
    for a, b, loss_db in zip(losses.sources, losses.targets, losses.losses_db, strict=True):
        worst[a, b] = max(loss_db, worst.get((b, a), loss_db))
        worst[b, a] = worst[a, b]
    given = tuple((a, b, law.range_m(loss)) for (a, b), loss in worst.items())
    sides = zip(scenario.field_m, (channel.x_cell_m, channel.y_cell_m), strict=True)
    columns, rows = (ceil(field / cell) for field, cell in sides)
    return given, None if channel.only_static_nodes else (columns, rows)


BELIEF_ORIGIN_M = 1_000_000
"""Added to believed places, which errors can make negative."""
_MOST_FIXES = 2000


def believed_places(scenario: Scenario | None, moves: Sequence[Place]) -> Iterator[Place]:
    """Yield the fixes of receivers with errors, each second where they have no interval."""
    for node, settings in enumerate(scenario.nodes if scenario and moves else ()):
        way = [WayPoint(move.time_s, move.x, move.y) for move in moves if move.node == node]
        is_wrong = settings.position_offset_m or settings.position_noise_m or settings.fix_interval
        if scenario is None or not (is_wrong and settings.has_receiver and way):
            continue
        receiver = Receiver(node, settings, way, scenario.seed)
        every = max(settings.fix_interval or SECOND, scenario.time_limit // _MOST_FIXES)
        for at in range(0, scenario.time_limit, every):
            place, _ = receiver.fix(at)
            if place is not None:
                yield Place(at / SECOND, node, place[0] + BELIEF_ORIGIN_M, place[1] + BELIEF_ORIGIN_M)


def _partitions(scenario: Scenario) -> Iterator[tuple[SimTime, tuple[int, ...]]]:
    """Return the partitions over time; at one instant the last one counts."""
    if scenario.tree:
        return
    ordered = sorted(scenario.ideal.partitions, key=lambda partition: partition.at)
    for at, together in groupby(ordered, key=lambda partition: partition.at):
        group_of: dict[NodeId, int] = {}
        for number, group in enumerate(list(together)[-1].groups, start=1):
            group_of |= dict.fromkeys(group, number)
        yield at, tuple(group_of.get(node, 0) for node in range(len(scenario.nodes)))


ANYBODY = 0
"""The peer of a broadcast; nodes are numbered from 1."""


def match_arrivals(rows: Iterable[tuple[str, NodeId, NodeId, int]]) -> list[int]:
    """Return how many rows before each receive its send is; 0 if unknown, and for other rows.

    `rows` have event, node, peer and content, in time order. A receive belongs to the last send of its content from
    that neighbour to this node, or to ANYBODY.
    """
    last: dict[tuple[NodeId, NodeId, int], int] = {}
    distances = []
    for row, (event, node, peer, content) in enumerate(rows):
        send = row
        if event == SEND:
            last[node, peer, content] = row
        elif event == RECEIVE:
            send = max(last.get((peer, node, content), -1), last.get((peer, ANYBODY, content), -1))
        distances.append(row - send if send >= 0 else 0)
    return distances
