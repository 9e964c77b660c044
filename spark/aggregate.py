"""From traces to metrics: one row a run, and means with 95 % intervals over the seeds of each point."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from pyspark.errors import PySparkException

from bridge.errors import RoambusError, UserError
from spark.catalogue import COUNTS
from spark.layout import METRICS_FOLDER, POINTS, RUNS, TRACE_FILE, TRACES
from spark.metrics import RUN, SENT, run_metrics
from spark.points import mean_points, name_runs
from spark.session import spark_session
from spark.tables import write_tables
from spark.traces import damage, file_of, find_traces, missing, read_traces, run_name


def aggregate(results: Path, master: str = "local[*]") -> list[str]:
    """Writes `metrics/runs` and `metrics/points` (CSV and Parquet) of the traces below `results`.

    Returns a line for each run that is missing or damaged; all others are aggregated. Raises UserError if no trace
    can be read or nothing can be written, RoambusError if Spark fails.
    """
    files = find_traces(results)
    damaged = {file: problem for file in files if (problem := damage(file)) is not None}
    sound = [file for file in files if file not in damaged]
    if not sound:
        raise UserError(_nothing_to_read(results, list(damaged.values())))
    runs = name_runs(compute_metrics(sound, master))
    write_tables(results / METRICS_FOLDER, {RUNS: runs, POINTS: mean_points(runs)})
    return [*damaged.values(), *missing(results, files)]


def _nothing_to_read(results: Path, damaged: Sequence[str]) -> str:
    if damaged:
        return f"no trace below {results / TRACES} can be read; the first: {damaged[0]}"
    return f"{results / TRACES} holds no {TRACE_FILE}: give the folder that a sweep wrote (its --out)"


def compute_metrics(files: Sequence[Path], master: str = "local[*]") -> pd.DataFrame:
    """The metrics of these traces, one row a run, indexed by the run's name; raises RoambusError if Spark fails."""
    try:
        with spark_session(master) as session:
            metrics = run_metrics(read_traces(session, files)).toPandas()
    except PySparkException as error:
        problem = str(error).partition("\n")[0]
        raise RoambusError(f"Spark could not compute the metrics of {len(files)} traces: {problem}") from error
    metrics.index = pd.Index([run_name(file_of(uri)) for uri in metrics.pop(RUN)], name=RUN)
    return _with_empty_runs(metrics, [run_name(file) for file in files])


def _with_empty_runs(metrics: pd.DataFrame, runs: Sequence[str]) -> pd.DataFrame:
    """A row for traces without any row, too: they cannot come out of Spark."""
    whole = pd.DataFrame(index=pd.Index(runs, name=RUN)).join(metrics, how="outer")
    whole[list(COUNTS)] = whole[list(COUNTS)].fillna(0).astype("int64")
    whole[SENT] = whole[SENT].map(lambda kinds: kinds if isinstance(kinds, dict) else {})
    return whole
