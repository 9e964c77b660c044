"""From a sweep's traces to its tables: a row for each run, and means with 95 % intervals over seeds.

Known runs come from the store; without others Spark does not start. Each batch is stored at once, so a killed
aggregation resumes. Files, CSV and Parquet, are written in one step.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roambus.bridge.runs.layout import (
    AGENT,
    METRICS_FOLDER,
    POINTS,
    RUNS,
    SEED,
    STORE_FOLDER,
    TRACE_FILE,
    TRACES,
    find_traces,
    unlinked,
    writing,
)
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import check_replaceable
from roambus.spark.aggregation.alike import check_alike, check_axes
from roambus.spark.aggregation.computation import (
    EXTRA,
    METRICS_SCHEMA,
    PROBLEM,
    RUN,
    SENT,
    batches,
    computer,
    problems_of,
)
from roambus.spark.aggregation.intervals import ends
from roambus.spark.aggregation.store import MetricsStore, cached_beside, missing_from, opened_beside, opened_store
from roambus.spark.aggregation.traces import MADE_OF, Trace, fingerprint, list_traces, missing
from roambus.spark.engine.session import begin_java, spark_session
from roambus.spark.metrics import catalogue
from roambus.spark.metrics.extra import NOTHING, Extra
from roambus.spark.metrics.metric import DECLARED, Metric, Support, declarations
from roambus.spark.metrics.rows import Floats, Integers


def write_tables(
    folder: Path, tables: Mapping[str, pd.DataFrame], metrics: Sequence[Metric] = (), made_of: str = ""
) -> None:
    """Write NAME.csv and NAME.parquet, with `metrics` declared and the fingerprint `made_of`; raise UserError."""
    declared = {DECLARED: declarations(metrics)} if metrics else {}
    declared |= {MADE_OF: made_of} if made_of else {}
    with writing(folder):
        unlinked(folder).mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            replace_file(folder / f"{name}.csv", partial(table.to_csv, index=False, lineterminator="\n"))
            replace_file(folder / f"{name}.parquet", partial(_write_parquet, table, declared))


def _write_parquet(table: pd.DataFrame, declared: Mapping[str, str], path: Path) -> None:
    whole = pa.Table.from_pandas(table, preserve_index=False)
    with path.open("wb") as file:  # Arrow knows no names that are not UTF-8
        pq.write_table(whole.replace_schema_metadata({**(whole.schema.metadata or {}), **declared}), file)


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write and rename the file; raise OSError, or UserError unless it is a file."""
    check_replaceable(path)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)  # a link that a stranger put there would be followed
    unfinished.touch(exist_ok=False)
    try:
        write(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


METRIC, MEAN, LOW, HIGH, HALF_WIDTH, N = "metric", "mean", "low", "high", "half_width", "n"
MEASURED = (MEAN, LOW, HIGH, HALF_WIDTH, N)
"""Columns of a point: mean, ends and half width of its 95 % interval, seeds."""

_RESERVED = {METRIC, *MEASURED, *(metric.column for metric in catalogue.METRICS)}
_AXIS_PREFIX = "axis_"


def name_runs(metrics: pd.DataFrame, extra: Sequence[str] = ()) -> pd.DataFrame:
    """Return each run's agent, axes, seed, metrics and message types."""
    places = name_places(metrics.index, extra)
    known = metrics[[metric.column for metric in catalogue.METRICS]]
    # NaN where a run has nothing to measure of what a study adds; 0 where it sent nothing of a type that another sent.
    added = pd.DataFrame([dict(row) for row in metrics.get(EXTRA, ())], index=metrics.index, columns=list(extra))
    sent = pd.DataFrame(list(metrics[SENT]), index=metrics.index).sort_index(axis=1)
    counts = sent.fillna(0).astype("int64").add_prefix(catalogue.SENT_PREFIX)
    table = pd.concat([places, known, added, counts], axis=1)
    return table.sort_values(list(places.columns), key=_ranks).reset_index(drop=True)


def name_places(runs: pd.Index[str], reserved: Sequence[str] = ()) -> pd.DataFrame:
    """Return each run's agent, axes and seed; axes avoid metrics' and `reserved` names."""
    return pd.DataFrame([_levels(str(run), {*_RESERVED, *reserved}) for run in runs], index=runs)


def _levels(run: str, reserved: Collection[str]) -> dict[str, str | int]:
    levels = (part.split("=", 1) for part in run.split("/"))
    named = {f"{_AXIS_PREFIX}{name}" if name in reserved else name: value for name, value in levels}
    return {**named, SEED: int(named[SEED])}


def natural_order(value: object) -> tuple[tuple[int, float, str], ...]:
    """Return a sort key that puts C4 before C16 and 8 before 10."""
    words = re.findall(r"\d+(?:\.\d+)?|[^\d]+", str(value))
    return tuple((0, float(word), "") if word[0].isdecimal() else (1, 0.0, word) for word in words)


def axes_of(runs: pd.DataFrame) -> list[str]:
    """The axes: the columns between agent and seed."""
    columns = list(runs.columns)
    return columns[columns.index(AGENT) + 1 : columns.index(SEED)]


def mean_points(runs: pd.DataFrame, declared: Sequence[Metric] = catalogue.METRICS) -> pd.DataFrame:
    """Return a row with `MEASURED` for each metric of each point.

    Seeds without a value do not count; n = 1 gives no interval, n = 0 no row.
    """
    place = [AGENT, *axes_of(runs)]
    metrics = [column for column in runs.columns if column not in (*place, SEED)]
    supports = {metric.column: metric.support for metric in declared}
    wholes = {metric.column: metric.of for metric in declared if metric.of in metrics}
    groups = runs.astype(dict.fromkeys(metrics, float)).groupby(place, sort=False)
    numbers = groups.ngroup().to_numpy().astype("int64")
    order = np.argsort(numbers, kind="stable")
    columns = []
    for metric in metrics:
        values = runs[metric].to_numpy(dtype=float)[order]
        usual = Support.POSITIVE if metric.startswith(catalogue.SENT_PREFIX) else Support.ANY
        pairs = groups[wholes[metric]].sum().to_numpy(dtype=float) if metric in wholes else None
        low, high = _ends(values, numbers[order], groups.ngroups, supports.get(metric, usual), pairs)
        of_metric = dict(
            zip(MEASURED, (groups[metric].mean(), low, high, (high - low) / 2, groups[metric].count()), strict=True)
        )
        columns.append(pd.DataFrame(of_metric).reset_index().assign(**{METRIC: metric}))
    table = pd.concat(columns, ignore_index=True) if columns else pd.DataFrame(columns=[*place, *MEASURED])
    present = table[table[N] > 0]
    by_place = present.sort_values(place, key=_ranks, kind="stable")  # metrics of a place stay in their order
    return by_place[[*place, METRIC, *MEASURED]].reset_index(drop=True)


def _ranks(values: pd.Series[Any]) -> pd.Series[Any]:
    ordered = sorted(values.unique(), key=natural_order)
    return values.map({value: rank for rank, value in enumerate(ordered)})


def _ends(values: Floats, groups: Integers, count: int, within: Support, pairs: Floats | None) -> tuple[Floats, Floats]:
    there = ~np.isnan(values)
    sizes = np.bincount(groups[there], minlength=count)
    starts, low, high = np.cumsum(sizes) - sizes, np.full(count, math.nan), np.full(count, math.nan)
    for size in np.unique(sizes[sizes > 1]):
        rows = starts[sizes == size][:, np.newaxis] + np.arange(size)
        of_rows = None if pairs is None else pairs[sizes == size]
        low[sizes == size], high[sizes == size] = ends(values[there][rows], within, pairs=of_rows)
    return low, high


Problems = dict[Path, str]


class ProgressReport(Protocol):
    """Shows an aggregation's progress, such as `roambus.experiments.sweeps.progress.Progress`."""

    def show(self, total: int) -> AbstractContextManager[None]:
        """Begins to count to `total` runs."""

    def finished_together(self, places: Mapping[Path, str | None]) -> None:
        """Report finished runs, each with its problem or None."""

    def note(self, line: str) -> None:
        """Report a line at once."""


@dataclass(frozen=True, slots=True)
class AggregationJob:
    """The results, the master, a study's additions, whether to recompute all, and the progress."""

    results: Path
    master: str
    extra: Extra
    afresh: bool
    progress: ProgressReport | None


def aggregate(  # noqa: PLR0913  # each is one thing that a command can ask for
    results: Path,
    master: str = "local[*]",
    *,
    extra: Extra = NOTHING,
    afresh: bool = False,
    progress: ProgressReport | None = None,
    again: str = "the same sweep",
) -> list[str]:
    """Write `metrics/runs` and `metrics/points` below `results`, with `extra`'s metrics.

    Earlier results come from the store unless `afresh`. Return a line for each unusable run, and one for missing ones
    with the command `again`. Raise UserError, or RoambusError if Spark fails.
    """
    files = find_traces(results)
    traces, problems = list_traces(files)
    if not traces:
        raise UserError(_nothing_to_read(results, list(problems.values())))
    check_axes(traces)
    folder = results / STORE_FOLDER
    with writing(folder), opened_store(folder, extra.digest()) as store:
        # A figure or a comparison may have computed runs before.
        store.also = () if afresh else (cached_beside(folder),)
        problems |= _compute_missing(store, traces, AggregationJob(results, master, extra, afresh, progress))
        rows = store.rows_of([trace for trace in traces if trace.file not in problems])
        store.keep_only(rows)
    frame, problems = _frame(rows), problems | problems_of(rows, traces)
    if frame.empty:
        raise UserError(_nothing_to_read(results, list(problems.values())))
    runs = name_runs(frame, [metric.column for metric in extra.metrics])
    points = mean_points(runs, (*catalogue.METRICS, *extra.metrics))
    write_tables(results / METRICS_FOLDER, {RUNS: runs, POINTS: points}, extra.metrics, fingerprint(files))
    return [*(problems[file] for file in files if file in problems), *missing(results, files, again)]


def _compute_missing(store: MetricsStore, traces: Sequence[Trace], job: AggregationJob) -> Problems:
    if job.afresh:
        store.keep_only(store.rows_of([]))
    waiting, problems = missing_from(store.rows_of(traces), traces), Problems()
    if waiting:
        check_alike(job.results, [traces[0], *(trace for trace in waiting if trace is not traces[0])])
        begin_java(job.master)
        progress = job.progress
        with (
            spark_session(job.master) as session,
            computer(session, job.extra) as computing,
            progress.show(len(waiting)) if progress else nullcontext(),
        ):
            cores = session.sparkContext.defaultParallelism
            for batch in batches(waiting, cores):
                computed = computing.compute(batch, cores)
                store.add(computed.rows, [trace for trace in batch if trace not in computed.passing])
                problems |= problems_of(computed.rows, computed.passing)
                if progress:
                    found = problems_of(computed.rows, batch)
                    progress.finished_together({Path(trace.run): found.get(trace.file) for trace in batch})
    return problems


def _nothing_to_read(results: Path, damaged: Sequence[str]) -> str:
    if damaged:
        return f"no trace below {results / TRACES} can be read; the first: {damaged[0]}"
    return f"{results / TRACES} holds no {TRACE_FILE}: give the folder that a sweep wrote (its --out)"


def metrics_of(
    results: Path,
    traces: Sequence[Trace],
    extra: Extra = NOTHING,
    master: str = "local[*]",
    progress: ProgressReport | None = None,
) -> tuple[pd.DataFrame, Problems]:
    """Return a row of metrics for each run, and a line for each damaged trace.

    The column EXTRA maps names of `extra`'s metrics to values. Raise UserError, RoambusError, OSError.
    """
    with opened_beside(results / STORE_FOLDER, extra.digest()) as store:
        if progress and (waiting := missing_from(store.rows_of(traces), traces)):
            counted = f"{len(waiting)} of {len(traces)} runs are not aggregated yet"
            progress.note(f"{results}: {counted}: Spark starts and computes their metrics")
        problems = _compute_missing(
            store, traces, AggregationJob(results, master, extra, afresh=False, progress=progress)
        )
        rows = store.rows_of([trace for trace in traces if trace.file not in problems])
    return _frame(rows), problems | problems_of(rows, traces)


def _frame(rows: pa.Table) -> pd.DataFrame:
    sound = rows.filter(pc.is_null(rows[PROBLEM])).select([name for name in METRICS_SCHEMA.names if name != PROBLEM])
    frame: pd.DataFrame = sound.sort_by(RUN).to_pandas().set_index(RUN)
    for name in (SENT, EXTRA):
        frame[name] = frame[name].map(dict)
    return frame
