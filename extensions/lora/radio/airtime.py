"""The airtime of LoRa frames, by the formula of Semtech's data sheet of the SX1276 (section 4.1.1.7).

A symbol lasts 2^SF / BW. With bandwidths of 125, 250 and 500 kHz this is a whole number of nanoseconds, and so is the
quarter of a symbol in the preamble, so that all times here are exact. The header and the CRC are part of the formula:
the size of a frame is that of its payload.
"""

from __future__ import annotations

from typing import NamedTuple

from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

FACTORS = range(7, 13)
"""The spreading factors."""
BANDWIDTHS_KHZ = (125, 250, 500)
CODING_RATES = (5, 6, 7, 8)
"""Of 4/5 to 4/8."""
MOST_BYTES = 255
"""The longest payload: the header's length has eight bits."""

LONG_SYMBOL: SimTime = 16 * MILLISECOND
"""From this symbol time on the low data rate optimisation is due."""
SYNC_QUARTERS = 17
"""Quarters of a symbol between the programmed preamble and the header: 4.25 symbols."""
FIRST_SYMBOLS = 8
"""Symbols that hold the header, and always go at the lowest rate."""


class Modem(NamedTuple):
    """The settings of a LoRa modem that an airtime depends on."""

    factor: int
    """The spreading factor, from 7 to 12"""
    bandwidth_khz: int
    coding_rate: int = 5
    """5 to 8, of 4/5 to 4/8"""
    preamble: int = 8
    """symbols, as programmed"""
    explicit_header: bool = True
    crc: bool = True
    low_data_rate: bool | None = None
    """Whether the low data rate optimisation is on; None: from symbols of 16 ms on"""


def symbol_ns(factor: int, bandwidth_khz: int) -> SimTime:
    """Return ns of a symbol."""
    return SimTime(2**factor * SECOND // (bandwidth_khz * 1000))


def is_optimised(modem: Modem) -> bool:
    """Return whether a symbol carries two bits less, for the clocks' sake."""
    if modem.low_data_rate is not None:
        return modem.low_data_rate
    return symbol_ns(modem.factor, modem.bandwidth_khz) >= LONG_SYMBOL


def preamble_ns(modem: Modem) -> SimTime:
    """Return ns from the beginning of a frame to its header."""
    return (4 * modem.preamble + SYNC_QUARTERS) * symbol_ns(modem.factor, modem.bandwidth_khz) // 4


def payload_symbols(modem: Modem, size: int) -> int:
    """Return the symbols of header and payload of `size` bytes."""
    bits = 8 * size - 4 * modem.factor + 28 + 16 * modem.crc - 20 * (not modem.explicit_header)
    block = 4 * (modem.factor - 2 * is_optimised(modem))
    blocks = max(0, -(-bits // block))
    return FIRST_SYMBOLS + blocks * modem.coding_rate


def airtime_ns(modem: Modem, size: int) -> SimTime:
    """Return ns that a frame with a payload of `size` bytes is on the air."""
    return preamble_ns(modem) + payload_symbols(modem, size) * symbol_ns(modem.factor, modem.bandwidth_khz)
