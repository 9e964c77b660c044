"""Tells where nodes are drawn: where the trace says they move, or on a figure that shows who belongs to whom.

Tells which links the page draws: by distance, or those of a given graph. No trace says which frames could arrive.

Tells which send a receive belongs to.

Reads the edges of an overlay network as nodes note them, and the circle on which its nodes are drawn.

An `overlay` row tells in the agent's words what a node knows. Those of the skip ring are read (`Member.note_changes`):
a number, label, left, right and ring neighbour, shortcuts as LABEL:NODE with commas between them, and topic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from math import cos, pi, sin
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from roambus.bridge.backends.ideal.backend import GivenGraph, given_graph
from roambus.bridge.backends.ideal.graph import reach_m
from roambus.bridge.errors import UserError
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import LinkChange, ParentChange
from roambus.bridge.trace.schema import DETAIL, EVENT, NODE, TIME_S
from roambus.python_protocol.actions import CRASH, MOVE, OVERLAY
from roambus.python_protocol.messages.fields import NOBODY
from roambus.python_protocol.papers.skip_ring.labels import Label, is_label, position
from roambus.python_protocol.vocabulary import NodeId, SimTime

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


class LinkKind(Enum):
    """How to tell who is linked."""

    UNKNOWN = "unknown"
    DISTANCE = "distance"
    GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class DrawnLinks:
    """How links are drawn: by distance up to `reach_m[node]`, or by the changes of a graph in the order of time.

    Partitions hold for both: `partitions` has the group of each node from a time on.
    """

    kind: LinkKind
    reach_m: tuple[float, ...] = ()
    changes: tuple[LinkChange, ...] = ()
    partitions: tuple[tuple[SimTime, tuple[int, ...]], ...] = ()


def drawn_links(scenario: Scenario | None, *, over_radio: bool) -> DrawnLinks:
    """The links that the scenario says; over a radio only distance counts."""
    if scenario is None:
        return DrawnLinks(LinkKind.UNKNOWN)
    graph = None if over_radio else given_graph(scenario)
    partitions = () if over_radio else tuple(_partitions(scenario))
    if graph is not None:
        return DrawnLinks(LinkKind.GRAPH, changes=tuple(_changes(graph)), partitions=partitions)
    reaches = tuple(reach_m(scenario, node) for node in scenario.nodes)
    return DrawnLinks(LinkKind.DISTANCE, reaches, partitions=partitions)


def _changes(graph: GivenGraph) -> list[LinkChange]:
    """The changes of the graph, those of the start included."""
    start = [LinkChange(0, a, b, up=True) for a, b in graph.links]
    return [*start, *sorted(graph.changes, key=lambda change: change.at)]


def _partitions(scenario: Scenario) -> Iterator[tuple[SimTime, tuple[int, ...]]]:
    """The partitions over time; of those that come at one instant, the last one counts."""
    if scenario.tree:
        return
    ordered = sorted(scenario.ideal.partitions, key=lambda one: one.at)
    for at, together in groupby(ordered, key=lambda one: one.at):
        group_of: dict[NodeId, int] = {}
        for number, group in enumerate(list(together)[-1].groups, start=1):
            group_of |= dict.fromkeys(group, number)
        yield at, tuple(group_of.get(node, 0) for node in range(len(scenario.nodes)))


ANYBODY = -1
"""The peer of a broadcast."""


def match_arrivals(rows: pd.DataFrame) -> NDArray[np.int64]:
    """For each row the index of the send that arrived there; -1 for a row that is no receive, or whose send is unknown.

    The columns are `is_send`, `is_receive`, `node`, `peer` (ANYBODY for a broadcast) and `content`, which is equal for
    equal messages; rows are in the order of time. A receive belongs to the last send of that content from that
    neighbour to this node, or to all: a trace does not tell which copy of a message arrived that was sent again before.
    """
    rows = rows.assign(row=np.arange(len(rows)))
    sends = rows[rows["is_send"]]
    receives = rows[rows["is_receive"]]
    directly = _last_before(receives, sends[sends["peer"] != ANYBODY], to_all=False)
    broadcast = _last_before(receives, sends[sends["peer"] == ANYBODY], to_all=True)
    matched = np.full(len(rows), -1, np.int64)
    matched[receives["row"]] = np.maximum(directly, broadcast)
    return matched


def _last_before(receives: pd.DataFrame, sends: pd.DataFrame, *, to_all: bool) -> NDArray[np.int64]:
    """The index of the last fitting send for each receive, or -1."""
    left = pd.DataFrame({"row": receives["row"], "sender": receives["peer"], "content": receives["content"]})
    right = pd.DataFrame({"row": sends["row"], "sender": sends["node"], "content": sends["content"]})
    keys = ["sender", "content"]
    if not to_all:
        left["receiver"], right["receiver"] = receives["node"], sends["peer"]
        keys.append("receiver")
    right["sent"] = right["row"]
    found = pd.merge_asof(left, right, on="row", by=keys)
    return found["sent"].fillna(-1).to_numpy(np.int64)


_EVENTS = (OVERLAY, CRASH)
_PARTS = 7


class Edge(NamedTuple):
    """A node knows `other`, as a neighbour on the ring or by a shortcut."""

    node: NodeId
    other: NodeId
    is_shortcut: bool


class EdgeChange(NamedTuple):
    """An edge comes or goes."""

    time_s: float
    edge: Edge
    up: bool


class DrawnOverlay(NamedTuple):
    """The changes in the order of time; `circle` has the nodes with a label in the end, in the order of the labels."""

    changes: tuple[EdgeChange, ...] = ()
    circle: tuple[NodeId, ...] = ()


class _Note(NamedTuple):
    label: Label
    edges: frozenset[Edge]
    topic: str


def drawn_overlay(table: pa.Table, nodes: int) -> DrawnOverlay:
    """What the rows say; a row in other words, or with a node that is not of the run, says nothing."""
    rows = table.filter(pc.is_in(table[EVENT], pa.array(_EVENTS))).select([TIME_S, NODE, EVENT, DETAIL]).to_pylist()
    known: dict[NodeId, _Known] = defaultdict(_Known)
    changes = [change for row in rows for change in known[row[NODE]].follow(row, nodes)]
    labels = {node: one.label for node, one in known.items() if one.label}
    circle = sorted(labels, key=lambda node: (position(labels[node]), node))
    return DrawnOverlay(tuple(changes), tuple(circle))


class _Known:
    """What a node knows, as of the last row."""

    def __init__(self) -> None:
        self._notes: dict[str, _Note] = {}

    @property
    def label(self) -> Label:
        """The label in the first of the topics in whose rings it is; empty if it has none."""
        return next((note.label for note in self._notes.values() if note.label), "")

    def follow(self, row: Mapping[str, Any], nodes: int) -> Iterator[EdgeChange]:
        """Takes in a row; gives the edges that come and go."""
        before = self._edges()
        self._apply(row[EVENT], row[DETAIL] or "", row[NODE], nodes)
        after = self._edges()
        for edges, up in ((before - after, False), (after - before, True)):
            yield from (EdgeChange(row[TIME_S], edge, up) for edge in sorted(edges))

    def _apply(self, event: str, detail: str, node: NodeId, nodes: int) -> None:
        """Takes in a row; a crash takes everything that the node knew."""
        if event == OVERLAY:
            self._notes |= {note.topic: note for note in _read(node, detail, nodes)}
        elif event == CRASH:
            self._notes.clear()

    def _edges(self) -> frozenset[Edge]:
        return frozenset().union(*(note.edges for note in self._notes.values()))


def _read(node: NodeId, detail: str, nodes: int) -> Iterator[_Note]:
    parts = detail.split(" ", _PARTS - 1)
    if len(parts) < _PARTS:
        return
    _, label, *ring, shortcuts, topic = parts
    pairs = [] if shortcuts == NOBODY else [pair.partition(":") for pair in shortcuts.split(",")]
    try:
        edges = [
            *_edges_to(node, ring, is_shortcut=False),
            *_edges_to(node, (end for _, _, end in pairs), is_shortcut=True),
        ]
    except ValueError:
        return
    if all(0 <= edge.other < nodes for edge in edges):
        yield _Note(label if is_label(label) else "", frozenset(edges), topic)


def _edges_to(node: NodeId, others: Iterable[str], *, is_shortcut: bool) -> list[Edge]:
    """The edges to these nodes; raises ValueError for a word that is no node."""
    return [Edge(node, int(other), is_shortcut) for other in others if other not in {NOBODY, str(node)}]
