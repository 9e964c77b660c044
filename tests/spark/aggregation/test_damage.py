"""Whatever is wrong with a trace, it is named and skipped, and the metrics of all others are as without it."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from roambus.bridge.runs.layout import find_traces
from roambus.bridge.trace.parquet import write_trace as write_file
from roambus.bridge.trace.schema import BYTES, DETAIL, EVENT, TIME_S, TRACE_SCHEMA
from roambus.python_protocol.trace_rows import ENERGY, SEND
from roambus.spark.aggregation.aggregate import aggregate, metrics_of
from roambus.spark.aggregation.computation import measure
from roambus.spark.aggregation.traces import list_traces
from roambus.spark.metrics.extra import NOTHING
from tests.spark.synthetic import Row, deliver, publish, random_trace, write_trace

Harm = Callable[[Path], object]


def flipped(file: Path, column: str) -> None:
    """One bit near the end of a column's last page, with everything else as it was."""
    names = [field.name for field in TRACE_SCHEMA]
    chunk = pq.read_metadata(file).row_group(0).column(names.index(column))
    content = bytearray(file.read_bytes())
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    content[start + chunk.total_compressed_size - 3] ^= 16
    file.write_bytes(content)


def rewritten(file: Path, rows: list[Row]) -> None:
    write_file(pa.Table.from_pylist(rows, TRACE_SCHEMA), file, {})


def folder_instead(file: Path) -> None:
    file.unlink()
    file.mkdir()


NO_NUMBERS = "row whose detail holds no numbers"
DAMAGES: dict[str, tuple[Harm, str]] = {
    "truncated": (lambda file: file.write_bytes(file.read_bytes()[:-20]), "damaged"),
    "empty": (lambda file: file.write_bytes(b""), "damaged"),
    "not-parquet": (lambda file: file.write_text("PAR1 it is not"), "damaged"),
    "folder": (folder_instead, "damaged"),
    "other-columns": (lambda file: pq.write_table(pa.table({"x": [1]}), file), "its columns are not those of a trace"),
    "flipped-time": (lambda file: flipped(file, TIME_S), "damaged"),
    "flipped-bytes": (lambda file: flipped(file, BYTES), "damaged"),
    "flipped-detail": (lambda file: flipped(file, DETAIL), "damaged"),
    "words-for-nodes": (lambda file: rewritten(file, [{**publish(1, 0, "0.0", []), DETAIL: "1 two"}]), NO_NUMBERS),
    "half-a-node": (lambda file: rewritten(file, [{**publish(1, 0, "0.0", []), DETAIL: "1.5"}]), NO_NUMBERS),
    "huge-node": (lambda file: rewritten(file, [{**publish(1, 0, "0.0", []), DETAIL: "99999999999"}]), NO_NUMBERS),
    "no-energy": (lambda file: rewritten(file, [{**deliver(1, 0, "", 1), EVENT: ENERGY, DETAIL: "NaN"}]), NO_NUMBERS),
    "no-time": (
        lambda file: rewritten(file, [{**deliver(float("nan"), 0, "", 1), EVENT: SEND}]),
        "a row with time_s nan",
    ),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with each damage, and as many sound ones."""
    folder = tmp_path_factory.mktemp("results")
    for seed, (name, (harm, _)) in enumerate(DAMAGES.items()):
        harm(write_trace(folder, f"agent={name}/seed=0", random_trace(seed, publications=10)))
        write_trace(folder, f"agent=sound/seed={seed}", random_trace(seed, publications=10))
    return folder


@pytest.fixture(scope="module")
def problems(results: Path, session: SparkSession) -> list[str]:
    return aggregate(results)


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_traces_are_named(problems: list[str], name: str) -> None:
    """One line, with the file and what is wrong with it."""
    (line,) = (problem for problem in problems if f"agent={name}/" in problem)
    assert DAMAGES[name][1] in line


@pytest.mark.slow
def test_sound_traces_are_whole(results: Path, problems: list[str], tmp_path: Path) -> None:
    """Just the sound runs have metrics: those that they have where nothing is damaged."""
    for seed in range(len(DAMAGES)):
        write_trace(tmp_path, f"agent=sound/seed={seed}", random_trace(seed, publications=10))
    aggregate(tmp_path)
    for table in ("runs.csv", "points.csv"):
        assert (results / "metrics" / table).read_text() == (tmp_path / "metrics" / table).read_text()
    assert len(problems) == len(DAMAGES)


def test_damage_is_known_without_spark(results: Path, problems: list[str]) -> None:
    """As long as the file is as it was; whoever doubts that asks for everything afresh."""
    assert aggregate(results, "no master is asked for") == problems
    assert aggregate(results, afresh=True) == problems


def test_what_a_disk_fails_to_read_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It need not be damage; what the file holds is."""

    def failing(_: object, **__: object) -> NoReturn:
        raise OSError(errno.EIO, "Input/output error")

    file = write_trace(tmp_path, "agent=a/seed=0", [])
    with monkeypatch.context() as patched:
        patched.setattr(pq, "ParquetFile", failing)
        found = measure(file, 1.0, NOTHING)
    assert found == {
        "problem": "damaged ([Errno 5] Input/output error): run the sweep again to repeat it",
        "passes": True,
    }


def test_a_trace_that_vanishes(tmp_path: Path, session: SparkSession) -> None:
    """One that goes before its turn comes is named, and the other one is there."""
    for seed in (0, 1):
        write_trace(tmp_path, f"agent=a/seed={seed}", random_trace(seed, publications=10))
    traces, _ = list_traces(find_traces(tmp_path))
    traces[0].file.unlink()
    metrics, problems = metrics_of(tmp_path, traces)
    assert list(metrics.index) == ["agent=a/seed=1"]
    assert problems == {traces[0].file: f"{traces[0].file}: vanished while it was read: run the sweep again to add it"}
