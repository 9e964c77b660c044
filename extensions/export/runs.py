"""The runs to export, and their rows.

A damaged trace costs only its own files. Rows come in batches, since a trace can exceed memory. A row with malformed
words is reported as its agent's mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from roambus.bridge.runs.layout import SEED, TRACE_FILE, TRACES, find_traces
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.parquet import DamagedTraceError, read_batches, read_footer
from roambus.bridge.trace.schema import DETAIL, EVENT, TIME_S
from roambus.spark.aggregation.traces import REMEDY, Trace, list_traces

Row = dict[str, Any]
_READERS = 8
"""The threads that read footers: opening files takes the time."""


@dataclass(frozen=True, slots=True)
class Export:
    """The runs to export, below the folder `results`; `problems` has a line for each damaged trace."""

    results: Path
    traces: list[Trace]
    problems: list[str]


def find_runs(path: Path) -> Export:
    """Return a folder's run, or all runs below it; raise UserError if none."""
    trace = path / TRACE_FILE
    files = [trace] if trace.is_file() else find_traces(path)
    if not files:
        raise UserError(f"{path}: neither a run's folder (with {TRACE_FILE}) nor one that a sweep wrote (its --out)")
    placed = [file if TRACES in file.parts else file.absolute() for file in files]
    results = next((folder.parent for folder in placed[0].parents if folder.name == TRACES), None)
    if results is None:
        raise UserError(f"{path}: a run's folder lies below {TRACES}/agent=.../{SEED}=...: export it there")
    traces, problems = _examined(placed)
    return Export(results, traces, list(problems.values()))


def _examined(files: Sequence[Path]) -> tuple[list[Trace], dict[Path, str]]:
    """Return traces with valid footers, and a line for each other file."""
    traces, problems = list_traces(files)
    with ThreadPoolExecutor(_READERS) as readers:
        damage = dict(zip([trace.file for trace in traces], readers.map(_damage, traces), strict=True))
    problems |= {file: line for file, line in damage.items() if line}
    return [trace for trace in traces if trace.file not in problems], problems


def _damage(trace: Trace) -> str:
    try:
        read_footer(trace.file)
    except UserError as error:
        return f"{error}: {REMEDY}"
    return ""


def rows(trace: Trace, *events: str) -> Iterator[Row]:
    """Return a trace's rows in order, or only some events'; raise UserError if unreadable."""
    try:
        for batch in read_batches(trace.file):
            is_wanted = pc.is_in(batch[EVENT], pa.array(events, pa.string()))
            yield from (batch.filter(is_wanted) if events else batch).to_pylist()
    except DamagedTraceError as error:
        raise UserError(f"{error}: {REMEDY}") from None


def numbers(trace: Trace, row: Row, count: int) -> list[float]:
    """Return the `count` numbers in a row's detail; raise UserError otherwise."""
    try:
        found = [float(word) for word in (row[DETAIL] or "").split()]
    except ValueError:
        found = []
    if len(found) != count:
        problem = f"a {row[EVENT]} row at {row[TIME_S]} s whose {DETAIL} does not hold {count} numbers"
        raise UserError(f"{trace.file}: {problem}: correct its agent")
    return found
