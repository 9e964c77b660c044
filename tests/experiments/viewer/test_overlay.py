"""The edges of the overlay as a film has them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from roambus.bridge.trace.schema import TRACE_SCHEMA
from roambus.experiments.viewer.scene import DRAWN_SIDE_M, DrawnOverlay, Edge, EdgeChange, drawn_overlay, drawn_places
from roambus.experiments.viewer.witness import find_source, read_rows
from roambus.python_protocol.papers.skip_ring.corrupted import skip_ring
from tests.support.films import Row, row, run


def overlay_of(*rows: Row) -> DrawnOverlay:
    return drawn_overlay(pa.Table.from_pylist(list(rows), TRACE_SCHEMA), 4)


def note(time_s: float, node: int, detail: str) -> Row:
    return row(time_s, node, "overlay", detail=detail)


def edges_at_end(drawn: DrawnOverlay) -> set[tuple[int, int, bool]]:
    up: set[tuple[int, int, bool]] = set()
    for change in drawn.changes:
        (up.add if change.up else up.remove)((change.edge.node, change.edge.other, change.edge.is_shortcut))
    return up


def test_edges_come_and_go_with_the_notes() -> None:
    """Neighbours on the ring and shortcuts, each once; who is nobody, or the node itself, is no edge."""
    first, second = note(1, 0, "1 01 2 3 - 0:1,1:- news"), note(2, 0, "2 01 2 0 3 0:3 news")
    ring, shortcut = Edge(0, 2, is_shortcut=False), Edge(0, 1, is_shortcut=True)
    assert overlay_of(first, second).changes == (
        EdgeChange(1, shortcut, up=True),
        EdgeChange(1, ring, up=True),
        EdgeChange(1, Edge(0, 3, is_shortcut=False), up=True),
        EdgeChange(2, shortcut, up=False),
        EdgeChange(2, Edge(0, 3, is_shortcut=True), up=True),
    )


def test_rings_of_several_topics_are_drawn_together() -> None:
    """An edge stays as long as one of them has it."""
    rows = [note(1, 0, "1 0 - 1 - - news"), note(1, 0, "1 0 - 1 - - old news"), note(2, 0, "2 0 - 2 - - news")]
    assert edges_at_end(overlay_of(*rows)) == {(0, 1, False), (0, 2, False)}
    assert edges_at_end(overlay_of(*rows, note(3, 0, "2 0 - - - - old news"))) == {(0, 2, False)}


@pytest.mark.parametrize(
    "detail", ["", "at the top", "1 0 4 - - - t", "1 0 -1 - - - t", "1 0 x - - - t", "1 0 - - - 1 t"]
)
def test_other_words_say_nothing(detail: str) -> None:
    """Those of another protocol, or of no run."""
    assert overlay_of(note(1, 0, detail)) == DrawnOverlay()


def test_who_crashes_or_leaves_has_no_edges() -> None:
    """Who leaves notes that it has none left; a subscription brings it back."""
    joined = [note(1, 0, "1 0 - 1 - - t")]
    left = [*joined, note(2, 0, "2 - - - - - t")]
    assert edges_at_end(overlay_of(*joined)) == {(0, 1, False)}
    assert edges_at_end(overlay_of(*joined, row(2, 0, "crash"))) == set()
    assert edges_at_end(overlay_of(*left)) == set()
    assert overlay_of(*left).circle == ()
    again = [note(3, 0, "1 0 - 3 - - t")]
    assert edges_at_end(overlay_of(*left, *again)) == {(0, 3, False)}


def test_nodes_stand_in_the_order_of_their_labels() -> None:
    """On the circle from the top on; who has no label in the end stands within."""
    rows = [note(1, node, f"1 {label} - - - - t") for node, label in enumerate(("1", "0", "001"))]
    assert overlay_of(*rows).circle == (1, 2, 0)
    places = drawn_places(4, None, overlay_of(*rows).circle)
    assert [place.node for place in places] == [0, 1, 2, 3]
    assert (places[1].x, places[1].y) == pytest.approx((0.5 * DRAWN_SIDE_M, 0.05 * DRAWN_SIDE_M))
    assert (places[3].x, places[3].y) == (0.5 * DRAWN_SIDE_M, 0.5 * DRAWN_SIDE_M)


def test_a_ring_that_has_settled_is_the_ring_of_the_definition(tmp_path: Path) -> None:
    """Edge by edge, from the trace of a run."""
    folder = run(tmp_path, "skip-ring", "--agent", "skip-ring", "--set", "subscribers=6", "--set", "operations=0")
    drawn = drawn_overlay(read_rows(find_source(folder).trace), 7)
    defined = skip_ring(6)
    node_of = dict(zip(sorted(defined, key=lambda label: int(label, 2) / 2 ** len(label)), drawn.circle, strict=True))
    wanted = {
        (node_of[label], node_of[other], is_shortcut)
        for label, place in defined.items()
        for others, is_shortcut in (((place.left, place.right, place.ring), False), (place.shortcuts, True))
        for other in others
        if other is not None
    }
    assert edges_at_end(drawn) == wanted
