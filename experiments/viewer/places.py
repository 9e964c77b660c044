"""Tells where nodes are drawn: where the trace says they move, or on a figure that shows who belongs to whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, pi, sin
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from roambus.bridge.errors import UserError
from roambus.bridge.scenario.happenings import ParentChange
from roambus.bridge.scenario.scenario import Scenario
from roambus.bridge.trace.schema import DETAIL, EVENT, MOVE, NODE, TIME_S
from roambus.python_protocol.roles import NodeId

DRAWN_SIDE_M = 100.0
"""The side of the field on which nodes without places are drawn."""

_RADIUS_M, _SMALL_RADIUS_M = 0.45 * DRAWN_SIDE_M, 0.15 * DRAWN_SIDE_M


class Place(NamedTuple):
    """From its place before, `node` goes straight to (x, y), metres, where it is at `time_s`."""

    time_s: float
    node: NodeId
    x: float
    y: float


def moved_places(table: pa.Table) -> list[Place]:
    """The trace's move rows; raises UserError for one that holds no place."""
    rows = table.filter(pc.equal(table[EVENT], MOVE)).select([TIME_S, NODE, DETAIL]).to_pylist()
    return [_place(row) for row in rows]


def _place(row: Mapping[str, Any]) -> Place:
    try:
        x, y = map(float, str(row[DETAIL]).split())
    except ValueError:
        raise UserError(f"the trace has node {row[NODE]} move to {row[DETAIL]!r}, which is no place: x y") from None
    return Place(row[TIME_S], row[NODE], x, y)


def drawn_places(nodes: int, scenario: Scenario | None, circle: Sequence[NodeId] = ()) -> list[Place]:
    """Places for nodes that have none: a given tree level by level as it is at the start, all others on a circle.

    If only some are to be on the circle, in this order, the others are on a small one within.
    """
    parents = _first_parents(scenario.tree) if scenario is not None else {}
    if parents:
        return _on_levels(nodes, parents)
    others = [node for node in range(nodes) if node not in circle]
    if not circle:
        return _on_circle(others, _RADIUS_M)
    return sorted([*_on_circle(circle, _RADIUS_M), *_on_circle(others, _SMALL_RADIUS_M)], key=lambda place: place.node)


def _on_circle(nodes: Sequence[NodeId], radius: float) -> list[Place]:
    """Places from the top on, clockwise; a single node in a small circle is its middle."""
    middle = DRAWN_SIDE_M / 2
    around = radius if len(nodes) > 1 or radius == _RADIUS_M else 0
    angles = [2 * pi * number / len(nodes) for number in range(len(nodes))]
    pairs = zip(nodes, angles, strict=True)
    return [Place(0, node, middle + around * sin(a), middle - around * cos(a)) for node, a in pairs]


def _first_parents(tree: Sequence[ParentChange]) -> dict[NodeId, NodeId]:
    return {change.node: change.parent for change in tree if change.at == 0 and change.parent is not None}


def _on_levels(nodes: int, parents: Mapping[NodeId, NodeId]) -> list[Place]:
    order = _depth_first(nodes, parents)
    depths: dict[NodeId, int] = {}
    for node in order:
        depths[node] = depths[parents[node]] + 1 if node in parents else 0
    leaves = [node for node in order if node not in parents.values()]
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
