"""From the traces of a sweep to its tables: one row for each run, and means with 95 % intervals over the seeds.

Runs that an earlier aggregation computed come from the store. All others are computed with Spark, batch by batch, and
added to the store at once, so that an aggregation that is killed goes on where it was. From the rows of the store the
tables are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
import pyarrow as pa

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import METRICS_FOLDER, POINTS, RUNS, STORE_FOLDER, TRACE_FILE, TRACES
from roambus.bridge.runs.writing import writing
from roambus.spark.aggregation.computation import METRICS_SCHEMA, ROWS_A_CORE, batches, compute
from roambus.spark.aggregation.points import mean_points, name_places, name_runs
from roambus.spark.aggregation.store import Store, missing_from, opened_store
from roambus.spark.aggregation.tables import write_tables
from roambus.spark.aggregation.traces import Trace, examine, find_traces, missing, read_footer
from roambus.spark.engine.connect import cores_of
from roambus.spark.engine.session import spark_session
from roambus.spark.metrics.extra import EXTRA, NOTHING, OBSERVATIONS, Extra, ExtraTable
from roambus.spark.metrics.run_metrics import RUN, SENT

Problems = dict[Path, str]


class Progress(Protocol):
    """Whoever is told how far an aggregation is, such as `roambus.experiments.sweeps.progress.Progress`."""

    def show(self, total: int) -> AbstractContextManager[None]:
        """Begins to count to `total` runs."""

    def finished_together(self, places: Mapping[Path, str | None]) -> None:
        """These runs are done; each has a line that says what is wrong with it, or None."""


@dataclass(frozen=True, slots=True)
class Job:
    """How to compute: on which master, what a study adds, whether everything is computed anew, and whom to tell."""

    master: str
    extra: Extra
    afresh: bool
    progress: Progress | None


def aggregate(
    results: Path,
    master: str = "local[*]",
    *,
    extra: Extra = NOTHING,
    afresh: bool = False,
    progress: Progress | None = None,
) -> list[str]:
    """Writes `metrics/runs` and `metrics/points` (CSV and Parquet) of the traces below `results`, and `extra`'s tables.

    Runs that an earlier aggregation computed are taken from its store unless `afresh`; `master` is Spark's, and every
    executor must reach the traces by the same path. Returns a line for each run that is missing or damaged; all others
    are aggregated. Raises UserError if no trace can be read or nothing can be written, RoambusError if Spark fails.
    """
    files = find_traces(results)
    traces, problems = examine(files)
    if not traces:
        raise UserError(_nothing_to_read(results, list(problems.values())))
    folder = results / STORE_FOLDER
    with writing(folder), opened_store(folder, extra.digest()) as store:
        problems |= _compute_missing(store, traces, Job(master, extra, afresh, progress))
        rows = store.rows_of([trace for trace in traces if trace.file not in problems])
        store.keep_only(rows)
    _write(results, rows, problems, extra)
    return [*(problems[file] for file in files if file in problems), *missing(results, files)]


def _compute_missing(store: Store, traces: Sequence[Trace], job: Job) -> Problems:
    """Adds to the store what it lacks, batch by batch; returns a line for each trace that turns out to be damaged."""
    if job.afresh:
        store.keep_only(store.rows_of([]))
    waiting, problems = missing_from(store.rows_of(traces), traces), Problems()
    if waiting:
        progress = job.progress
        with spark_session(job.master) as session, progress.show(len(waiting)) if progress else nullcontext():
            rows = ROWS_A_CORE * cores_of(session)
            for batch in batches(waiting, rows):
                metrics, found = compute(session, batch, job.extra)
                store.add(metrics, batch)
                problems |= found
                _tell(progress, batch, found)
    return problems


def _tell(progress: Progress | None, batch: Sequence[Trace], problems: Problems) -> None:
    if progress is not None:
        progress.finished_together({Path(trace.run): problems.get(trace.file) for trace in batch})


def _write(results: Path, rows: pa.Table, problems: Problems, extra: Extra) -> None:
    if not len(rows):
        raise UserError(_nothing_to_read(results, list(problems.values())))
    frame = _frame(rows)
    runs = name_runs(frame, [metric.column for metric in extra.catalogue])
    further = {table.name: _observations(frame, table) for table in extra.tables}
    write_tables(results / METRICS_FOLDER, {RUNS: runs, POINTS: mean_points(runs), **further})


def _observations(frame: pd.DataFrame, table: ExtraTable) -> pd.DataFrame:
    """A table with a row for each observation: agent, axes and seed of its run, then its numbers."""
    width = len(table.columns)
    lists = frame[OBSERVATIONS].map(lambda tables: tables.get(table.name, ()))
    numbers = np.array([number for one in lists for number in one], dtype=float).reshape(-1, width)
    owners = frame.index.repeat([len(one) // width for one in lists])
    places = name_places(frame.index, table.columns).loc[owners].reset_index(drop=True)
    return pd.concat([places, pd.DataFrame(numbers, columns=list(table.columns))], axis=1)


def _nothing_to_read(results: Path, damaged: Sequence[str]) -> str:
    if damaged:
        return f"no trace below {results / TRACES} can be read; the first: {damaged[0]}"
    return f"{results / TRACES} holds no {TRACE_FILE}: give the folder that a sweep wrote (its --out)"


def compute_metrics(files: Sequence[Path], master: str = "local[*]") -> pd.DataFrame:
    """The metrics of these traces, one row a run, indexed by the run's name.

    Raises UserError for the first that is damaged, RoambusError if Spark fails.
    """
    with spark_session(master) as session:
        metrics, problems = compute(session, [read_footer(file) for file in files])
    for problem in problems.values():
        raise UserError(problem)
    return _frame(metrics).drop(columns=[EXTRA, OBSERVATIONS])


def metrics_of(
    results: Path,
    traces: Sequence[Trace],
    extra: Extra = NOTHING,
    master: str = "local[*]",
    progress: Progress | None = None,
) -> tuple[pd.DataFrame, Problems]:
    """The metrics of these runs below `results`, one row a run, indexed by its name, and a line for each damaged trace.

    The column EXTRA maps the names of `extra`'s metrics to their values. What earlier aggregations found is taken from
    their store, and what is computed is added to it. Raises UserError if another aggregation has the store,
    RoambusError if Spark fails, OSError.
    """
    with opened_store(results / STORE_FOLDER, extra.digest()) as store:
        problems = _compute_missing(store, traces, Job(master, extra, afresh=False, progress=progress))
        rows = store.rows_of([trace for trace in traces if trace.file not in problems])
    return _frame(rows), problems


def _frame(rows: pa.Table) -> pd.DataFrame:
    """The rows as a frame in the order of the runs' names, so that the same rows give the same frame."""
    frame: pd.DataFrame = rows.select(METRICS_SCHEMA.names).sort_by(RUN).to_pandas().set_index(RUN)
    for name in (SENT, EXTRA, OBSERVATIONS):
        frame[name] = frame[name].map(dict)
    return frame
