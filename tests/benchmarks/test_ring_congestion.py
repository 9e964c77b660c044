"""The congestion of overlay graphs: small graphs whose paths one can count, and the graphs themselves."""

from __future__ import annotations

from random import Random

import pytest
from click.testing import CliRunner

from benchmarks.ring_congestion import (
    KINDS,
    congestion,
    greatest_gap,
    main,
    make_chord,
    make_skip_graph,
    make_skip_ring,
)


def test_all_paths_of_a_star_pass_its_centre() -> None:
    """Of 20 ordered pairs 12 have no end there."""
    assert congestion({0: {1, 2, 3, 4}, **{node: {0} for node in range(1, 5)}}) == pytest.approx(12 / 20)


def test_several_shortest_paths_share_evenly() -> None:
    """In a square each corner passes half of the paths of two of 12 pairs."""
    assert congestion({node: {(node - 1) % 4, (node + 1) % 4} for node in range(4)}) == pytest.approx(1 / 12)


def test_the_greatest_gap_is_over_the_mean() -> None:
    """Round the circle, too."""
    assert greatest_gap([0.0, 0.25, 0.5, 0.75]) == pytest.approx(1)
    assert greatest_gap([0.4, 0.5]) == pytest.approx(1.8)


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_edges_go_both_ways_and_reach_everybody(make: object) -> None:
    """And nobody is its own neighbour."""
    assert callable(make)
    graph, places = make(37, Random(1))
    assert len(graph) == len(places) == 37
    assert all(node in graph[other] and node != other for node, others in graph.items() for other in others)
    found, size = {0}, 0
    while len(found) > size:
        size = len(found)
        found |= {other for node in found for other in graph[node]}
    assert len(found) == 37


def test_a_skip_ring_has_no_gap_above_twice_the_mean_and_few_edges() -> None:
    """Chord and skip graphs have about the logarithm of their size."""
    ring, places = make_skip_ring(64, Random(1))
    assert greatest_gap(places) <= 2
    for make in (make_chord, make_skip_graph):
        graph, _ = make(64, Random(1))
        assert sum(map(len, graph.values())) > 1.3 * sum(map(len, ring.values()))


def test_the_table_has_a_line_for_each_graph() -> None:
    """Of each size."""
    lines = CliRunner().invoke(main, ["--sizes", "4,8", "--seeds", "2"]).output.splitlines()
    assert [line[:16].split() for line in lines[1:]] == [
        [size, *name.split()] for size in ("4", "8") for name in ("skip ring", "Chord", "skip graph")
    ]
