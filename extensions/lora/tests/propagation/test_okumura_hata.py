"""The path loss of Okumura and Hata: its formulas, its bounds near and far, its reach, and runs with it."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.backends.radio.channel import Ground, path_loss
from roambus.bridge.backends.radio.propagation.interface import Pairs
from roambus.bridge.scenario.radio import GivenLosses
from roambus.extensions.lora.propagation.okumura_hata import mean_db, reach_m
from roambus.extensions.lora.propagation.settings import CITY, LARGE_CITY, OPEN, SUBURBAN, OkumuraHata
from tests.bridge.backends.radio.runs import at_places, run, send

ENVIRONMENTS = (LARGE_CITY, CITY, SUBURBAN, OPEN)

WORKED = [
    # environment, MHz, m of the high antenna, m of the low one, km, dB
    (CITY, 150, 30, 1, 1, 106.964),
    (CITY, 433, 30, 1.5, 1, 118.119),
    (CITY, 433, 50, 3, 5, 135.359),
    (CITY, 868, 30, 1.5, 1, 125.993),
    (CITY, 868, 30, 1.5, 10, 161.218),
    (CITY, 915, 100, 2, 20, 159.458),
    (CITY, 1500, 200, 10, 20, 135.861),
    (CITY, 900, 30, 1.5, 1, 126.403),
    (LARGE_CITY, 150, 30, 1.5, 1, 106.067),
    (LARGE_CITY, 200, 100, 5, 10, 128.490),
    (LARGE_CITY, 400, 30, 1, 2, 129.116),
    (LARGE_CITY, 433, 50, 1.5, 5, 138.647),
    (LARGE_CITY, 868, 30, 1.5, 1, 126.009),
    (LARGE_CITY, 915, 200, 10, 20, 145.286),
    (SUBURBAN, 150, 30, 1, 1, 100.501),
    (SUBURBAN, 433, 30, 1.5, 3, 126.697),
    (SUBURBAN, 868, 30, 1.5, 1, 116.145),
    (SUBURBAN, 868, 30, 1.5, 10, 151.370),
    (SUBURBAN, 915, 70, 3, 7, 135.414),
    (SUBURBAN, 1500, 200, 10, 20, 124.483),
    (OPEN, 150, 30, 1, 1, 83.276),
    (OPEN, 433, 40, 2, 4, 110.168),
    (OPEN, 868, 30, 1.5, 1, 97.642),
    (OPEN, 868, 30, 1.5, 14, 138.014),
    (OPEN, 915, 60, 1.5, 20, 137.116),
    (OPEN, 1500, 100, 2, 20, 133.996),
]
"""By a calculator, from the equations of 1980."""


def law(environment: str = CITY, mhz: float = 868, high: float = 30, low: float = 1.5, sigma: float = 0) -> OkumuraHata:
    """The model, without shadowing unless a test wants it."""
    return OkumuraHata(environment, mhz, high, low, sigma, 0.0)


def at(model: OkumuraHata, *distances_m: float) -> list[float]:
    """The losses at some distances."""
    places = np.array([(0.0, 0.0), *((distance, 0.0) for distance in distances_m)])
    second = np.arange(1, len(places))
    pairs = Pairs(places, np.zeros_like(second), second, np.array(distances_m, float))
    return [float(loss) for loss in mean_db(model, pairs)]


def as_powers(environment: str, mhz: float, high: float, low: float, km: float) -> float:
    """Hata's loss as a product of powers of frequency, heights and distance, in dB at the end."""
    ratio = 10**6.955 * mhz**2.616 * high**-1.382 * km ** (4.49 - 0.655 * math.log10(high))
    octaves = math.log(mhz) / math.log(10)
    if environment == LARGE_CITY and mhz <= 200:
        gain = 8.29 * (math.log(1.54 * low) / math.log(10)) ** 2 - 1.1
    elif environment == LARGE_CITY:
        gain = 3.2 * (math.log(11.75 * low) / math.log(10)) ** 2 - 4.97
    else:
        gain = octaves * (1.1 * low - 1.56) - 0.7 * low + 0.8
    saved = {
        SUBURBAN: 5.4 + 2 * (octaves - math.log10(28)) ** 2,
        OPEN: 40.94 + octaves * (4.78 * octaves - 18.33),
    }.get(environment, 0.0)
    return 10 * math.log10(ratio) - gain - saved


@pytest.mark.parametrize("worked", WORKED, ids=str)
def test_losses_are_those_of_the_equations(worked: tuple[str, float, float, float, float, float]) -> None:
    """To a thousandth of a dB, and in another form of the formula to a rounding error."""
    environment, mhz, high, low, km, loss_db = worked
    found = at(law(environment, mhz, high, low), 1000 * km)
    assert found == pytest.approx([loss_db], abs=0.0006)
    assert found == pytest.approx([as_powers(environment, mhz, high, low, km)], abs=1e-9)


def test_cities_lose_more_than_suburbs_and_suburbs_more_than_open_land() -> None:
    """At each distance, by the same antennas."""
    for km in (1, 3, 20):
        losses = [at(law(environment), 1000 * km)[0] for environment in (CITY, SUBURBAN, OPEN)]
        assert losses == sorted(losses, reverse=True)


def free_space(mhz: float, distance_m: float) -> float:
    """The loss of free space from the wavelength."""
    return 20 * math.log10(4 * math.pi * distance_m * mhz * 1e6 / 299_792_458)


@pytest.mark.parametrize(("environment", "crossing_m"), [(OPEN, 398), (SUBURBAN, 23), (CITY, 5.2)])
def test_free_space_counts_where_it_loses_more(environment: str, crossing_m: float) -> None:
    """Hata's line ends at some distance far below 1 km, from which on nearer places have free space."""
    inside, outside = at(law(environment), 0.9 * crossing_m, 1.1 * crossing_m)
    assert inside == pytest.approx(free_space(868, 0.9 * crossing_m), abs=0.01)
    assert outside == pytest.approx(as_powers(environment, 868, 30, 1.5, 1.1 * crossing_m / 1000), abs=1e-9)
    assert outside > free_space(868, 1.1 * crossing_m) + 0.1


def test_free_space_counts_where_high_antennas_would_lose_less() -> None:
    """Hata's correction for an antenna at 10 m and 1500 MHz is 26 dB, more than open land at 2 km has to give."""
    assert as_powers(OPEN, 1500, 200, 10, 2) == pytest.approx(75.092, abs=0.001)
    assert at(law(OPEN, 1500, 200, 10), 2000) == pytest.approx([free_space(1500, 2000)], abs=0.01)


@given(
    st.sampled_from(ENVIRONMENTS),
    st.sampled_from([150, 169, 200, 400, 433, 868, 915, 1500]),
    st.floats(30, 200),
    st.floats(1, 10),
    st.lists(st.floats(0, 100_000), min_size=2, max_size=30),
)
def test_loss_grows_with_the_distance_and_is_never_below_free_space(
    environment: str, mhz: float, high: float, low: float, distances_m: list[float]
) -> None:
    """In all ranges, from contact to beyond the model's 20 km."""
    distances_m.sort()
    losses = at(law(environment, mhz, high, low), *distances_m)
    assert all(near <= far for near, far in pairwise(losses))
    assert all(
        loss >= free_space(mhz, max(distance, 1)) - 0.01 for loss, distance in zip(losses, distances_m, strict=True)
    )


def test_places_within_a_metre_lose_what_a_metre_loses() -> None:
    """Two nodes in one place are no error."""
    assert at(law(), 0.0, 0.5) == at(law(), 1.0) * 2


@given(st.sampled_from(ENVIRONMENTS), st.sampled_from([169, 433, 868]), st.floats(0, 12), st.floats(50, 180))
def test_the_reach_is_where_three_sigmas_end(environment: str, mhz: float, sigma: float, budget_db: float) -> None:
    """There the budget is used up, whether by Hata's loss or by that of free space."""
    model = law(environment, mhz, sigma=sigma)
    reach = reach_m(model, 20, 20 - budget_db)
    assert at(model, reach) == pytest.approx([budget_db + 3 * sigma], abs=1e-6)


def test_shadowing_is_drawn_around_the_mean() -> None:
    """Its deviation is sigma, for both directions of a pair alike, and the difference between them has its own."""
    places = np.random.default_rng(3).uniform(0, 1, (150, 2))
    places[:75] += 5000
    model = OkumuraHata(SUBURBAN, sigma_db=6.0, bidirectional_sigma_db=2.0)
    ground = Ground(places, 20.0, -300.0)
    found = path_loss(model, ground, np.random.default_rng(4)).loss_db.reshape(150, 150)[:75, 75:]
    back = path_loss(model, ground, np.random.default_rng(4)).loss_db.reshape(150, 150)[75:, :75].T
    mean = at(model, 5000 * math.sqrt(2))[0]
    both = (found + back) / 2
    assert np.mean(both) == pytest.approx(mean, abs=0.3)
    assert np.std(both) == pytest.approx(6, rel=0.05)
    assert np.std(found - back) == pytest.approx(2, rel=0.05)


def test_places_near_each_other_have_shadowing_too() -> None:
    """There is no distance below which it ends, as that of the log-distance has one."""
    model = OkumuraHata(CITY, 868, 30, 1.5, 4.0, 0.0)
    places = np.column_stack([0.5 * np.arange(40.0), np.zeros(40)])
    found = path_loss(model, Ground(places, 22.0, -140.0), np.random.default_rng(1)).loss_db.reshape(40, 40)
    beside = [found[k, k + 1] for k in range(39)]
    assert np.std(beside) == pytest.approx(4.0, rel=0.4)


def test_nodes_hear_each_other_by_it() -> None:
    """A suburb loses 81 dB over 100 m, and beyond 250 m more than the channel delivers.

    A path-loss map replaces ways, one direction at a time.
    """
    scenario = replace(at_places(0, 100, 290), propagation=law(SUBURBAN), field_m=(300.0, 300.0))
    scenario = replace(scenario, channel=replace(scenario.channel, signal_delivery_threshold_dbm=-95.0))
    lines, _ = run(scenario, [send(0, "hello")])
    assert [line.partition(": ")[2] for line in lines] == ["1 gets hello from 0"]
    mapped = replace(scenario, losses=GivenLosses((0, 0, 2), (1, 2, 0), (150.0, 60.0, 150.0)))
    lines, _ = run(mapped, [send(0, "hello")])
    assert [line.partition(": ")[2] for line in lines] == ["2 gets hello from 0"]
