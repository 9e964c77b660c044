"""The median path loss of Hata's formulas, and never less than in free space; with log-normal shadowing around it.

Source: M. Hata, "Empirical formula for propagation loss in land mobile radio services", IEEE Transactions on Vehicular
Technology 29(3), 1980. The formulas hold from 1 to 20 km, and are used beyond. Near the sender free space loses more,
and counts: in open land within some hundred metres, in cities within some metres. Both losses grow with the distance,
and so does the greater one. Places nearer than a metre count as a metre apart.
"""

from __future__ import annotations

import math

import numpy as np

from roambus.bridge.backends.radio.propagation import log_distance
from roambus.bridge.backends.radio.propagation.interface import Decibels, Draw, Pairs
from roambus.bridge.scenario.propagation import LogDistance
from roambus.extensions.lora.propagation.settings import GAP_MHZ, LARGE_CITY, OPEN, SUBURBAN, OkumuraHata

NEAREST_KM = 0.001
SIGMAS = 3
"""Of shadowing that the reach includes, as Castalia's does."""
FREE_SPACE_DB = 32.45
"""20 log10(4 pi d / wavelength) at 1 km and 1 MHz."""


def mean_db(law: OkumuraHata, pairs: Pairs) -> Decibels:
    """Return dB[pair] without shadowing."""
    decades = np.log10(np.maximum(pairs.distance_m / 1000, NEAREST_KM))
    hata: Decibels = hata_at_1_km_db(law) + slope_db(law) * decades
    return np.maximum(hata, free_space_at_1_km_db(law) + 20 * decades)


def free_space_at_1_km_db(law: OkumuraHata) -> float:
    """Return the loss of free space at 1 km."""
    return FREE_SPACE_DB + 20 * math.log10(law.frequency_mhz)


def slope_db(law: OkumuraHata) -> float:
    """Return the dB that ten times the distance loses (equation 14)."""
    return 44.9 - 6.55 * math.log10(law.base_height_m)


def hata_at_1_km_db(law: OkumuraHata) -> float:
    """Return the loss at 1 km: that of a city, less what other surroundings save (equations 14, 18 and 20)."""
    f = math.log10(law.frequency_mhz)
    city = 69.55 + 26.16 * f - 13.82 * math.log10(law.base_height_m) - mobile_gain_db(law)
    if law.environment == SUBURBAN:
        return city - 2 * math.log10(law.frequency_mhz / 28) ** 2 - 5.4
    if law.environment == OPEN:
        return city - 4.78 * f**2 + 18.33 * f - 40.94
    return city


def mobile_gain_db(law: OkumuraHata) -> float:
    """Return a(hm), which the height of the low antenna gains; it is about 0 at 1.5 m (equations 15 to 17)."""
    f = math.log10(law.frequency_mhz)
    if law.environment != LARGE_CITY:
        return (1.1 * f - 0.7) * law.mobile_height_m - (1.56 * f - 0.8)
    if law.frequency_mhz <= GAP_MHZ[0]:
        return 8.29 * math.log10(1.54 * law.mobile_height_m) ** 2 - 1.1
    return 3.2 * math.log10(11.75 * law.mobile_height_m) ** 2 - 4.97


def draws(law: OkumuraHata, random: np.random.Generator, pairs: int) -> Draw:
    """Return a function that draws shadowing as the log-distance's does, for pairs however near."""
    shadowing = LogDistance(d0_m=0.0, sigma_db=law.sigma_db, bidirectional_sigma_db=law.bidirectional_sigma_db)
    return log_distance.draws(shadowing, random, pairs)


def reach_m(law: OkumuraHata, loudest_dbm: float, threshold_dbm: float) -> float:
    """Return the distance that three sigmas of shadowing just bridge."""
    budget_db = loudest_dbm - threshold_dbm + SIGMAS * law.sigma_db
    by_hata = (budget_db - hata_at_1_km_db(law)) / slope_db(law)
    in_free_space = (budget_db - free_space_at_1_km_db(law)) / 20
    return float(1000 * 10 ** min(by_hata, in_free_space))
