"""The skip ring as it is defined: figure 1, and the lemma on degrees (its paper, section 2.1)."""

from __future__ import annotations

from math import ceil, log2

import pytest

from roambus.extensions.skip_ring.corrupted import Place, skip_ring


def test_figure_1() -> None:
    """Of 16 nodes: 0 has ring edges to 1/16 and 15/16, and shortcuts on three levels; 1/16 has ring edges alone."""
    places = skip_ring(16)
    first, second = places["0"], places["0001"]
    assert (first.left, first.right, first.ring) == (None, "0001", "1111")
    assert first.shortcuts == {"001", "111", "01", "11", "1"}
    assert (second.left, second.right, second.ring, second.shortcuts) == ("0", "001", None, frozenset())


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_the_smallest_rings_have_no_shortcuts(nodes: int) -> None:
    """All are ring neighbours."""
    assert not any(place.shortcuts for place in skip_ring(nodes).values())


@pytest.mark.parametrize("nodes", [4, 16, 37, 64, 100, 256])
def test_degrees_are_logarithmic_at_worst_and_constant_on_average(nodes: int) -> None:
    """Lemma of section 2.1: edges go both ways, so at most 2 ceil(log n), and at most 4 on average."""
    degrees = [2 + len(place.shortcuts) for place in skip_ring(nodes).values()]
    assert max(degrees) <= 2 * ceil(log2(nodes))
    assert sum(degrees) / nodes <= 4


@pytest.mark.parametrize("nodes", [2, 4, 8, 16, 32, 64])
def test_two_consecutive_joins_of_a_doubling_concern_an_old_subscriber(nodes: int) -> None:
    """Section 4.1, with one exception: the first and the last join concern the subscriber with label 0."""
    before, concerned = skip_ring(nodes), {label: list[int]() for label in skip_ring(nodes)}
    for joins in range(1, nodes + 1):
        after = skip_ring(nodes + joins)
        for label, by in concerned.items():
            if _direct(after[label]) != _direct(before[label]):
                by.append(joins)
        before = after
    assert concerned.pop("0") == [1, nodes]
    assert all(second == first + 1 for first, second in concerned.values())


def _direct(place: Place) -> tuple[str | None, str | None]:
    """The predecessor and the successor, which are what a configuration tells beside the label."""
    return place.left or place.ring, place.right or place.ring
