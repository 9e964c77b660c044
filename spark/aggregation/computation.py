"""Computes the metrics of runs with Spark, which distributes runs and not rows.

A task reads one trace after the other. Runs are independent, so a cluster's numbers equal one machine's to the last
bit. A damaged trace is a row with its reason. The longest runs begin first, and each job of some minutes is stored.
Local executors import our package in place; others get it sent (`roambus.spark.engine.shipment`). Metrics in a user's
file go by value.
"""

from __future__ import annotations

import inspect
import math
import os
import pickle
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import roambus.spark.engine  # noqa: F401  # refuses another PySpark before it is imported

# isort: split
import numpy as np
import pandas as pd
import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from roambus.bridge.system.code import is_installed, project_files
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.bridge.system.interrupts import is_raised
from roambus.bridge.system.private_folder import SHIPMENT, private_folder
from roambus.bridge.trace.parquet import DamagedTraceError
from roambus.spark.aggregation.traces import REMEDY, Trace
from roambus.spark.engine.session import interruptible, is_local
from roambus.spark.engine.shipment import measurer, pack
from roambus.spark.metrics.arrays import InvalidDetailError
from roambus.spark.metrics.catalogue import METRICS
from roambus.spark.metrics.extra import Extra, files_of
from roambus.spark.metrics.metric import Kind, Metric, Scale
from roambus.spark.metrics.run import Run

RUN, SENT, EXTRA, PROBLEM = "run", "sent", "extra", "problem"
_NUMBER, _FAILURE, _PASSES = "number", "failure", "passes"
_TYPES = {Kind.COUNT: pa.int64(), Kind.WHOLE: pa.int32(), Kind.REAL: pa.float64()}
METRICS_SCHEMA = pa.schema(
    [
        pa.field(RUN, pa.string(), nullable=False),
        *(pa.field(metric.column, _TYPES[metric.kind]) for metric in METRICS),
        pa.field(SENT, pa.map_(pa.string(), pa.int64())),
        pa.field(EXTRA, pa.map_(pa.string(), pa.float64())),
        pa.field(PROBLEM, pa.string()),
    ]
)
"""A run's place, metrics, packets by message type, and additions; of a damaged trace only the problem."""
_ANSWER_SCHEMA = pa.schema(
    [
        pa.field(_NUMBER, pa.int64()),
        pa.field(_FAILURE, pa.string()),
        pa.field(_PASSES, pa.bool_()),
        *list(METRICS_SCHEMA)[1:],
    ]
)
"""A task's answer: the run's number, a metric's failure, and whether a problem may pass."""

DEADLINE = "ROAMBUS_DEADLINE_S"
TASK_WORK, SMALLEST_WORK, BATCH_WORK = 64 << 20, 4 << 20, 640 << 20
"""Bytes of traces: the most and least in a task, and a core's share of a job (2 s, 0.1 s and half a minute)."""
WORK_A_RUN = 100_000
"""A run's fixed work in bytes (some milliseconds)."""

Row = dict[str, Any]
Task = list[tuple[int, Path]]


def deadline_s() -> float:
    """Return the limit of a timely delivery; raise UserError for an invalid environment."""
    text = os.environ.get(DEADLINE, "1")
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found < math.inf:
        raise UserError(f"{DEADLINE} is {text!r}: write a number of seconds above 0")
    return found


# In the driver


def batches(traces: Sequence[Trace], cores: int) -> Iterator[list[Trace]]:
    """Divide the traces into jobs, the longest first."""
    batch, work = list[Trace](), 0
    for trace in sorted(traces, key=lambda each: (-each.size, each.run)):
        batch.append(trace)
        work += _work(trace)
        if work >= BATCH_WORK * cores:
            yield batch
            batch, work = [], 0
    if batch:
        yield batch


def _work(trace: Trace) -> int:
    return trace.size + WORK_A_RUN


def tasks_of(traces: Sequence[Trace], cores: int) -> list[Task]:
    """Divide a job's runs (places in `traces`) into tasks, longest first."""
    most = min(TASK_WORK, max(SMALLEST_WORK, sum(map(_work, traces)) // (2 * cores)))
    tasks: list[Task] = []
    room = 0
    for number in sorted(range(len(traces)), key=lambda number: -traces[number].size):
        if room <= 0:
            tasks.append([])
            room = most
        tasks[-1].append((number, traces[number].file.absolute()))
        room -= _work(traces[number])
    return tasks


@dataclass(frozen=True, slots=True)
class Computed:
    """A METRICS_SCHEMA row for each trace, and damaged traces that may become readable."""

    rows: pa.Table
    passing: list[Trace]


def problems_of(rows: pa.Table, traces: Sequence[Trace]) -> dict[Path, str]:
    """Return a line for each damaged trace in METRICS_SCHEMA rows."""
    found = dict(zip(rows[RUN].to_pylist(), rows[PROBLEM].to_pylist(), strict=True))
    return {trace.file: f"{trace.file}: {problem}" for trace in traces if (problem := found.get(trace.run))}


class Computer:
    """Computes metrics in a session; `computer` gives it."""

    def __init__(self, session: SparkSession, archive: str | None, extra: Extra) -> None:
        self._session, self._archive, self._extra = session, archive, extra

    def compute(self, traces: Sequence[Trace], cores: int) -> Computed:
        """Raise RoambusError if Spark fails, UserError if a metric does."""
        answers = self._answers(tasks_of(traces, cores))
        for failure in answers[_FAILURE].drop_null().to_pylist():
            raise UserError(failure)
        places = [traces[number] for number in answers[_NUMBER].to_pylist()]
        rows = answers.select(METRICS_SCHEMA.names[1:])
        named = rows.add_column(0, METRICS_SCHEMA.field(RUN), pa.array([trace.run for trace in places], pa.string()))
        passing = [trace for trace, passes in zip(places, answers[_PASSES].to_pylist(), strict=True) if passes]
        return Computed(named.cast(METRICS_SCHEMA), passing)

    def _answers(self, tasks: Sequence[Task]) -> pa.Table:
        extra = _by_value(self._extra)
        sent = [pickle.dumps((task, deadline_s(), extra)) for task in tasks]
        work = measurer(self._archive, __name__, sent)
        try:
            frame = self._session.range(0, len(sent), 1, len(sent))
            return interruptible(self._session, frame.mapInArrow(work, from_arrow_schema(_ANSWER_SCHEMA)).toArrow)
        except (PySparkException, Py4JJavaError) as error:
            text = str(error)
            lost = _LOST.search(text)
            if lost is None:
                raise RoambusError(f"Spark could not compute metrics: {_reason(text)}") from error
            (_, file), *others = tasks[int(lost[1])]
            if not others:
                own = ", ".join("{} ({}:{})".format(*_place(metric)) for metric in self._extra.metrics)
                also = f"; these metrics are not roambus' own: {own}" if own else ""
                ended = "crashed, or was killed, as the kernel does for lack of memory"
                raise RoambusError(f"{file}: the Python that computed its metrics {ended}{also}") from error
        # With a task for each run either the one that ends Python gets named, or all goes well this time.
        return self._answers([[run] for task in tasks for run in task])


_LOST = re.compile(r"Task (\d+) in stage \S+ failed .*(Python worker exited|executor (lost|exited))", re.IGNORECASE)
_TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n((?:(?:[ \t].*)?\n)*)(\S.*)")
_FRAME = re.compile(r'File "(.+)", line (\d+)')


def _reason(text: str) -> str:
    """Return the exception in the Python of a task, and its place; else the first line."""
    if not (tracebacks := _TRACEBACK.findall(text)):
        return text.strip().partition("\n")[0]
    frames, what = tracebacks[-1]
    places = _FRAME.findall(frames)
    return f"{what} ({':'.join(places[-1])})" if places else what


@contextmanager
def computer(session: SparkSession, extra: Extra) -> Iterator[Computer]:
    """Send our package wherever needed; raise OSError."""
    if is_local(session):
        yield Computer(session, None, extra)
        return
    with private_folder(SHIPMENT) as folder:
        archive = pack(folder)
        session.sparkContext.addFile(str(archive))
        yield Computer(session, archive.name, extra)


def _by_value(extra: Extra) -> bytes:
    """Pickle the extra metrics with modules that executors cannot import."""
    pickler: Any = cloudpickle  # PySpark does not type its copy
    files = {file for file in project_files(files_of(extra.modules())) if not is_installed(file)}
    unnamed = {name for name in extra.modules() if PathFinder.find_spec(name.partition(".")[0]) is None}
    own = [
        module
        for module in list(sys.modules.values())
        if (file := getattr(module, "__file__", None)) and (Path(file).resolve() in files or module.__name__ in unnamed)
    ]
    for module in own:
        pickler.register_pickle_by_value(module)
    try:
        return bytes(pickler.dumps(extra))
    finally:
        for module in own:
            pickler.unregister_pickle_by_value(module)


# In a task


def make(sent: bytes) -> Iterator[pa.RecordBatch]:
    """Yield a batch of _ANSWER_SCHEMA with a row for each run."""
    task, deadline, pickled = pickle.loads(sent)  # noqa: S301  # from our own driver, by Spark's authenticated way
    extra = pickle.loads(pickled)  # noqa: S301  # the same
    rows = [{_NUMBER: number, _PASSES: False, **measure(file, deadline, extra)} for number, file in task]
    yield pa.RecordBatch.from_pylist(rows, _ANSWER_SCHEMA)


def _copying() -> AbstractContextManager[None]:
    """Let tables be copied on a write, as pandas does since version 3, where the option is deprecated."""
    return pd.option_context("mode.copy_on_write", True) if pd.__version__ < "3" else nullcontext()


def measure(file: Path, deadline: float, extra: Extra) -> Row:
    """Return a run's row, or its trace's problem."""
    try:
        run = Run(file, deadline)
        with _copying():  # a metric that changes a table changes its own copy
            return _measured(run, extra)
    except DamagedTraceError as error:
        return _damage(file, error)
    except UserError as error:
        return {PROBLEM: str(error).removeprefix(f"{file}: ")}
    except MetricError as error:
        return {_FAILURE: f"{file}: {error}"}


def _measured(run: Run, extra: Extra) -> Row:
    return {
        **{metric.column: _value(metric, run) for metric in METRICS},
        SENT: run.arrays.sent(),
        EXTRA: {metric.column: value for metric in extra.metrics if (value := _value(metric, run)) is not None},
    }


def _damage(file: Path, error: DamagedTraceError) -> Row:
    if not file.exists():
        return {PROBLEM: "vanished while it was read: run the sweep again to add it", _PASSES: True}
    what = str(error).removeprefix(f"{file}: ")
    cause = error.__context__
    # What a disk or a lack of memory is to blame for can have passed the next time; what a file holds cannot.
    passes = isinstance(cause, MemoryError) or (isinstance(cause, OSError) and cause.errno is not None)
    return {PROBLEM: what if isinstance(error, InvalidDetailError) else f"{what}: {REMEDY}", _PASSES: passes}


class MetricError(Exception):
    """A metric's function cannot be used."""

    def __init__(self, what: Metric, problem: str) -> None:
        name, file, line = _place(what)
        super().__init__(f"{name} ({file}:{line}) {problem}")


def _place(what: Metric) -> tuple[str, str, int]:
    function: Any = inspect.unwrap(what.compute) if what.compute else what
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", type(function).__name__)
    return (name, code.co_filename, code.co_firstlineno) if code else (name, str(inspect.getmodule(function)), 0)


def _value(metric: Metric, run: Run) -> float | None:
    with _blamed(metric):
        value: Any = metric(run)
    if value is None or value is pd.NA or (isinstance(value, float | np.floating) and math.isnan(value)):
        return None
    if not isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
        raise MetricError(metric, f"returns a {type(value).__name__}, which is not a number")
    if math.isinf(value) if not isinstance(value, int) else abs(value) >= _TOO_LARGE:
        shown = value if not isinstance(value, int) else f"an integer of {value.bit_length()} bits"
        raise MetricError(metric, f"returns {shown}: return NaN where there is nothing to measure")
    if problem := _unfit(metric, float(value)):
        raise MetricError(metric, f"returns {value}, {problem}")
    return float(value) if metric.kind is Kind.REAL else int(value)


_TOO_LARGE = 1 << 63
"""Integers have 64 bits in tables."""


def _unfit(metric: Metric, value: float) -> str:
    if metric.kind is not Kind.REAL and not value.is_integer():
        return f"which is not a whole number, as kind={metric.kind} says"
    if metric.kind is Kind.COUNT and value < 0:
        return f"which is below 0, and kind={metric.kind} says that it counts"
    if metric.scale is Scale.SHARE and not 0 <= value <= 1:
        return f"which is not from 0 to 1, as scale={metric.scale} says"
    if metric.scale is Scale.LOGARITHMIC and value < 0:
        return f"which is below 0, and scale={metric.scale} has no place for it"
    return ""


@contextmanager
def _blamed(what: Metric) -> Iterator[None]:
    """Turn a function's errors into MetricError, except the trace's and Ctrl-C."""
    try:
        yield
    except UserError:  # of the trace
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not is_raised(error):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename == _place(what)[1]]
        at = (own or frames)[-1]
        raise MetricError(what, f"fails: {_said(error)} ({at.filename}:{at.lineno})") from error


def _said(error: BaseException) -> str:
    try:
        text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":")
    except Exception:  # its own text can fail, too
        text = type(error).__name__
    return text.encode(errors="backslashreplace").decode()
