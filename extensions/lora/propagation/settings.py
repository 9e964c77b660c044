"""The settings of the model of Okumura and Hata, with the ranges for which Hata gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from roambus.bridge.keys import TEXT, key
from roambus.bridge.scenario.model import KeysOfIni
from roambus.bridge.scenario.propagation import PREFIX, Propagation
from roambus.bridge.scenario.radio import CHANNEL, DEVIATION
from roambus.python_protocol.settings import NUMBER, Range

LARGE_CITY, CITY, SUBURBAN, OPEN = "large-city", "city", "suburban", "open"
GAP_MHZ = (200, 400)
"""Hata gives the correction for large cities up to one of them, and from the other on."""


@dataclass(frozen=True, slots=True)
class OkumuraHata(Propagation):
    """Hata's formulas for Okumura's measurements: one end of each way has a high antenna, the other a low one."""

    MODULE: ClassVar[str] = "roambus.extensions.lora.propagation.okumura_hata"

    environment: str = key(
        PREFIX + "environment", TEXT, f'"{SUBURBAN}"', "the surroundings; city is a small or medium-sized one",
        choices=(LARGE_CITY, CITY, SUBURBAN, OPEN),
    )  # fmt: skip
    frequency_mhz: float = key(PREFIX + "frequency", NUMBER, "868", "carrier frequency", "MHz", Range(150, 1500))
    base_height_m: float = key(PREFIX + "baseHeight", NUMBER, "30", "height of the high antenna", "m", Range(30, 200))
    mobile_height_m: float = key(PREFIX + "mobileHeight", NUMBER, "1.5", "height of the low antenna", "m", Range(1, 10))
    sigma_db: float = key(CHANNEL + "sigma", NUMBER, "4.0", "standard deviation of the shadowing", "dB", DEVIATION)
    bidirectional_sigma_db: float = key(
        CHANNEL + "bidirectionalSigma", NUMBER, "1.0", "standard deviation of the difference between two directions",
        "dB", DEVIATION,
    )  # fmt: skip

    @classmethod
    def read(cls, ini: KeysOfIni) -> Self:
        """Return the settings; refuse a frequency at which no correction for a large city is given."""
        built: Self = ini.build(cls)
        low, high = GAP_MHZ
        in_gap = built.environment == LARGE_CITY and low < built.frequency_mhz < high
        ini.refuse(in_gap, PREFIX + "frequency", f"there is no model of a large city between {low} and {high} MHz")
        return built
