"""The presets of Meshtastic's firmware by name: spreading factor, bandwidth and coding rate.

All use a preamble of 16 symbols. VeryLongSlow (62.5 kHz) is left out: the radio has bandwidths of 125 kHz and more.
"""

from __future__ import annotations

from roambus.extensions.lora.radio.airtime import Modem

PREAMBLE = 16
"""Symbols of every frame of Meshtastic."""

PRESETS: dict[str, Modem] = {
    name: Modem(factor, bandwidth_khz, coding_rate, PREAMBLE)
    for name, factor, bandwidth_khz, coding_rate in (
        ("ShortTurbo", 7, 500, 5),
        ("ShortFast", 7, 250, 5),
        ("ShortSlow", 8, 250, 5),
        ("MediumFast", 9, 250, 5),
        ("MediumSlow", 10, 250, 5),
        ("LongTurbo", 11, 500, 8),
        ("LongFast", 11, 250, 5),
        ("LongModerate", 11, 125, 8),
        ("LongSlow", 12, 125, 8),
    )
}
