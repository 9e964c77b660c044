"""Path loss and cells."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from roambus.bridge.backends.radio import channel
from roambus.bridge.backends.radio import channel as module
from roambus.bridge.backends.radio.channel import Cells, Ground, PathLoss, path_loss
from roambus.bridge.backends.radio.propagation import log_distance
from roambus.bridge.backends.radio.propagation.log_distance import reach_m
from roambus.bridge.backends.radio.propagation.registry import loudest_dbm
from roambus.bridge.formats.temporal_model import TemporalModel
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.scenario.radio import ChannelSettings
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.simtime import SECOND
from tests.bridge.backends.radio.runs import at_places

Field = list[tuple[float, float]]
COORDINATES = st.floats(min_value=0, max_value=400)


def drawn(places: Field, law: LogDistance, seed: int = 1, threshold_dbm: float = -100) -> PathLoss:
    """The ways between places, for senders at 0 dBm."""
    return path_loss(law, Ground(np.array(places), 0, threshold_dbm), np.random.default_rng(seed))


def losses(places: Field, law: LogDistance, seed: int = 1, threshold_dbm: float = -100) -> NDArray[np.float64]:
    """The loss in dB between places; infinite where nothing is heard."""
    ways = drawn(places, law, seed, threshold_dbm)
    table = np.full((len(places), len(places)), np.inf)
    for row in range(len(places)):
        span = slice(ways.starts[row], ways.starts[row + 1])
        columns = ways.towards[span] if len(ways.towards) else np.arange(len(places))
        table[row, columns] = ways.loss_db[span]
    return table


def test_loss_grows_with_the_logarithm_of_distance() -> None:
    """55 dB at 1 m, 24 dB more for each factor of ten; nothing at a tenth of a metre or less."""
    flat = LogDistance(sigma_db=0, bidirectional_sigma_db=0)
    found = losses([(0, 0), (1, 0), (10, 0), (0.05, 0)], flat)
    assert found[0].tolist() == pytest.approx([0, 55, 79, 0])
    assert (found == found.T).all()


def test_the_two_directions_differ_by_the_jitter_only() -> None:
    """Shadowing of 4 dB is the same both ways; the jitter has a standard deviation of half of 1 dB either way."""
    places = [(float(x), 0.0) for x in range(0, 200, 2)]
    found = losses(places, LogDistance(), threshold_dbm=-200)
    upper = np.triu(np.isfinite(found), 1)
    jitter = ((found - found.T) / 2)[upper]
    distances = np.abs(np.subtract.outer(*[np.array(places)[:, 0]] * 2))[upper]
    shadowing = ((found + found.T) / 2)[upper] - 55 - 24 * np.log10(distances)
    assert jitter.std() == pytest.approx(0.5, rel=0.1)
    assert shadowing.std() == pytest.approx(4, rel=0.1)


def test_pairs_too_far_apart_are_out_of_reach() -> None:
    """Where 100 - 55 + 12 dB are used up, at 10^(57/24) m, whatever the shadowing."""
    assert reach_m(LogDistance(), 0, -100) == pytest.approx(10 ** (57 / 24))
    assert reach_m(LogDistance(), -25, -100) == reach_m(LogDistance(), 0, -100)


def test_a_louder_radio_reaches_farther() -> None:
    """Castalia's 0 dBm would leave out what 22 dBm carries; a temporal model does not shorten it either."""
    assert reach_m(LogDistance(), 22, -100) == pytest.approx(10 ** (79 / 24))
    calm = TemporalModel(0, 1, 0, (SECOND,), SECOND, ())
    for power_dbm, found_dbm in ((22.0, 22.0), (-5.0, 0.0)):
        nodes = (NodeSettings(tx_power_dbm=power_dbm),) * 2
        varying = replace(at_places(0, 300), nodes=nodes, temporal=calm)
        assert loudest_dbm(varying) == found_dbm
        assert loudest_dbm(replace(varying, temporal=None)) == power_dbm
    assert losses([(0, 0), (238, 0)], LogDistance())[0, 1] == np.inf


@given(st.lists(st.tuples(COORDINATES, COORDINATES), min_size=1, max_size=40), st.integers(min_value=1, max_value=99))
def test_a_large_field_has_the_losses_of_a_small_one(places: Field, at_once: int) -> None:
    """Whether all pairs are kept or only those in reach, and in blocks of whatever size they are drawn."""
    table = losses(places, LogDistance())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_IN_A_TABLE", 0)
        patch.setattr(log_distance, "DRAWS_AT_ONCE", at_once)
        patch.setattr(channel, "MOST_AT_ONCE", 0)
        assert (losses(places, LogDistance()) == table).all()


@pytest.mark.parametrize("side", [600, 1200])
def test_a_place_has_no_more_ways_in_a_larger_field(side: int) -> None:
    """With 25 dB a factor of ten in distance and 20 m between places, some 50 hear each other whatever the field."""
    places = [(float(x), float(y)) for y in range(0, side, 20) for x in range(0, side, 20)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_IN_A_TABLE", 0)
        ways = drawn(places, LogDistance())
    assert 40 < len(ways.loss_db) / len(places) < 60


def test_more_ways_than_memory_is_meant_for_are_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the keys that make cells larger."""
    monkeypatch.setattr(module, "MOST_WAYS", 10)
    with pytest.raises(
        UserError, match=r"^20 nodes or cells hear each other on more ways than the radio's 10: .*xCellSize"
    ):
        drawn([(float(x), 0.0) for x in range(20)], LogDistance())


def test_cells_are_numbered_row_by_row() -> None:
    """A field of 12 m x 10 m has 3 x 2 cells of 5 m, the last column narrower."""
    cells = Cells((12, 10), ChannelSettings())
    assert cells.corners().tolist() == [[0, 0], [5, 0], [10, 0], [0, 5], [5, 5], [10, 5]]
    assert cells.holding(np.array([[0.0, 0.0], [4.0, 6.0], [12.0, 10.0]])).tolist() == [0, 4, 5]


@given(st.floats(min_value=0, max_value=45), st.floats(min_value=0, max_value=45))
def test_every_place_is_within_its_cell(x: float, y: float) -> None:
    """The cell's corner is at most a cell away, whatever the rounding."""
    cells = Cells((45, 45), ChannelSettings())
    (cell,) = cells.holding(np.array([[x, y]]))
    corner_x, corner_y = cells.corners()[cell]
    assert corner_x <= x <= corner_x + 5 + 1e-9
    assert corner_y <= y <= corner_y + 5 + 1e-9
