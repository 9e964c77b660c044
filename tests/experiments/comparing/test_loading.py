"""Which folders hold a sweep's runs, and what is said of others."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from roambus.bridge.runs.layout import SWEEP_FILE
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.experiments.comparing import loading
from roambus.experiments.comparing.comparison import CompareOptions, check_names
from roambus.experiments.comparing.loading import load
from roambus.spark.aggregation import aggregate
from roambus.spark.aggregation.computation import EXTRA, SENT
from roambus.spark.aggregation.traces import Trace
from roambus.spark.metrics.catalogue import DELIVERED, METRICS
from roambus.spark.metrics.extra import Extra
from tests.experiments.measured import measurements, write_measurements
from tests.spark.synthetic import write_trace

RUN = "agent=a/speed=2/seed=0"


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metrics that no Spark has to compute: as many deliveries as the run's seed says."""

    def metrics_of(_: Path, traces: list[Trace], __: Extra, progress: object) -> tuple[pd.DataFrame, dict[Path, str]]:
        empty = dict.fromkeys((metric.column for metric in METRICS), float("nan"))
        rows = [{**empty, DELIVERED: float(trace.run[-1]), SENT: {"A": 1}, EXTRA: {}} for trace in traces]
        return pd.DataFrame(rows, index=[trace.run for trace in traces]), {}

    monkeypatch.setattr(loading, "metrics_of", metrics_of)


@pytest.mark.usefixtures("computed")
def test_runs_are_read_from_their_traces(tmp_path: Path) -> None:
    """Agent, axes and seed by the run's folder, whether a sweep.json describes them or not."""
    for seed in range(3):
        write_trace(tmp_path, RUN.replace("seed=0", f"seed={seed}"), [])
    measured = load(tmp_path).measured
    assert list(measured.runs[["agent", "speed", "seed", DELIVERED]].iloc[1]) == ["a", "2", 1, 1.0]
    (point,) = measured.point(DELIVERED, agent="a").to_dict("records")
    assert (point["mean"], point["n"]) == (1.0, 3)


@pytest.mark.usefixtures("session")
def test_a_damaged_run_is_left_out_and_named(tmp_path: Path) -> None:
    """The others are there."""
    write_trace(tmp_path, RUN, [])
    cut = write_trace(tmp_path, "agent=a/speed=2/seed=1", [])
    cut.write_bytes(cut.read_bytes()[:-20])
    loaded = load(tmp_path)
    assert len(loaded.measured.runs) == 1
    (problem,) = loaded.problems
    assert problem.startswith(f"{cut}: damaged")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (CompareOptions(against="brokers"), "unknown axis 'brokers': there is agent, speed"),
        (CompareOptions(("b",)), "unknown agent 'b': there is a"),
        (CompareOptions(where={"speed": ("3",)}), "unknown value of speed '3': there is 2"),
        (CompareOptions(metrics=("hop_mean",)), "unknown metric 'hop_mean': did you mean 'hops_mean'?"),
    ],
)
def test_a_wrong_name_is_refused_before_anything_is_computed(
    asked: CompareOptions, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark takes half a minute for a few runs; the folders have the names at once."""
    monkeypatch.setattr(loading, "metrics_of", None)
    write_trace(tmp_path, RUN, [])
    with pytest.raises(UserError, match=message):
        load(tmp_path, check=partial(check_names, asked=asked))


def test_without_traces_the_tables_of_an_aggregation_do(tmp_path: Path) -> None:
    """Traces are large; what was aggregated can be compared without them."""
    measured = measurements(configs=("C2",), speeds=("2",), seeds=2)
    write_measurements(measured, tmp_path)
    pd.testing.assert_frame_equal(load(tmp_path).measured.runs, measured.runs)


def test_a_study_of_one_sweep(tmp_path: Path) -> None:
    """Its folder, or that of the only sweep in it, can be given; of several one has to be chosen."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        write_measurements(measurements(configs=("C2",), speeds=("2",), seeds=2), tmp_path / name)
    with pytest.raises(UserError, match=r"holds several sweeps: give one of .*one, .*other"):
        load(tmp_path)
    (tmp_path / "one" / SWEEP_FILE).unlink()
    assert load(tmp_path).folder == tmp_path / "other"


def test_what_holds_no_runs(tmp_path: Path) -> None:
    """No such folder; an empty one; one with damaged runs only."""
    with pytest.raises(UserError, match="new: there is no such folder; make one with roambus sweep"):
        load(tmp_path / "new")
    with pytest.raises(UserError, match="holds no runs: give the folder that a sweep wrote"):
        load(tmp_path)
    write_trace(tmp_path, RUN, []).write_bytes(b"nonsense")
    with pytest.raises(UserError, match=r"no run can be read; the first: .*seed=0/trace\.parquet: damaged"):
        load(tmp_path)


@pytest.mark.parametrize(
    "place",
    [
        "agent=a/speed/seed=0",
        "agent=a/speed=2/seed=x",
        "agent=a/speed=2/seed=00",
        "agent=a/speed=1/speed=2/seed=0",
        "agent=a/speed=a b/seed=0",
    ],
)
def test_a_run_where_no_sweep_puts_it(place: str, tmp_path: Path) -> None:
    """Is named, with what its folder should look like."""
    write_trace(tmp_path, place, [])
    with pytest.raises(UserError, match="no sweep puts a run there"):
        load(tmp_path)


def test_a_folder_with_control_characters_is_no_run(tmp_path: Path) -> None:
    """They would reach the terminal."""
    write_trace(tmp_path, "agent=a/speed=\x1b[2J/seed=0", [])
    with pytest.raises(UserError, match="the name of a folder has control characters: remove or rename it"):
        load(tmp_path)


def test_runs_with_different_axes(tmp_path: Path) -> None:
    """Cannot be compared."""
    write_trace(tmp_path, RUN, [])
    write_trace(tmp_path, "agent=b/seed=0", [])
    with pytest.raises(UserError, match="agent=b/seed=0: has other axes than agent=a/speed=2/seed=0: keep them in two"):
        load(tmp_path)


@pytest.mark.usefixtures("computed")
@pytest.mark.parametrize("text", ["[1, 2]", '{"axes": [1]}', '{"agents": 3}'])
def test_a_description_of_something_else(text: str, tmp_path: Path) -> None:
    """A sweep.json that is sound JSON but no sweep is the file that is named."""
    write_trace(tmp_path, RUN, [])
    (tmp_path / SWEEP_FILE).write_text(text)
    with pytest.raises(UserError, match=r"sweep\.json: .*: restore it"):
        load(tmp_path)


@pytest.mark.usefixtures("computed")
def test_metrics_of_a_study_are_among_them(tmp_path: Path) -> None:
    """A sweep of a study of ours is known by its names, and what the study measures can be compared."""
    write_trace(tmp_path, "agent=mft/speed=2/seed=0", [])
    (tmp_path / SWEEP_FILE).write_text(json.dumps({"study": "thesis-acknowledged", "sweep": "thesis-acknowledged"}))
    measured = load(tmp_path).measured
    assert "mac_retransmissions" in measured.runs
    assert "mac_retransmissions" in {metric.column for metric in measured.metrics}


def test_results_that_were_never_aggregated_say_so_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes a while, in which one would not know what is going on."""
    lines: list[str] = []

    class Noting:
        note = staticmethod(lines.append)

    def compute(*_: object) -> None:
        raise RoambusError(f"{len(lines)} line was printed")

    write_trace(tmp_path, RUN, [])
    monkeypatch.setattr(aggregate, "_compute_missing", compute)
    with pytest.raises(RoambusError, match="1 line was printed"):
        load(tmp_path, progress=Noting())  # type: ignore[arg-type]  # it tells, and shows nothing
    assert lines == [f"{tmp_path}: 1 of 1 runs are not aggregated yet: Spark starts and computes their metrics"]


@pytest.mark.usefixtures("session")
def test_reading_leaves_results_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Metrics that nobody has computed yet are kept in the user's cache, and not computed again."""
    results = tmp_path / "results"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_trace(results, RUN, [])
    before = sorted(results.rglob("*"))
    first = load(results).measured
    assert sorted(results.rglob("*")) == before
    assert list((tmp_path / "cache/roambus/metrics").rglob("*.parquet"))
    monkeypatch.setattr(aggregate, "spark_session", None)
    pd.testing.assert_frame_equal(load(results).measured.runs, first.runs)
