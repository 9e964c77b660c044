"""From traces to metrics: one row a run, and means with 95 % intervals over the seeds of each point."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from bridge.errors import RoambusError, UserError
from spark.layout import METRICS_FOLDER, POINTS, RUNS, TRACE_FILE, TRACES
from spark.metrics import RUN, run_metrics
from spark.points import mean_points, name_runs
from spark.session import spark_session
from spark.tables import write_tables
from spark.traces import damage, find_traces, missing, read_traces, run_name


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
    """The metrics of these traces, one row a run, indexed by `run`; raises RoambusError if Spark fails."""
    names = [run_name(file) for file in files]
    try:
        with spark_session(master) as session:
            runs = session.range(1).select(F.explode(F.array(*map(F.lit, names))).alias(RUN))
            return run_metrics(read_traces(session, files), runs).toPandas().set_index(RUN)
    except PySparkException as error:
        problem = str(error).partition("\n")[0]
        raise RoambusError(f"Spark could not compute the metrics of {len(files)} traces: {problem}") from error
