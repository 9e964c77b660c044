"""Castalia's path loss: log-normal shadowing around a power law of the distance.

Model: docs/reference/radio.md, "Path loss" (Zuniga and Krishnamachari, SECON 2004). Each pair's loss is drawn once,
then the difference of its directions.
"""

from __future__ import annotations

import copy

import numpy as np

from roambus.bridge.backends.radio.propagation.interface import Decibels, Draw, Pairs
from roambus.bridge.scenario.propagation import LogDistance

DRAWS_AT_ONCE = 2**16

REACH_DBM = 0.0
"""Castalia computes the channel's reach with this power, whatever weaker ones the radios use."""


def mean_db(law: LogDistance, pairs: Pairs) -> Decibels:
    """Return dB[pair] without shadowing; in contact nothing is lost."""
    at_contact = _at_contact(law, pairs)
    ratio = np.where(at_contact, 1.0, pairs.distance_m / law.d0_m)
    mean = law.pl_d0_db + 10 * law.path_loss_exponent * np.log10(ratio)
    return np.where(at_contact, 0.0, mean)


def draws(law: LogDistance, random: np.random.Generator, pairs: int) -> Draw:
    """Return a function that draws shadowing, and half the difference of directions.

    All shadowing is drawn first, row by row, then differences, from an advanced generator copy, so that pairs come in
    blocks. Pairs in contact draw too, unused: a seed's other draws stay the same.
    """
    later = _advanced(random, pairs)

    def draw(some: Pairs) -> tuple[Decibels, Decibels]:
        count, apart = len(some.distance_m), ~_at_contact(law, some)
        shadowing = law.sigma_db * random.standard_normal(count)
        jitter = law.bidirectional_sigma_db / 2 * later.standard_normal(count)
        return np.where(apart, shadowing, 0.0), np.where(apart, jitter, 0.0)

    return draw


def reach_m(law: LogDistance, loudest_dbm: float, threshold_dbm: float) -> float:
    """Return the distance that three sigmas of shadowing just bridge, for 0 dBm or a louder radio."""
    return law.range_m(max(REACH_DBM, loudest_dbm) - threshold_dbm, better_db=3 * law.sigma_db)


def _at_contact(law: LogDistance, pairs: Pairs) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.asarray(pairs.distance_m < law.d0_m / 10)


def _advanced(random: np.random.Generator, draws: int) -> np.random.Generator:
    """Return the generator after this number of draws."""
    later = copy.deepcopy(random)
    for start in range(0, draws, DRAWS_AT_ONCE):
        later.standard_normal(min(DRAWS_AT_ONCE, draws - start))
    return later
