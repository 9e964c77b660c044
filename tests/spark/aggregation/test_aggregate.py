"""Aggregation names what it cannot read, keeps the rest, and writes the same files again and again."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from roambus.bridge.runs.layout import SWEEP_FILE, TRACES
from roambus.bridge.system.errors import UserError
from roambus.experiments.measurements import read_measurements
from roambus.spark.aggregation.aggregate import aggregate
from tests.spark.synthetic import Row, publish, random_trace, write_trace

FILES = ("runs.csv", "runs.parquet", "points.csv", "points.parquet")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, session: SparkSession) -> Path:
    """Results of two agents over an axis called `nodes` and one that is called like a metric."""
    results = tmp_path_factory.mktemp("sound")
    for agent in ("b", "a"):
        for nodes in (10, 9):
            for seed in (0, 1, 10):
                rows = random_trace(seed + nodes, publications=10)
                write_trace(results, f"agent={agent}/nodes={nodes}/messages=x+y/seed={seed}", rows)
    assert aggregate(results) == []
    return results


def damaged_copy(sound: Path, folder: Path) -> Path:
    """The results with a trace cut short, one of other columns, and one that was never written."""
    shutil.copytree(sound / TRACES / "agent=a/nodes=9", folder / TRACES / "agent=a/nodes=9")
    runs = [folder / TRACES / f"agent=a/nodes=9/messages=x+y/seed={seed}/trace.parquet" for seed in (0, 1, 2)]
    runs[0].write_bytes(runs[0].read_bytes()[:-20])
    pq.write_table(pa.table({"x": [1]}), runs[1])
    asked = {"agents": {"a": ["a", {}]}, "axes": {"nodes": ["9"], "messages": ["x+y"]}, "seeds": [0, 1, 2, 10]}
    (folder / SWEEP_FILE).write_text(json.dumps(asked))
    return folder


def test_rows_are_in_natural_order(sound: Path) -> None:
    """Runs are sorted by agent, axes and seed, numbers by value; an axis called like a metric gets a prefix."""
    runs = pd.read_csv(sound / "metrics" / "runs.csv")
    assert list(runs.columns[:4]) == ["agent", "nodes", "axis_messages", "seed"]
    assert [tuple(row) for row in runs[["agent", "nodes", "seed"]].to_numpy()] == [
        (agent, nodes, seed) for agent in "ab" for nodes in (9, 10) for seed in (0, 1, 10)
    ]
    assert set(runs["axis_messages"]) == {"x+y"}


def test_tables_of_other_runs_than_there_are_are_refused(sound: Path, tmp_path: Path) -> None:
    """More seeds since the last aggregation: captions would have their number, and lines the means of fewer."""
    results = tmp_path / "copied"
    shutil.copytree(sound, results)
    assert len(read_measurements(results).runs) == 12
    added = results / TRACES / "agent=a/nodes=9/messages=x+y"
    shutil.copytree(added / "seed=10", added / "seed=11")
    with pytest.raises(UserError, match=r"runs.parquet: the runs have changed since: run `roambus aggregate"):
        read_measurements(results)
    shutil.rmtree(results / TRACES)
    assert len(read_measurements(results).runs) == 12


def test_csv_and_parquet_say_the_same(sound: Path) -> None:
    """Both forms of a table hold the same values; in Parquet axes are texts."""
    for name in ("runs", "points"):
        parquet = pd.read_parquet(sound / "metrics" / f"{name}.parquet")
        assert list(parquet["nodes"].unique()) == ["9", "10"]
        csv = pd.read_csv(sound / "metrics" / f"{name}.csv", dtype={"nodes": str})
        pd.testing.assert_frame_equal(csv, parquet, check_dtype=False)


def test_same_traces_same_files(sound: Path) -> None:
    """Aggregating again gives every file again, byte for byte, and leaves no other."""
    folder = sound / "metrics"
    before = {name: (folder / name).read_bytes() for name in FILES}
    aggregate(sound)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_run_in_which_nothing_happened(sound: Path, tmp_path: Path) -> None:
    """A trace without rows is a run of its own, with 0 packets of every type that others sent."""
    shutil.copytree(sound / TRACES / "agent=a/nodes=9", tmp_path / TRACES / "agent=a/nodes=9")
    write_trace(tmp_path, "agent=a/nodes=9/messages=x+y/seed=2", [])
    assert aggregate(tmp_path) == []
    runs = pd.read_csv(tmp_path / "metrics" / "runs.csv", index_col="seed")
    assert list(runs.index) == [0, 1, 2, 10]
    assert [runs[column].loc[2] for column in ("expected", "messages", "sent_A", "sent_B")] == [0, 0, 0, 0]


def test_damaged_and_missing_runs_are_named_and_skipped(sound: Path, tmp_path: Path) -> None:
    """What cannot be used has a line with its file, or its folder; the others are aggregated all the same."""
    problems = aggregate(damaged_copy(sound, tmp_path))
    assert [re.findall(r"seed=(\d+)", problem) for problem in problems] == [["0"], ["1"], ["2"]]
    assert ["damaged" in problems[0], "columns" in problems[1], "missing" in problems[2]] == [True] * 3
    assert list(pd.read_csv(tmp_path / "metrics" / "runs.csv")["seed"]) == [10]


def test_no_traces(tmp_path: Path) -> None:
    """A folder without traces is the user's mistake, and nothing is written."""
    with pytest.raises(UserError, match=r"holds no trace\.parquet: give the folder that a sweep wrote"):
        aggregate(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_only_damaged_traces(tmp_path: Path) -> None:
    """If no trace can be read, the message names the first."""
    file = write_trace(tmp_path, "agent=a/seed=0", [])
    file.write_bytes(b"nonsense")
    with pytest.raises(UserError, match=r"seed=0/trace\.parquet: damaged"):
        aggregate(tmp_path)


@pytest.mark.usefixtures("session")
def test_rows_that_make_no_sense(tmp_path: Path) -> None:
    """A list of subscribers that are no numbers is an agent's mistake: the message names the trace."""
    nonsense: Row = {**publish(1.0, 0, "0.0", []), "detail": "1 two"}
    write_trace(tmp_path, "agent=a/seed=0", [nonsense])
    with pytest.raises(UserError, match=r"seed=0/trace\.parquet: a publish row whose detail holds no numbers"):
        aggregate(tmp_path)


def test_folder_that_cannot_be_written(sound: Path, tmp_path: Path) -> None:
    """A file where the metrics should go is named in the message."""
    shutil.copytree(sound / TRACES / "agent=a/nodes=9", tmp_path / TRACES / "agent=a/nodes=9")
    (tmp_path / "metrics").write_text("in the way")
    with pytest.raises(UserError, match="metrics"):
        aggregate(tmp_path)
