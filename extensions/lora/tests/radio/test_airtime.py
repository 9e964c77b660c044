"""Airtimes against a second reckoning of the data sheet's formula, and against published values."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil

import pytest

from roambus.extensions.lora.radio.airtime import (
    Modem,
    airtime_ns,
    is_optimised,
    payload_symbols,
    preamble_ns,
    symbol_ns,
)
from roambus.extensions.lora.radio.modems import PRESETS
from roambus.python_protocol.simtime import MILLISECOND, SECOND

SIZES = (0, 1, 20, 51, 255)


def reckoned_s(modem: Modem, size: int) -> Fraction:
    """Return the airtime in seconds by counting the blocks that the interleaver fills.

    The first block has 8 symbols, which carry SF - 2 codewords of a nibble each. The header, if there is one, has 5 of
    these, and the payload the rest. Each further block carries SF nibbles, or SF - 2 if it is optimised, in one symbol
    a coded bit.
    """
    symbol = Fraction(2**modem.factor, modem.bandwidth_khz * 1000)
    slow = symbol * SECOND >= 16 * MILLISECOND if modem.low_data_rate is None else modem.low_data_rate
    nibbles = 2 * size + (4 if modem.crc else 0)
    nibbles -= modem.factor - 2 - (5 if modem.explicit_header else 0)
    blocks = ceil(Fraction(max(nibbles, 0), modem.factor - 2 if slow else modem.factor))
    return symbol * (modem.preamble + Fraction(17, 4) + 8 + blocks * modem.coding_rate)


TABLE = [
    (Modem(factor, bandwidth, rate, preamble, header, crc, low), size)
    for number, (factor, bandwidth, (rate, preamble), (header, crc, low)) in enumerate(
        product(
            range(7, 13),
            (125, 250, 500),
            ((5, 8), (6, 16), (7, 6), (8, 12)),
            ((True, True, None), (False, True, None), (True, False, True), (False, False, False)),
        )
    )
    for size in (SIZES[number % len(SIZES)], SIZES[(number + 2) % len(SIZES)])
]


def test_airtimes_are_those_of_a_second_reckoning() -> None:
    """For 576 sets of parameters, to the nanosecond."""
    assert len({(*modem, size) for modem, size in TABLE}) == len(TABLE) == 576
    assert {modem.low_data_rate for modem, _ in TABLE} == {None, True, False}
    for modem, size in TABLE:
        assert airtime_ns(modem, size) == reckoned_s(modem, size) * SECOND, (modem, size)


@pytest.mark.parametrize(
    ("modem", "size", "ms"),
    [
        # LoRaWAN's shortest frame, 13 bytes, and its longest at SF12, 64 bytes, as calculators on the web show them
        (Modem(7, 125), 13, 46.3),
        (Modem(8, 125), 13, 82.4),
        (Modem(9, 125), 13, 164.9),
        (Modem(10, 125), 13, 288.8),
        (Modem(11, 125), 13, 577.5),
        (Modem(12, 125), 13, 1155.1),
        (Modem(12, 125), 64, 2793.5),
        # Bor et al. (2016): 20 bytes at the slowest setting, and a frame of the packages that compute airtimes
        (Modem(12, 125, 8), 20, 1712.1),
        (Modem(9, 125), 12, 144.4),
    ],
)
def test_airtimes_are_those_that_were_published(modem: Modem, size: int, ms: float) -> None:
    """In milliseconds, rounded as there."""
    assert airtime_ns(modem, size) / MILLISECOND == pytest.approx(ms, abs=0.05)


def test_the_optimisation_begins_with_symbols_of_16_ms() -> None:
    """It takes two bits off each symbol. A key turns it on or off."""
    slow = {(factor, khz) for factor in range(7, 13) for khz in (125, 250, 500) if is_optimised(Modem(factor, khz))}
    assert slow == {(11, 125), (12, 125), (12, 250)}
    assert symbol_ns(11, 125) == symbol_ns(12, 250) == 16_384_000
    assert not is_optimised(Modem(12, 125, low_data_rate=False))
    assert is_optimised(Modem(7, 500, low_data_rate=True))


def test_the_preamble_has_a_quarter_of_a_symbol() -> None:
    """8 programmed symbols last 12.25."""
    assert preamble_ns(Modem(7, 125, preamble=8)) == 12_544_000


def test_an_empty_frame_has_the_symbols_of_its_header() -> None:
    """Its bits would be fewer than none: without header and CRC, with the greatest spreading factor."""
    assert payload_symbols(Modem(12, 125, explicit_header=False, crc=False), 0) == 8


def test_a_frame_never_gets_shorter_with_more_bytes() -> None:
    """Up to the longest."""
    for modem in PRESETS.values():
        times = [airtime_ns(modem, size) for size in range(256)]
        assert times == sorted(times)
        assert len(set(times)) > 20


def test_presets_get_faster_by_their_names() -> None:
    """From long over medium to short ones, and from slow to turbo."""
    slow = ["LongSlow", "LongModerate", "LongFast", "LongTurbo", "MediumSlow", "MediumFast"]
    names = [*slow, "ShortSlow", "ShortFast", "ShortTurbo"]
    assert set(names) == set(PRESETS)
    assert {modem.preamble for modem in PRESETS.values()} == {16}
    times = [airtime_ns(PRESETS[name], 40) for name in names if name != "LongTurbo"]
    assert times == sorted(times, reverse=True)
