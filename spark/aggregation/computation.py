"""Computes the metrics of traces with Spark, in batches: one row for each run comes back, and nothing else.

A batch is read once for each summary of `roambus.spark.metrics.run_metrics`. A trace whose rows are not all found, or
that holds something else where metrics need numbers, is reported and left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from roambus.bridge.errors import RoambusError
from roambus.bridge.trace.schema import DETAIL
from roambus.python_protocol.actions import ENERGY, PUBLISH, ROUTE
from roambus.spark.aggregation.traces import (
    Trace,
    damaged_pages,
    mark_warm_ups,
    read_traces,
    readable_names,
    run_numbers,
)
from roambus.spark.metrics.catalogue import COUNTS, METRICS, Kind
from roambus.spark.metrics.extra import EXTRA, NOTHING, OBSERVATIONS, Extra, measure_extra
from roambus.spark.metrics.run_metrics import (
    NONSENSE,
    ROWS_READ,
    RUN,
    SENT,
    first_migrations,
    run_metrics,
    summarise_nodes,
    summarise_pairs,
    summarise_rows,
)

ROWS_A_CORE = 10_000_000
"""The rows of a batch for each core: some 20 s of work, so that a kill costs little and Spark needs little memory."""

ROWS_OF_ONE_TASK = 200_000
"""A batch of so many rows is small: to divide it, and to compile its plan, would take longer than that saves."""

Row = dict[str, Any]


_TYPES = {Kind.COUNT: pa.int64(), Kind.WHOLE: pa.int32(), Kind.REAL: pa.float64()}
METRICS_SCHEMA = pa.schema(
    [
        pa.field(RUN, pa.string(), nullable=False),
        *(pa.field(metric.column, _TYPES[metric.kind]) for metric in METRICS),
        pa.field(SENT, pa.map_(pa.string(), pa.int64())),
        pa.field(EXTRA, pa.map_(pa.string(), pa.float64())),
        pa.field(OBSERVATIONS, pa.map_(pa.string(), pa.list_(pa.float64()))),
    ]
)
"""A row for each run: its place, its metrics, the packets sent of each message type, and what a study adds."""


def batches(traces: Sequence[Trace], rows: int) -> Iterator[list[Trace]]:
    """Divides the traces into groups of at least that many rows; the last group can have fewer.

    Traces are taken in the order of their keys, which is as good as random: the time that the first groups take tells
    how long the others will take.
    """
    batch: list[Trace] = []
    for trace in sorted(traces, key=lambda each: (each.key, each.run)):
        batch.append(trace)
        if sum(each.rows for each in batch) >= rows:
            yield batch
            batch = []
    if batch:
        yield batch


def compute(session: SparkSession, traces: Sequence[Trace], extra: Extra = NOTHING) -> tuple[pa.Table, dict[Path, str]]:
    """The metrics of these traces (`METRICS_SCHEMA`), and a line for each file that turns out to be damaged.

    Raises RoambusError if Spark fails, UserError if `extra` does.
    """
    found = _rows(session, traces, extra)
    problems = {trace.file: problem for trace in traces if (problem := _problem(trace, found.get(trace.run, {})))}
    sound = [{RUN: trace.run, **_EMPTY, **found.get(trace.run, {})} for trace in traces if trace.file not in problems]
    return pa.Table.from_pylist(sound, METRICS_SCHEMA), problems


_EMPTY: Row = {**dict.fromkeys(COUNTS, 0), SENT: [], EXTRA: [], OBSERVATIONS: []}
"""The row of a trace without any row, which Spark cannot give."""


def _rows(session: SparkSession, traces: Sequence[Trace], extra: Extra) -> dict[str, Row]:
    """The row that Spark finds for each run."""
    try:
        with readable_names(session, [trace.file for trace in traces]) as names:
            runs = dict(zip(names, (trace.run for trace in traces), strict=True))
            opened = _opened(session, names)
            if opened is None:
                return {}
            numbers, ends = opened[0], dict(zip(names, (trace.warm_up_s for trace in traces), strict=True))
            read = mark_warm_ups(session, opened[1], {number: ends[name] for number, name in numbers.items()})
            # A small batch is one task by a plan that is not compiled; any other one is divided as Spark sees fit.
            is_small = sum(trace.rows for trace in traces) <= ROWS_OF_ONE_TASK
            session.conf.set("spark.sql.codegen.wholeStage", not is_small)
            read = read.coalesce(1) if is_small else read
            # First: if a file vanishes meanwhile, the readings that count rows notice.
            measured = measure_extra(read, extra)
            rows = _collected(read)
    except PySparkException as error:
        problem = str(error).partition("\n")[0]
        raise RoambusError(f"Spark could not compute the metrics of {len(traces)} traces: {problem}") from error
    named = ({**row, **measured.get(row[RUN], {}), RUN: runs[numbers[row[RUN]]]} for row in rows if row[RUN] in numbers)
    return {row[RUN]: {**row, SENT: row[SENT] or []} for row in named}


def _opened(session: SparkSession, files: Sequence[Path]) -> tuple[dict[int, Path], DataFrame] | None:
    """Those files that have not vanished since their footers were read, by number, and their rows; None if all have.

    Spark looks for all files when it plans a reading, and gives up at the first that is not there. Another one can
    vanish while the rest is planned again, so this goes on until what is there can be opened, or nothing is left.
    """
    while there := [file for file in files if file.exists()]:
        try:
            return run_numbers(session, there), read_traces(session, there)
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
    return None


def _collected(traces: DataFrame) -> list[Row]:
    nodes = summarise_nodes(traces).persist()
    rows = summarise_rows(traces, first_migrations(nodes)).persist()
    try:
        found: list[Row] = run_metrics(rows, nodes, summarise_pairs(traces)).toArrow().to_pylist()
    finally:
        rows.unpersist()
        nodes.unpersist()
    return found


def _problem(trace: Trace, row: Row) -> str | None:
    if row.get(NONSENSE):
        return (
            f"{trace.file}: a {PUBLISH}, {ROUTE} or {ENERGY} row whose {DETAIL} holds no numbers, or a row at no time: "
            "correct its agent"
        )
    rows_read = row.get(ROWS_READ) or 0
    return damaged_pages(trace, rows_read) if rows_read != trace.rows else None
