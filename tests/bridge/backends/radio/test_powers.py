"""Arithmetic of powers: stepped addition, bit errors, shares of the averaging time."""

import math
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.backends.radio import powers, receiver
from roambus.bridge.backends.radio.reception import bit_errors
from roambus.bridge.backends.radio.reception.bit_errors import HIGHEST_DB, LOWEST_DB, bit_error_rate
from roambus.bridge.scenario.radio import MODULATIONS

njit: Any = numba.njit  # its type takes annotated functions for their results


@njit  # type: ignore[untyped-decorator]  # see above
def add_dbm(a: float, b: float) -> float:
    """The compiled addition, for Python."""
    return powers.add_dbm(a, b)


@njit  # type: ignore[untyped-decorator]  # see above
def loss_per_bit(snr_db: float, modulation: int) -> float:
    """The compiled look-up, for Python."""
    return bit_errors.loss_per_bit(snr_db, modulation)


POWERS = st.floats(min_value=-200, max_value=20)


@pytest.mark.parametrize(
    ("difference", "added"),
    [(0, 3), (1, 3), (1.1, 2.5), (2, 2.5), (2.5, 2), (3, 2), (3.1, 1.5), (5, 1.5), (5.5, 1), (7, 1), (7.1, 0), (90, 0)],
)
def test_addition_goes_by_steps_on_the_difference(difference: float, added: float) -> None:
    """The stronger power grows by what the steps say, whichever comes first."""
    assert add_dbm(-80.0, -80.0 - difference) == -80 + added
    assert add_dbm(-80.0 - difference, -80.0) == -80 + added


@settings(deadline=None)  # the first call compiles
@given(POWERS, POWERS)
def test_a_sum_is_at_least_the_stronger_and_at_most_twice_it(a: float, b: float) -> None:
    """Adding a power never takes any away, and never adds more than 3 dB."""
    assert max(a, b) <= add_dbm(a, b) <= max(a, b) + 3


@settings(deadline=None)  # the first call compiles
@given(POWERS, POWERS)
def test_addition_commutes(a: float, b: float) -> None:
    """Which signal was there first does not matter to the sum of two."""
    assert add_dbm(a, b) == add_dbm(b, a)


@pytest.mark.parametrize(("snr_db", "rate"), [(0, 0.0786496), (4, 0.0125009), (9.58790, 1.0e-5)])
def test_bit_errors_are_those_of_psk(snr_db: float, rate: float) -> None:
    """Text-book values of 0.5 erfc(sqrt(Eb/N0))."""
    assert bit_error_rate(np.array([snr_db]))[0] == pytest.approx(rate, rel=1e-3)


@pytest.mark.parametrize(("snr_db", "rate"), [(-40, 0.49984), (0, 1.6153e-4), (1, 1.2912e-5)])
def test_bit_errors_of_oqpsk_are_those_of_the_standard(snr_db: float, rate: float) -> None:
    """Without signal half of the bits are wrong; at 1 dB one in 77,000, by the formula of E.4.1.8."""
    assert bit_error_rate(np.array([snr_db]), 1)[0] == pytest.approx(rate, rel=1e-3)


@settings(deadline=None)  # the first call compiles
@given(st.floats(LOWEST_DB, HIGHEST_DB), st.integers(200, 8192), st.sampled_from(range(len(MODULATIONS))))
def test_the_table_of_bit_errors_is_exact_enough(snr_db: float, bits: int, modulation: int) -> None:
    """A frame survives with the exact probability to within 1e-4."""
    exact = (1 - bit_error_rate(np.array([snr_db]), modulation)[0]) ** bits
    assert math.exp(-bits * loss_per_bit(snr_db, modulation)) == pytest.approx(exact, abs=1e-4)


def test_above_the_table_no_bit_is_ever_wrong() -> None:
    """The longest frame survives with a probability that a double cannot tell from 1."""
    for modulation in range(len(MODULATIONS)):
        assert (1 - bit_error_rate(np.array([HIGHEST_DB]), modulation)[0]) ** 8192 == 1.0


def test_shares_below_a_sixteenth_count_as_nothing() -> None:
    """Half of the time takes 3 dB off, the whole nothing, next to nothing everything."""
    assert receiver.SHARE_DB[8] == pytest.approx(-3.0103, abs=1e-4)
    assert receiver.SHARE_DB[16] == 0
    assert receiver.SHARE_DB[0] == -100
