"""The wait before a packet is repeated: windows by SNR, and slots by the modem's symbol."""

from __future__ import annotations

from math import inf, nan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.lora.contention import Window, slot_time
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND

USUAL = Window(3, 8, -20, 10)


@pytest.mark.parametrize(
    ("snr_db", "exponent"),
    [(-40, 3), (-20, 3), (-15, 3), (-14.9, 4), (-8, 5), (0, 6), (3.9, 6), (4, 7), (9.9, 7), (10, 8), (50, 8)],
)
def test_the_window_grows_with_the_snr(snr_db: float, exponent: int) -> None:
    """By one for each 6 dB between -20 and 10 dB, of an SNR cut towards 0, and no further beyond them."""
    assert USUAL.exponent(snr_db) == exponent


@pytest.mark.parametrize("snr_db", [nan, inf])
def test_a_link_without_an_snr_has_the_greatest_window(snr_db: float) -> None:
    """As if the sender were near."""
    assert USUAL.exponent(snr_db) == 8


@given(st.floats(-60, 60), st.floats(0, 60), st.integers(1, 7), st.integers(0, 7))
def test_a_louder_packet_never_has_a_shorter_window(snr_db: float, more_db: float, least: int, more: int) -> None:
    """The bounds are kept, too."""
    window = Window(least, least + more, -20, 10)
    assert least <= window.exponent(snr_db) <= window.exponent(snr_db + more_db) <= least + more


@given(st.floats(-30, 20), st.integers(0, 1000))
def test_routers_have_begun_before_clients_may(snr_db: float, seed: int) -> None:
    """A router draws fewer slots than the head start of routers has."""
    assert 0 <= USUAL.router_slots(snr_db, Random(seed)) < USUAL.routers_end


@given(st.floats(-30, 20), st.integers(0, 1000))
def test_a_client_draws_a_slot_of_its_window(snr_db: float, seed: int) -> None:
    """From 0 to the power of two, which is left out."""
    assert 0 <= USUAL.client_slots(snr_db, Random(seed)) < 2 ** USUAL.exponent(snr_db)


@pytest.mark.parametrize(("symbol_us", "slot_ms"), [(8192, 28), (2048, 12), (512, 8)])
def test_a_slot_is_two_and_a_half_symbols_and_the_times_of_the_radio(symbol_us: int, slot_ms: int) -> None:
    """28 ms for LongFast, 12 ms for MediumFast and 8 ms for ShortFast, by hand: 2.5 symbols and 7.6 ms, cut to ms."""
    assert slot_time(symbol_us * MICROSECOND) == slot_ms * MILLISECOND
