"""Jitter draws how long a send waits."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.agent import Jitter
from roambus.python_protocol.simtime import MILLISECOND


@given(st.integers(0, 1000), st.integers(0, 100 * MILLISECOND))
def test_the_delay_lies_between_zero_and_the_longest(seed: int, longest: int) -> None:
    """RFC 5148: the delay is drawn from 0 to the maximum."""
    assert 0 <= Jitter(longest, Random(seed)).delay() <= longest


def test_both_ends_are_drawn() -> None:
    """0 and the maximum are among the delays."""
    jitter = Jitter(3, Random(1))
    assert {jitter.delay() for _ in range(100)} == {0, 1, 2, 3}
