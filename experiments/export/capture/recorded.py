"""The captures of runs in a results folder, from the records that lie beside their traces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.bridge.record.record_file import RECORD_FILE, Record, open_record
from roambus.bridge.record.rerun import scenario_of
from roambus.experiments.export.capture.packets import capture
from roambus.python_protocol.roles import NodeId
from roambus.spark.aggregation.traces import Trace


def capture_of(trace: Trace) -> Iterator[bytes]:
    """The capture of a run; raises UserError if it has no record, or a damaged one."""
    with _record(trace) as record:
        yield from capture(record)


def captures_of_nodes(trace: Trace) -> Iterator[tuple[str, Iterator[bytes]]]:
    """For each node of a run the end of a file's name, and its capture; raises UserError as `capture_of`."""
    with _record(trace) as record:
        nodes = len(scenario_of(record).nodes)
    for node in range(nodes):
        yield f",node={node}.pcapng", _of_node(trace, node)


def _of_node(trace: Trace, node: NodeId) -> Iterator[bytes]:
    with _record(trace) as record:
        yield from capture(record, node)


@contextmanager
def _record(trace: Trace) -> Iterator[Record]:
    path = record_beside(trace.file)
    if not path.is_file():
        advice = "traces hold no bytes of messages: make the run with --record"
        raise UserError(f"{trace.file.parent}: there is no {RECORD_FILE}, and {advice}")
    with open_record(path) as record:
        yield record


def record_beside(trace: Path) -> Path:
    """Where the record of a run lies."""
    return trace.with_name(RECORD_FILE)
