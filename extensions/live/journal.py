"""The journal of a live node: its trace rows, in a file that outlives its process.

Rows are written before the frames of the same instant leave (a write-ahead log); only a power failure can lose some.
Each line is a row as JSON. A killed process leaves a torn line at the end or before an empty line, where its successor
goes on; any other torn line is damage.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args, get_type_hints

from roambus.bridge.system.errors import BackendError
from roambus.bridge.system.limits import TRACE_ROWS
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.bridge.trace.schema import TraceRow
from roambus.python_protocol.roles import NodeId

_KINDS = [get_args(kind) or (kind,) for kind in get_type_hints(TraceRow).values()]
"""The value types of a row's columns."""


class Journal(TraceWriter):
    """Takes rows as a trace does; `flush` writes them to the file."""

    def __init__(self, file: Path, level: TraceLevel) -> None:
        """Append to the file, on a new line; raises OSError."""
        super().__init__(level)
        self._waiting: list[str] = []
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        if os.fstat(self._file).st_size:
            os.write(self._file, b"\n\n")

    def add(self, row: TraceRow) -> None:
        """Add a row."""
        self._waiting.append(json.dumps(row, separators=(",", ":")))

    def flush(self) -> None:
        """Write the added rows; raises OSError for a full disk."""
        if self._waiting:
            text = memoryview("\n".join((*self._waiting, "")).encode())
            self._waiting.clear()
            while text:
                text = text[os.write(self._file, text) :]

    def close(self) -> None:
        """Flush and close the file."""
        try:
            self.flush()
        finally:
            os.close(self._file)


def read_rows(text: bytes, node: NodeId) -> Iterator[TraceRow]:
    """The rows of the node's journal; raises BackendError, naming the node, for invalid rows."""
    lines = text.split(b"\n")
    try:
        TRACE_ROWS.check(len(lines))
    except ValueError as error:
        raise BackendError(f"node {node}: {error}") from None
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            if not any(lines[number : number + 1]):
                continue  # torn by the death of its process
            raise BackendError(f"node {node}: line {number} of its journal is not a row") from None
        if not _is_row(row, node):
            raise BackendError(f"node {node}: line {number} of its journal is not a row of this node")
        yield TraceRow(*row)


def _is_row(row: object, node: NodeId) -> bool:
    """Whether it is this node's row within the run; `type` excludes truth values."""
    return (
        isinstance(row, list)
        and len(row) == len(_KINDS)
        and all(type(value) in kinds for value, kinds in zip(row, _KINDS, strict=True))
        and 0 <= row[0] < 2**62
        and all(map(_fits, row[1:]))
        and row[1] == node
    )


def _fits(value: object) -> bool:
    """Whether a column can hold it: 32-bit numbers and Unicode texts."""
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)
    return not isinstance(value, int) or -(2**31) <= value < 2**31


def add_rows(rows: Iterable[TraceRow], trace: TraceWriter) -> None:
    """Copy the rows into a trace."""
    for row in rows:
        trace.add(row)
