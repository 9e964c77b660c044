"""All graphs and trees of a size: their numbers are known (OEIS A001349 and A000081)."""

import pytest

from roambus.extensions.exploring.networks import connected_graphs, rooted_trees


@pytest.mark.parametrize(("size", "count"), [(2, 1), (3, 2), (4, 6), (5, 21)])
def test_there_are_so_many_connected_graphs(size: int, count: int) -> None:
    """OEIS A001349."""
    assert len(connected_graphs(size, alike=True)) == count


@pytest.mark.parametrize(("size", "count"), [(2, 1), (3, 2), (4, 4), (5, 9), (6, 20)])
def test_there_are_so_many_rooted_trees(size: int, count: int) -> None:
    """OEIS A000081."""
    assert len(rooted_trees(size, alike=True)) == count


@pytest.mark.parametrize(("size", "count"), [(2, 1), (3, 4), (4, 38), (5, 728)])
def test_without_nodes_alike_every_numbering_of_a_graph_is_one(size: int, count: int) -> None:
    """OEIS A001187, labelled connected graphs."""
    assert len(connected_graphs(size, alike=False)) == count


@pytest.mark.parametrize(("size", "count"), [(2, 2), (3, 9), (4, 64), (5, 625)])
def test_without_nodes_alike_every_numbering_of_a_tree_is_one(size: int, count: int) -> None:
    """Cayley: n to the power of n - 1 labelled rooted trees."""
    assert len(rooted_trees(size, alike=False)) == count
