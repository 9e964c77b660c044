"""Plane geometry: planar graphs, angles and crossings (Karp and Kung 2000, sections 2.2 and 2.3)."""

from __future__ import annotations

from math import dist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.routing.planar import counterclockwise, crossing, planarize

Places = dict[int, tuple[float, float]]
coordinates = st.integers(-50, 50).map(float)
neighborhoods = st.dictionaries(st.integers(1, 12), st.tuples(coordinates, coordinates), min_size=1)


@given(neighborhoods)
def test_the_relative_neighbourhood_graph_is_in_the_gabriel_graph(near: Places) -> None:
    """And the nearest neighbour is in both."""
    few, more = planarize((0.0, 0.0), near, "rng"), planarize((0.0, 0.0), near, "gg")
    assert few.keys() <= more.keys() <= near.keys()
    nearest = min(dist((0, 0), place) for place in near.values())
    assert any(dist((0, 0), place) == nearest for place in few.values())


def test_a_witness_removes_an_edge() -> None:
    """In the circle over the edge it does so in both graphs; in the lune alone, in one."""
    assert set(planarize((0, 0), {1: (10, 0), 2: (5, 1)}, "gg")) == {2}
    assert set(planarize((0, 0), {1: (10, 0), 2: (5, 7)}, "rng")) == {2}
    assert set(planarize((0, 0), {1: (10, 0), 2: (5, 7)}, "gg")) == {1, 2}


def test_the_right_hand_rule_turns_counterclockwise_and_back_at_last() -> None:
    """From the direction of the edge that a packet came over."""
    near = {1: (10.0, 0.0), 2: (0.0, 10.0), 3: (-10.0, 0.0)}
    assert [counterclockwise((0, 0), near[name], near) for name in near] == [2, 3, 1]
    assert counterclockwise((0, 0), (10, 0), {1: (10.0, 0.0)}) == 1
    assert counterclockwise((0, 0), (10, 0), {}) is None


def test_two_lines_cross_in_a_point_or_not() -> None:
    """Parallel ones and those that end before do not."""
    assert crossing((0, 0), (10, 10), (0, 10), (10, 0)) == (5, 5)
    assert crossing((0, 0), (10, 0), (0, 1), (10, 1)) is None
    assert crossing((0, 0), (4, 4), (0, 10), (10, 0)) is None


@pytest.mark.parametrize("rule", ["rng", "gg"])
def test_a_witness_on_the_border_removes_no_edge(rule: str) -> None:
    """Both rules ask for a place strictly inside: in a square each side stays, and in the lune of two nodes its tip."""
    assert set(planarize((0, 0), {1: (10, 0), 2: (5, 5)}, "gg")) == {1, 2}
    assert set(planarize((0, 0), {1: (8, 0), 2: (0, 8)}, rule)) == {1, 2}
    assert set(planarize((1, 0), {1: (7, 0), 2: (4, 3)}, "gg")) == {1, 2}
    assert set(planarize((0, 0), {1: (5, 0), 2: (3, 4)}, "rng")) == {1, 2}
    assert set(planarize((0, 0), {1: (5, 0), 2: (2, 4)}, "rng")) == {1, 2}
    assert set(planarize((0, 0), {1: (5, 0), 2: (2.4, 4)}, "rng")) == {2}


def test_graphs_do_not_depend_on_where_the_origin_is() -> None:
    """Every place is moved alike."""
    near = {1: (10.0, 1.0), 2: (5.0, 2.0), 3: (-4.0, 9.0), 4: (-3.0, 4.0)}
    for rule in ("rng", "gg"):
        kept = set(planarize((0.0, 0.0), near, rule))
        moved = {name: (x + 100, y - 30) for name, (x, y) in near.items()}
        assert set(planarize((100.0, -30.0), moved, rule)) == kept == {2, 4}
    turned = {name: (x + 100, y - 30) for name, (x, y) in near.items()}
    order = [counterclockwise((100.0, -30.0), turned[name], turned) for name in turned]
    assert order == [counterclockwise((0.0, 0.0), near[name], near) for name in near] == [2, 3, 4, 1]


def test_of_two_neighbours_in_one_direction_the_first_name_is_next() -> None:
    """So that every run goes the same way."""
    assert counterclockwise((0, 0), (0, -1), {2: (20.0, 0.0), 1: (10.0, 0.0)}) == 1


@given(st.tuples(coordinates, coordinates), st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(1, 9))
def test_two_lines_through_a_place_cross_there(
    middle: tuple[float, float], before: int, after: int, under: int, over: int
) -> None:
    """Wherever it is, and however far each of the four ends; a line that ends before has no crossing."""

    def along(u: tuple[float, float], times: float) -> tuple[float, float]:
        return middle[0] + times * u[0], middle[1] + times * u[1]

    u, v = (2.0, 1.0), (-1.0, 3.0)
    crossed = crossing(along(u, -before), along(u, after), along(v, -under), along(v, over))
    assert crossed is not None
    assert dist(crossed, middle) < 1e-9
    assert crossing(along(u, before), along(u, before + after), along(v, -under), along(v, over)) is None
    assert crossing(along(u, -before), along(u, after), along(v, under), along(v, under + over)) is None


def test_lines_cross_where_they_do_wherever_they_are() -> None:
    """Ends belong to a line; beyond them there is nothing, on either side of either line."""
    assert crossing((1, 2), (5, 10), (0, 6), (8, 6)) == (3, 6)
    assert crossing((5, 10), (1, 2), (8, 6), (0, 6)) == (3, 6)
    assert crossing((0, 0), (4, 0), (0, -1), (0, 3)) == (0, 0)
    assert crossing((0, 0), (4, 0), (4, -1), (4, 3)) == (4, 0)
    assert crossing((0, 0), (4, 0), (2, 0), (2, 3)) == (2, 0)
    assert crossing((0, 0), (4, 0), (2, -3), (2, 0)) == (2, 0)
    assert crossing((1, 0), (4, 0), (0.5, -1), (0.5, 3)) is None
    assert crossing((1, 0), (4, 0), (4.5, -1), (4.5, 3)) is None
    assert crossing((0, 0), (4, 0), (2, 0.5), (2, 3)) is None
    assert crossing((0, 0), (4, 0), (2, -3), (2, -0.5)) is None
