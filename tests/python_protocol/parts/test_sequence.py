"""Sequence numbers compare rightly across the rollover (RFC 3561, section 6.1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.parts.link import following, is_newer, newest

widths = st.sampled_from([16, 32])


@st.composite
def numbers(draw: st.DrawFn) -> tuple[int, int]:
    """A width and a number of that width."""
    bits = draw(widths)
    return bits, draw(st.integers(0, 2**bits - 1))


@given(numbers(), st.data())
def test_a_number_is_newer_than_the_half_circle_before_it(number: tuple[int, int], data: st.DataObject) -> None:
    """Going on by less than half of all numbers gives a newer one, wherever the rollover lies."""
    bits, old = number
    new = (old + data.draw(st.integers(1, 2 ** (bits - 1) - 1))) % 2**bits
    assert is_newer(new, old, bits)
    assert not is_newer(old, new, bits)
    assert newest(old, new, bits) == newest(new, old, bits) == new


@given(numbers())
def test_no_number_is_newer_than_itself_or_its_opposite(number: tuple[int, int]) -> None:
    """Equal numbers, and numbers exactly half-way round, have no newer one; then the first counts."""
    bits, number_ = number
    opposite = (number_ + 2 ** (bits - 1)) % 2**bits
    for other in (number_, opposite):
        assert not is_newer(number_, other, bits)
        assert not is_newer(other, number_, bits)
        assert newest(number_, other, bits) == number_


@given(numbers())
def test_the_following_number_is_newer(number: tuple[int, int]) -> None:
    """Counting up always gives a newer number that fits the width."""
    bits, number_ = number
    assert is_newer(following(number_, bits), number_, bits)
    assert 0 <= following(number_, bits) < 2**bits


@pytest.mark.parametrize("bits", [16, 32])
def test_after_the_largest_number_comes_zero(bits: int) -> None:
    """Section 6.1: the largest number is followed by 0, and 0 is the newer one."""
    assert following(2**bits - 1, bits) == 0
    assert is_newer(0, 2**bits - 1, bits)
