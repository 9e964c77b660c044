"""What links are like: the same numbers for a testbed's recording and for a model's, with intervals."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks.hardware.bursts import FRAMES, INTERVAL, Plan, record
from benchmarks.hardware.fitting import Receiver, deviations, error_of, fit_receiver, temporal_model, with_own_air
from benchmarks.hardware.statistics import Curve, crossings, curve_of, halves_in_time, quantities, sample_of
from benchmarks.hardware.tables import read_curves, read_links
from benchmarks.hardware.temporal_files import write_temporal_model
from roambus.bridge.backends.radio.backend import RadioFactory
from roambus.bridge.formats.recordings import ROW, Recording
from roambus.bridge.formats.temporal_model import read_temporal_model
from roambus.bridge.system.errors import UserError

Row = tuple[int, int, int, int, float, float, int]


def recording(rows: list[Row], nodes: int = 4) -> Recording:
    return Recording("made up", "", 0.0, "", tuple(range(nodes)), np.array(rows, ROW))


def bursts(source: int, target: int, deliveries: list[float], rssi: float = -70) -> list[Row]:
    return [(at, source, target, 11, rssi + at, share, 100) for at, share in enumerate(deliveries)]


LINKS = [
    *bursts(0, 1, [1.0, 1.0, 1.0]),
    *bursts(1, 0, [0.4, 0.5, 0.6], -72),
    *bursts(0, 2, [0.05, 0.05, 0.05]),
    *bursts(2, 0, [0.95, 0.95, 0.95]),
]


def test_shares_asymmetry_and_change_are_those_of_the_links() -> None:
    """Two links are good, one is gray, one is dead; the pairs differ by 0.5 and by 0.9."""
    found = {name: quantity.value for name, quantity in quantities(sample_of(recording(LINKS))).items()}
    assert found["dead, below 0.1"] == found["gray, 0.1 to 0.9"] == 0.25
    assert found["good, above 0.9"] == 0.5
    assert found["mean difference of delivery"] == pytest.approx(0.7)
    assert found["difference of strength, sd, dB"] == pytest.approx(math.sqrt(2))
    assert found["delivery of gray links, sd"] == pytest.approx(0.1)
    assert found["strength of all links, sd, dB"] == pytest.approx(1)
    assert found["ordered pairs that hear each other"] == pytest.approx(4 / 12)


def test_bursts_of_few_frames_and_without_any_heard_are_left_out() -> None:
    """As in the reference's tables."""
    few = [(0, 2, 1, 11, -70.0, 1.0, 49), (0, 1, 2, 11, -70.0, 0.0, 100)]
    assert len(sample_of(recording([*LINKS, *few])).rows) == len(LINKS)


def test_an_interval_holds_the_value_and_shrinks_with_more_pairs() -> None:
    """Pairs are what is drawn again."""

    def width(nodes: int) -> float:
        random = np.random.default_rng(1)
        rows = [
            (0, a, b, 11, -70.0, float(random.choice([0.5, 1.0])), 100)
            for a in range(nodes)
            for b in range(nodes)
            if a != b
        ]
        share = quantities(sample_of(recording(rows, nodes)))["gray, 0.1 to 0.9"]
        assert share.low < share.value < share.high
        return share.high - share.low

    assert width(40) < width(8) / 2


def test_the_transition_is_where_the_median_crosses() -> None:
    """Linear between two bins; a curve that never falls has none."""
    dbm = np.arange(-93, -85)
    share = np.array([0, 0.2, 0.4, 0.6, 0.8, 1, 1, 1.0])
    tens, fifths, halves, nineties = crossings(Curve(dbm, dbm, share, share))
    assert (tens, fifths, halves, nineties) == pytest.approx((-92.5, -92, -90.5, -88.5))
    assert np.isnan(crossings(Curve(dbm, dbm, share + 0.95, share + 0.95))).all()


def test_a_receiver_is_found_again_from_its_curve() -> None:
    """With the interference that it suffers."""
    dbm = np.arange(-95, -30)
    share = Receiver(-94, 0.3, -65, 8).delivery(dbm)
    curve = Curve(dbm, dbm, share, share)
    fitted = fit_receiver(curve)
    assert error_of(fitted, curve).p90 < 0.01
    assert fitted.noise_dbm == pytest.approx(-94, abs=0.5)


def test_a_receiver_is_taken_to_busier_air() -> None:
    """Only how much of the time somebody else is on the air is another; the rest is what it was fitted to be."""
    dbm = np.arange(-95, -30)
    known, share = Receiver(-94, 0.1, -65, 8), Receiver(-94, 0.4, -65, 8).delivery(dbm)
    there = with_own_air(known, Curve(dbm, dbm, share, share))
    assert there.busy == pytest.approx(0.4, abs=0.001)
    assert there._replace(busy=known.busy) == known


def test_a_temporal_model_deviates_as_the_recording_does(tmp_path: Path) -> None:
    """And can be written for Castalia."""
    random = np.random.default_rng(2)
    rows = [
        (at, a, b, 11, -60 - 5 * a + random.normal(0, 2), 1.0, 100)
        for at in range(10)
        for a in range(8)
        for b in range(8)
        if a != b
    ]
    sample = sample_of(recording(rows, 8))
    assert deviations(sample).std() == pytest.approx(2, rel=0.1)
    model = temporal_model(sample)
    assert np.std(model.distributions[0][0].values) == pytest.approx(2, rel=0.1)
    (tmp_path / "model.txt").write_text(write_temporal_model(model))
    assert read_temporal_model(tmp_path / "model.txt").correlation_times == model.correlation_times


def test_halves_in_time_share_no_burst() -> None:
    """What is fitted on one is tried on the other."""
    first, second = halves_in_time(recording(LINKS))
    assert (first.rows["at"].max(), second.rows["at"].min()) == (1, 2)


def test_a_recording_of_the_embedded_radio_has_a_row_for_each_burst_heard() -> None:
    """Near nodes hear all of it; the strengths are those of the path loss."""
    plan = Plan(nodes=3, side_m=1, rounds=2, pause_s=1)
    found = record(RadioFactory(), plan, seed=1)
    assert len(found.rows) == 3 * 2 * 2
    assert set(found.rows["delivery"]) == {1.0}
    assert set(found.rows["sent"]) == {FRAMES}
    assert len(plan.frames()) == 3 * 2 * FRAMES
    assert plan.frames()[1].at - plan.frames()[0].at == INTERVAL
    assert curve_of(sample_of(found), least=1).mean.tolist() == [1.0] * len(curve_of(sample_of(found), least=1).mean)


def test_tables_are_read_and_wrong_rows_named(tmp_path: Path) -> None:
    """By file and line."""
    (tmp_path / "pdr_vs_rssi.csv").write_text("dataset,mean_rssi_dbm,samples,mean_pdr,median\na,-90,40,0.5,0.6\n")
    assert read_curves(tmp_path)["a"].median.tolist() == [0.6]
    (tmp_path / "pdr_vs_rssi.csv").write_text("dataset,mean_rssi_dbm,samples,mean_pdr,median\na,weak,40,0.5,0.6\n")
    with pytest.raises(UserError, match=r"pdr_vs_rssi\.csv:2: numbers were expected"):
        read_curves(tmp_path)
    (tmp_path / "links.csv").write_text("dataset\na\n")
    with pytest.raises(UserError, match=r"links\.csv:1: no column"):
        read_links(tmp_path)
