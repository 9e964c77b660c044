"""Labels: their order, and their places on the circle (the skip ring's paper, sections 2.1 and 3.2.2)."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.skip_ring.corrupted import skip_ring
from roambus.extensions.skip_ring.labels import (
    CIRCLE,
    is_label,
    label_at,
    label_of,
    number_of,
    position,
    shortcut_labels,
)

numbers = st.integers(0, 2**20)


def test_the_first_labels_are_given_in_the_order_of_the_paper() -> None:
    """Section 2.1."""
    first = ["0", "1", "01", "11", "001", "011", "101", "111", "0001"]
    assert [label_of(number) for number in range(9)] == first


@given(numbers)
def test_a_label_tells_its_number_and_its_place_tells_the_label(number: int) -> None:
    """Both l and r are invertible, r on the labels that there are."""
    label = label_of(number)
    assert is_label(label)
    assert number_of(label) == number
    assert label_at(position(label)) == label


def test_a_position_is_the_value_of_the_bits() -> None:
    """r(b1 ... bd) = sum of bi / 2^i."""
    assert [Fraction(position(label), CIRCLE) for label in ("0", "1", "01", "011")] == [
        0,
        Fraction(1, 2),
        Fraction(1, 4),
        Fraction(3, 8),
    ]


def test_bits_that_no_subscriber_can_have_are_no_label() -> None:
    """A label ends in 1, but for 0, and has at most 32 bits."""
    assert not any(map(is_label, ("", "10", "00", "2", "1" * 33)))


def test_the_shortcuts_of_the_example_are_computed_from_the_neighbours() -> None:
    """Section 3.2.2: of the subscriber at 1/2, whose neighbours are at 7/16 and 9/16."""
    assert shortcut_labels("1", "1001") == ("101", "11", "0")
    assert shortcut_labels("1", "0111") == ("011", "01", "0")


@given(st.integers(4, 200))
def test_labels_computed_from_the_neighbours_are_those_of_the_definition(nodes: int) -> None:
    """For any number of subscribers, of every one."""
    for label, place in skip_ring(nodes).items():
        neighbours = (place.left or place.ring, place.right or place.ring)
        computed = {shortcut for neighbour in neighbours for shortcut in shortcut_labels(label, neighbour or "")}
        assert computed == place.shortcuts


@given(numbers, numbers)
def test_any_two_labels_have_finitely_many_shorter_and_shorter_shortcuts(own: int, other: int) -> None:
    """In corrupted states too."""
    lengths = [len(label) for label in (label_of(other), *shortcut_labels(label_of(own), label_of(other)))]
    assert lengths == sorted(set(lengths), reverse=True)
