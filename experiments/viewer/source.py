"""Finds the run that a path names, and what of it is there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from roambus.bridge.backends.castalia.files import INI_FILE
from roambus.bridge.errors import UserError
from roambus.bridge.ini import read_scenario
from roambus.bridge.record.record_file import RECORD_FILE
from roambus.bridge.runs.layout import TRACE_FILE, TRACES
from roambus.bridge.scenario.scenario import Scenario
from roambus.bridge.trace.reader import DamagedTraceError, read_trace

EXAMPLES = 3
"""How many runs are named to a user who gave a folder of several."""


@dataclass(frozen=True, slots=True)
class Source:
    """A run that is there. `title` says which one; a trace that stands alone has neither scenario nor record."""

    trace: Path
    title: str
    scenario: Scenario | None
    record: Path | None


def find_source(path: Path) -> Source:
    """The run in a folder, the only one below it, or that of a trace file; raises UserError, OSError."""
    trace = _find_trace(path)
    ini, record = trace.with_name(INI_FILE), trace.with_name(RECORD_FILE)
    return Source(
        trace,
        _title(trace),
        read_scenario(ini) if ini.is_file() else None,
        record if record.is_file() else None,
    )


def _find_trace(path: Path) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise UserError(f"{path}: there is no such run; make one with roambus run --out {path}")
    if (path / TRACE_FILE).is_file():
        return path / TRACE_FILE
    found = sorted(path.glob(f"**/{TRACE_FILE}"))
    if not found:
        raise UserError(f"{path}: there is no {TRACE_FILE} in or below it; its run failed, or is still going on")
    if len(found) > 1:
        examples = ", ".join(str(trace.parent) for trace in found[:EXAMPLES])
        raise UserError(f"{path} holds {len(found)} runs: name one, such as {examples}")
    return found[0]


def _title(trace: Path) -> str:
    """The run's place in its results: "agent=mft config=C32 seed=0"."""
    parts = trace.absolute().parent.parts
    below = parts[len(parts) - parts[::-1].index(TRACES) :] if TRACES in parts else parts[-1:]
    return os.fsencode(" ".join(below)).decode(errors="replace")  # a page is a text, whatever a folder is called


def read_rows(path: Path) -> pa.Table:
    """All rows; raises UserError for a file that is no trace, or damaged."""
    try:
        return read_trace(path)
    except DamagedTraceError as error:
        raise UserError(f"{error}; make the run again") from None
