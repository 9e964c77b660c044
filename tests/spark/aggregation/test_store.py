"""The store holds what is right for the traces as they are now, whatever was there before and wherever it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import UnfinishedFile
from roambus.spark.aggregation.computation import METRICS_SCHEMA, RUN, SENT
from roambus.spark.aggregation.store import MetricsStore, missing_from, opened_store
from roambus.spark.aggregation.traces import Trace
from roambus.spark.metrics.catalogue import MESSAGES

Sweep = dict[int, int]
"""The version of each run's trace."""


def trace(run: int, version: int) -> Trace:
    return Trace(Path(f"{run}"), f"seed={run}", 1000, version)


def metrics(traces: list[Trace]) -> pa.Table:
    """Any metrics that differ between versions."""
    rows = [{RUN: each.run, MESSAGES: each.modified_ns, SENT: [("A", each.modified_ns)]} for each in traces]
    return pa.Table.from_pylist(rows, METRICS_SCHEMA)


def aggregated(folder: Path, traces: list[Trace], definition: str = "d") -> list[dict[str, object]]:
    """As `roambus.spark.aggregation.aggregate` goes about it, two runs a batch."""
    store = MetricsStore(folder, definition)
    waiting = missing_from(store.rows_of(traces), traces)
    for start in range(0, len(waiting), 2):
        store.add(metrics(waiting[start : start + 2]), waiting)
    store.keep_only(store.rows_of(traces))
    rows: list[dict[str, object]] = store.rows_of(traces).sort_by(RUN).to_pylist()
    return rows


def afresh(traces: list[Trace]) -> list[dict[str, object]]:
    with TemporaryDirectory() as folder:
        return aggregated(Path(folder), traces)


SWEEPS = st.lists(st.dictionaries(st.integers(0, 6), st.integers(0, 2)), max_size=5)


@pytest.mark.slow
@settings(max_examples=40)
@given(SWEEPS)
def test_in_any_order(sweeps: list[Sweep]) -> None:
    """Runs may come, go and be replaced between aggregations: the last one finds what a first one would."""
    with TemporaryDirectory() as folder:
        for sweep in sweeps:
            traces = [trace(run, version) for run, version in sweep.items()]
            assert aggregated(Path(folder), traces) == afresh(traces)
            assert len(list(Path(folder).iterdir())) == (1 if traces else 0)


class KilledError(Exception):
    """Stands for the end of the process."""


@pytest.mark.parametrize("step", range(8))
def test_killed_at_any_step(step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a kill before any file is finished or removed, the next aggregation finds what a first one would."""
    before, after = ([trace(run, version) for run in range(5)] for version in (0, 1))
    aggregated(tmp_path, before[:3])
    steps = iter(range(step))

    def or_killed(function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: Any, **options: Any) -> object:
            if not options and next(steps, None) is None:  # unlink with an option is what a killed process cannot do
                raise KilledError
            return function(*arguments, **options)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(UnfinishedFile, "finish", or_killed(UnfinishedFile.finish))
        patch.setattr(Path, "unlink", or_killed(Path.unlink))
        with pytest.raises(KilledError):
            aggregated(tmp_path, after)
    assert aggregated(tmp_path, after) == afresh(after)


def test_only_what_is_new_is_computed(tmp_path: Path) -> None:
    """A trace of another size or time is another trace; one that is as before is known."""
    known = trace(0, 0)
    aggregated(tmp_path, [known])
    others = [replace(known, size=1001), replace(known, modified_ns=9), trace(1, 0)]
    for other in others:
        rows = MetricsStore(tmp_path, "d").rows_of([known, other])
        assert missing_from(rows, [known, other]) == [other]


def test_other_metrics_know_nothing(tmp_path: Path) -> None:
    """What other code computed is not taken over, and goes."""
    aggregated(tmp_path, [trace(0, 0)])
    assert len(MetricsStore(tmp_path, "other").rows_of([trace(0, 0)])) == 0
    aggregated(tmp_path, [trace(0, 0)], "other")
    assert [file.name.split("-")[0] for file in tmp_path.iterdir()] == ["other"]


def test_rows_with_further_metrics_serve_whoever_wants_those_of_every_run(tmp_path: Path) -> None:
    """Not the other way round, and not if the code of the metrics of every run is another."""
    aggregated(tmp_path, [trace(0, 0)], "c0de0001" + "e" * 8)
    for definition, rows in (("c0de0001" + "0" * 8, 1), ("c0de0002" + "0" * 8, 0), ("c0de0001" + "f" * 8, 0)):
        assert len(MetricsStore(tmp_path, definition).rows_of([trace(0, 0)])) == rows


def test_damaged_store(tmp_path: Path) -> None:
    """A part that cannot be read counts as absent, and is replaced."""
    aggregated(tmp_path, [trace(0, 0)])
    (part,) = tmp_path.iterdir()
    part.write_bytes(part.read_bytes()[:-9])
    assert len(MetricsStore(tmp_path, "d").rows_of([trace(0, 0)])) == 0
    assert aggregated(tmp_path, [trace(0, 0)]) == afresh([trace(0, 0)])


def test_one_at_a_time(tmp_path: Path) -> None:
    """A second aggregation of the same results is refused while the first is at work."""
    with (
        opened_store(tmp_path),
        pytest.raises(UserError, match="in use by another aggregation"),
        opened_store(tmp_path),
    ):
        pass
