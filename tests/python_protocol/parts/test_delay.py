"""An estimate follows what it measures, and bounds it."""

from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.parts.link import DelayEstimate


def test_bound_is_mean_and_four_deviations() -> None:
    """After a first delay of R, as RFC 6298 (2.2) starts, the bound is three times R."""
    assert DelayEstimate(100, 50).bound() == 300


@given(st.integers(1, 10**9), st.integers(0, 10**9))
def test_settles_on_a_steady_delay(delay: int, first: int) -> None:
    """A delay that does not vary is soon bounded by little more than itself."""
    estimate = DelayEstimate(first, first / 2)
    for _ in range(200):
        estimate.sample(delay)
    assert abs(estimate.bound() - delay) < 1e-6 * max(delay, first)


def test_grows_with_variation() -> None:
    """The same mean, less steady, has a higher bound."""
    steady, varied = DelayEstimate(100, 10), DelayEstimate(100, 10)
    for count in range(100):
        steady.sample(100)
        varied.sample(50 if count % 2 else 150)
    assert varied.bound() > steady.bound() + 100
