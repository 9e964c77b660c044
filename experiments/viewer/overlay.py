"""Reads the edges of an overlay network as nodes note them, and the circle on which its nodes are drawn.

An `overlay` row tells in the agent's words what a node knows. Those of the skip ring are read (`Member.note_changes`):
a number, label, left, right and ring neighbour, shortcuts as LABEL:NODE with commas between them, and topic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from roambus.bridge.trace.schema import CRASH, DETAIL, EVENT, NODE, OVERLAY, TIME_S
from roambus.python_protocol.messages.names import NOBODY
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.skip_ring.labels import Label, is_label, position

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
