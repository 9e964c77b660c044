"""Path losses that a module brings: what it leaves out, what it gets, and what is refused."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

from roambus.bridge.backends.castalia.backend import check_radio_alone
from roambus.bridge.backends.ideal.graph import reach_m
from roambus.bridge.backends.radio import setup
from roambus.bridge.backends.radio.channel import Ground, path_loss
from roambus.bridge.backends.radio.propagation import registry, temporal
from roambus.bridge.backends.radio.propagation.interface import Decibels, Pairs
from roambus.bridge.backends.radio.propagation.registry import fading_of, loudest_dbm, varies
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.scenario.models import PROPAGATIONS
from roambus.bridge.scenario.propagation import LogDistance, Propagation
from roambus.bridge.scenario.radio import ChannelSettings
from roambus.bridge.system.errors import UserError
from tests.bridge.backends.radio.runs import at_places
from tests.bridge.backends.radio.test_variation import FLIPPING

PLACES = [(0.0, 0.0), (3.0, 4.0), (30.0, 40.0)]


@dataclass(frozen=True, slots=True)
class Slope(Propagation):
    """A path loss of the tests."""

    MODULE: ClassVar[str] = "slope"


@pytest.fixture
def slope(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Its module, which loses 1 dB a metre."""
    made = ModuleType(Slope.MODULE)
    vars(made)["mean_db"] = lambda _, pairs: pairs.distance_m
    monkeypatch.setitem(sys.modules, Slope.MODULE, made)
    monkeypatch.setitem(PROPAGATIONS.settings, "slope", Slope)
    registry._complete.cache_clear()
    yield made
    registry._complete.cache_clear()


def losses(middle_m: tuple[float, float] = (0.0, 0.0), loudest_dbm: float = 0.0) -> list[float]:
    """The losses of a whole table."""
    ground = Ground(np.array(PLACES), loudest_dbm, -100.0, middle_m)
    found: list[float] = path_loss(Slope(), ground, np.random.default_rng(1)).loss_db.tolist()
    return found


def note_pairs(slope: ModuleType) -> list[Pairs]:
    """Return the pairs that it will get."""
    seen: list[Pairs] = []

    def mean_db(_: Slope, pairs: Pairs) -> Decibels:
        seen.append(pairs)
        return pairs.distance_m

    vars(slope)["mean_db"] = mean_db
    return seen


SLOPING = replace(at_places(0, 5), propagation=Slope())


@pytest.mark.usefixtures("slope")
def test_a_mean_is_all_that_a_module_needs() -> None:
    """Then nothing is drawn, all pairs are looked at, and nothing varies."""
    assert losses() == [0, 5, 50, 5, 0, 45, 50, 45, 0]
    assert not varies(SLOPING)
    assert fading_of(SLOPING) is temporal
    assert loudest_dbm(SLOPING) == 0.0


def test_draws_are_added_there_and_back(slope: ModuleType) -> None:
    """The first number both ways, the second there, and its negative back; the number of pairs is known before."""
    counts: list[int] = []

    def draws(law: Slope, random: np.random.Generator, pairs: int) -> Any:
        counts.append(pairs)
        return lambda some: (10.0, np.arange(len(some.distance_m)) + 1.0)

    vars(slope)["draws"] = draws
    assert losses() == [0, 16, 62, 14, 0, 58, 58, 52, 0]
    assert counts == [3]


def test_pairs_beyond_its_reach_are_left_out(slope: ModuleType) -> None:
    """It gets the loudest power and the threshold."""
    asked: list[tuple[float, float]] = []

    def reach_m(_: Slope, loudest_dbm: float, threshold_dbm: float) -> float:
        asked.append((loudest_dbm, threshold_dbm))
        return 46.0

    vars(slope)["reach_m"] = reach_m
    assert losses(loudest_dbm=14.0) == [0, 5, math.inf, 5, 0, 45, math.inf, 45, 0]
    assert asked == [(14.0, -100.0)]


def test_ways_too_weak_for_the_threshold_are_left_out(slope: ModuleType) -> None:
    """At any distance; at the threshold they are heard."""
    vars(slope)["mean_db"] = lambda *_: np.array([100.0, 100.1, 20.0])
    assert losses() == [0, 100, math.inf, 100, 0, 20, math.inf, 20, 0]


def test_places_are_middles_of_cells(slope: ModuleType) -> None:
    """A wall often lies on the corners."""
    seen = note_pairs(slope)
    losses(middle_m=(2.5, 1.0))
    assert np.concatenate([pairs.start_m for pairs in seen]).tolist() == [[2.5, 1], [2.5, 1], [5.5, 5]]
    assert np.concatenate([pairs.end_m for pairs in seen]).tolist() == [[5.5, 5], [32.5, 41], [32.5, 41]]


def test_the_radio_asks_for_the_middles_of_its_cells(slope: ModuleType) -> None:
    """Cells of 5 m x 4 m begin at their middles; static nodes are where they are."""
    seen = note_pairs(slope)
    cells = ChannelSettings(only_static_nodes=False, x_cell_m=5, y_cell_m=4)
    for channel in (cells, ChannelSettings()):
        scenario = replace(SLOPING, channel=channel, field_m=(10.0, 4.0))
        setup.ground(scenario, [[WayPoint(0, 0, 0)], [WayPoint(0, 5, 0)]], setup.seeds_of(1))
    assert [pairs.start_m[0].tolist() for pairs in seen] == [[2.5, 2.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("mean", "problem"),
    [
        (
            lambda _, pairs: pairs.distance_m * math.nan,
            r"slope: from \(0, 0\) to \(3, 4\) m the path loss is no number",
        ),
        (lambda _, pairs: pairs.distance_m[:1], r"slope: for 3 pairs it has losses of the shape \(1,\)"),
        (lambda *_: 80.0, r"slope: for 3 pairs it has losses of the shape \(\)"),
        (lambda _, pairs: pairs.distance_m * -math.inf, r"to \(3, 4\) m the path loss is no number"),
        (lambda _, pairs: pairs.distance_m + 1j, "slope: its losses are complex numbers"),
        (lambda *_: None, "the path loss slope raised TypeError"),
        (lambda *_: 1 / 0, "the path loss slope raised ZeroDivisionError: division by zero"),
    ],
)
def test_losses_that_are_none_are_refused(slope: ModuleType, mean: Any, problem: str) -> None:
    """With the first places, or the number of pairs."""
    vars(slope)["mean_db"] = mean
    with pytest.raises(UserError, match=problem):
        losses()


@pytest.mark.parametrize("reach", [math.nan, -1.0])
def test_a_reach_that_leaves_all_out_is_refused(slope: ModuleType, reach: float) -> None:
    """Nobody would be heard, and nothing said."""
    vars(slope)["reach_m"] = lambda *_: reach
    with pytest.raises(UserError, match=f"slope: reach_m returns {reach}: it must be metres"):
        losses()


@pytest.mark.parametrize("best", [math.nan, -1.0])
def test_a_best_deviation_that_leaves_ways_out_is_refused(slope: ModuleType, best: float) -> None:
    """By its value."""
    vars(slope).update(deviation=None, best_db=lambda _: best)
    with pytest.raises(UserError, match=f"slope: best_db returns {best}: it must be dB from 0"):
        loudest_dbm(SLOPING)


def test_a_module_without_a_mean_is_refused(slope: ModuleType) -> None:
    """By its name."""
    del vars(slope)["mean_db"]
    with pytest.raises(UserError, match="the path loss slope has no mean_db"):
        losses()


def test_a_module_that_is_not_there_is_refused(slope: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what Python says."""
    monkeypatch.delitem(sys.modules, Slope.MODULE)
    with pytest.raises(UserError, match="the path loss slope cannot be imported: No module named 'slope'"):
        losses()


def test_a_deviation_of_its_own_varies_ways(slope: ModuleType) -> None:
    """Ways are sought as far as it makes them audible, from the loudest node."""
    vars(slope).update(deviation=None, best_db=lambda _: 6.0)
    scenario = replace(SLOPING, nodes=tuple(replace(node, tx_power_dbm=-5.0) for node in SLOPING.nodes))
    assert varies(scenario)
    assert fading_of(scenario) is not temporal
    assert loudest_dbm(scenario) == 1.0


def test_links_that_vary_by_the_temporal_model_are_sought_from_0_dbm() -> None:
    """As Castalia does, whatever the nodes send with."""
    node = replace(at_places(0).nodes[0], tx_power_dbm=-5.0)
    scenario = replace(at_places(0), nodes=(node,))
    assert loudest_dbm(scenario) == -5.0
    assert loudest_dbm(replace(scenario, temporal=FLIPPING)) == 0.0
    assert varies(replace(scenario, temporal=FLIPPING))


def test_log_distance_alone_has_a_range() -> None:
    """A class that inherits from it may know walls."""

    @dataclass(frozen=True, slots=True)
    class Walls(LogDistance):
        MODULE: ClassVar[str] = "walls"

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PROPAGATIONS.settings, "walls", Walls)
        scenario = replace(at_places(0, 5), propagation=Walls())
        with pytest.raises(UserError, match=r"ideal links have no range by the path loss walls: set SN\.ideal\.range"):
            reach_m(scenario, scenario.nodes[0])
        ranged = replace(scenario, ideal=replace(scenario.ideal, range_m=7.0))
        assert reach_m(ranged, scenario.nodes[0]) == 7.0
        with pytest.raises(UserError, match=r"SN\.propagation\.model: ns-3 does not have the path loss walls"):
            check_radio_alone(scenario, "ns-3")
    check_radio_alone(at_places(0, 5), "ns-3")
