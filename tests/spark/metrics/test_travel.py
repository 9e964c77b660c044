"""How far nodes travel, on a trace whose metres one can count by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import MOVE, TraceRow
from roambus.python_protocol.simtime import SECOND
from roambus.spark.metrics.extra import own_metrics
from roambus.spark.metrics.run import Run


def run_of(folder: Path, *moves: tuple[int, int, str]) -> Run:
    trace = TraceWriter()
    for second, node, place in moves:
        trace.add(TraceRow(second * SECOND, node, MOVE, detail=place))
    trace.write(folder / "trace.parquet", {})
    return Run(folder / "trace.parquet")


def measured(run: Run) -> dict[str, float]:
    return {metric.column: metric(run) for metric in own_metrics("travel").metrics}


def test_metres_are_those_of_the_lines_between_rows(tmp_path: Path) -> None:
    """Node 0 goes 5 m and 10 m, node 1 rests, and node 2 jumps before it goes 3 m."""
    run = run_of(
        tmp_path,
        *((0, 0, "0.000 0.000"), (0, 1, "9.000 9.000"), (0, 2, "0.000 0.000")),
        *((2, 0, "3.000 4.000"), (3, 2, "0.000 0.000"), (3, 2, "50.000 0.000")),
        *((5, 0, "3.000 14.000"), (6, 2, "50.000 3.000")),
    )
    assert measured(run) == {"metres_per_node": 6.0, "metres_max": 15.0}


def test_a_trace_without_places_has_no_metres(tmp_path: Path) -> None:
    """As one over given links."""
    assert all(map(math.isnan, measured(run_of(tmp_path)).values()))


def test_the_metrics_are_asked_for_by_name() -> None:
    """Not of every run."""
    assert [metric.column for metric in own_metrics("travel").metrics] == ["metres_per_node", "metres_max"]
    with pytest.raises(Exception, match="travel"):
        own_metrics("travels")
