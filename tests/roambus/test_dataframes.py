"""Results as DataFrames, as notebooks use them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import roambus
from roambus.bridge.system.errors import UserError
from roambus.dataframes import Results
from roambus.experiments.comparing.loading import Loaded
from roambus.spark.aggregation.intervals import interval
from roambus.spark.metrics import catalogue as c
from roambus.spark.metrics.metric import Support
from tests.experiments.measured import measurements, write_measurements
from tests.spark.synthetic import write_trace

MEASURED = measurements(configs=("C2", "C4", "C16"), speeds=("2", "8", "10"), seeds=4)
METRIC = c.MESSAGES_PER_NODE


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """What is read of a folder with metrics."""
    folder = tmp_path_factory.mktemp("results")
    write_measurements(MEASURED, folder)
    return roambus.results(folder)


def test_what_there_is(results: Results) -> None:
    """Agents and axes in the sweep's order; values that are numbers are numbers."""
    assert results.agents == ["mft", "aodv"]
    assert results.axes == {"config": ["C2", "C4", "C16"], "speed": [2, 8, 10]}
    assert repr(results).endswith("72 runs, agents mft, aodv, axes config, speed>")
    assert results.problems == ()


def test_a_notebook_shows_results_and_figures(results: Results) -> None:
    """The main metrics of each point with intervals, and the figure that `roambus figures` draws, as a picture."""
    html = results._repr_html_()
    assert "72 runs" in html
    assert MEASURED.cell(c.DELIVERY_RATE_ALL, agent="aodv", config="C2", speed="2") in html
    drawn = results.figure(METRIC, against="speed", where={"config": "C16"}, agents=["mft"])
    assert drawn.file.name == "messages-per-node-against-speed-config-C16.png"
    assert drawn._repr_png_()[1:4] == b"PNG"
    with pytest.raises(UserError, match="hops_men"):
        results.figure("hops_men")


def test_every_metric_says_what_it_is(results: Results) -> None:
    """Title, unit and meaning, by the name of its column."""
    delay = results.metrics.loc[c.DELAY_MEAN_S]
    assert list(delay) == [
        "end-to-end delay (s)",
        "s",
        "Time from publication to first delivery, mean over delivered pairs.",
    ]
    assert results.metrics.loc[c.DELIVERY_RATE_ALL, "unit"] == ""
    assert set(results.metrics.index) == {metric.column for metric in c.METRICS}


def test_a_row_a_run(results: Results) -> None:
    """With its place, its metrics, and the packets of each type; what a notebook does to it changes nothing else."""
    runs = results.runs
    assert list(runs.columns[:4]) == ["agent", "config", "speed", "seed"]
    assert len(runs.query("agent == 'mft' and speed > 2 and config == 'C4'")) == 8
    runs[METRIC] = 0
    assert (results.runs[METRIC] > 0).all()
    assert "sent_RREQ" in runs


def test_points_are_means_of_runs(results: Results) -> None:
    """With half the width of the interval and the number of seeds, at the places asked for."""
    points = results.points(METRIC, where={"config": "C4", "speed": [2, 8]})
    assert list(points.columns) == ["agent", "config", "speed", "mean", "low", "high", "half_width", "n"]
    assert list(zip(points["agent"], points["speed"], strict=True)) == [
        ("mft", 2),
        ("mft", 8),
        ("aodv", 2),
        ("aodv", 8),
    ]
    runs = results.runs.query("agent == 'mft' and speed == 2 and config == 'C4'")[METRIC]
    assert points.loc[0, "mean"] == pytest.approx(runs.mean())
    assert points.loc[0, "half_width"] == pytest.approx(interval(runs, Support.POSITIVE).half_width)


def test_points_stand_in_the_order_of_lines(results: Results) -> None:
    """The axis against which they are drawn changes fastest, in the sweep's order: C2, C4, C16."""
    points = results.points(METRIC, against="config", where={"speed": np.float64(8)})
    assert list(points.columns[:3]) == ["agent", "speed", "config"]
    assert list(points["config"]) == ["C2", "C4", "C16"] * 2
    lines = results.points(METRIC, against="agent", where={"speed": 8})
    assert list(lines["agent"]) == ["mft", "aodv"] * 3


def test_pairs_are_runs_of_one_seed(results: Results) -> None:
    """The difference and its p are those of the paired t-test; all rows are adjusted together."""
    tests = results.paired(METRIC, "mft", "aodv", against="speed", where={"config": "C16"})
    assert list(tests["speed"]) == [2, 8, 10]
    by_agent = results.runs.query("config == 'C16' and speed == 8").pivot(index="seed", columns="agent", values=METRIC)
    row = tests.set_index("speed").loc[8]
    assert row["difference"] == pytest.approx((by_agent["mft"] - by_agent["aodv"]).mean())
    assert row["p"] == pytest.approx(stats.ttest_rel(by_agent["mft"], by_agent["aodv"]).pvalue)
    assert (tests["p_holm"] >= tests["p"]).all()
    back = results.paired(METRIC, "aodv", "mft", against="speed", where={"config": "C16"})
    pd.testing.assert_series_equal(back["difference"], -tests["difference"])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("hop_mean", "mft", "aodv"), "unknown metric 'hop_mean': did you mean 'hops_mean'"),
        ((METRIC, "mtf", "aodv"), "unknown agent 'mtf': did you mean 'mft'"),
        ((METRIC, "mft", "mft"), "'mft' cannot be compared with itself: name two agents"),
        ((METRIC, "mft", "aodv", "sped"), "unknown axis 'sped': did you mean 'speed'"),
    ],
)
def test_names_that_there_are_not(results: Results, asked: tuple[Any, ...], message: str) -> None:
    """One message, as on the command line."""
    with pytest.raises(UserError, match=message):
        results.paired(*asked)


def test_a_folder_that_holds_no_results(tmp_path: Path) -> None:
    """Is the caller's mistake, which a notebook can catch."""
    with pytest.raises(roambus.UserError, match="holds no runs"):
        roambus.results(str(tmp_path))


def test_damaged_runs_warn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The first is named, and all are kept."""
    loaded = Loaded(tmp_path, MEASURED, ("x: damaged", "y: damaged"))
    monkeypatch.setattr("roambus.dataframes.load", lambda *_: loaded)
    with pytest.warns(UserWarning, match="2 runs are left out; the first: x: damaged"):
        found = roambus.results(tmp_path)
    assert found.problems == ("x: damaged", "y: damaged")


def test_missing_runs_warn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A sweep that was interrupted has fewer seeds than its request: `aggregate` names that, and so does this."""
    write_trace(tmp_path, "agent=a/seed=0", [])
    (tmp_path / "sweep.json").write_text('{"agents": {"a": ["a", {}]}, "axes": {}, "seeds": [0, 1]}')
    monkeypatch.setattr("roambus.dataframes.load", lambda *_: Loaded(tmp_path, MEASURED, ()))
    with pytest.warns(UserWarning, match="1 of 2 runs are missing|one run is missing|missing"):
        found = roambus.results(tmp_path)
    assert len(found.problems) == 1
    assert "missing" in found.problems[0]
