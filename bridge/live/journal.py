"""The journal of a live node: the rows of its trace, in a file that outlives the node's process.

Rows are written before the frames of the same instant leave, as a database writes its log ahead; only a machine that
loses power can lose some. Each line is a row as JSON. A process that is killed while it writes leaves a torn line,
which is followed by nothing or by an empty line, where the next process goes on. Any other torn line is damage.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args, get_type_hints

from roambus.bridge.errors import BackendError
from roambus.bridge.limits import TRACE_ROWS
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.bridge.trace.schema import TraceRow
from roambus.python_protocol.vocabulary import NodeId

_KINDS = [get_args(kind) or (kind,) for kind in get_type_hints(TraceRow).values()]
"""The types of the values in each column of a row."""


class Journal(TraceWriter):
    """Takes rows as a trace does; `flush` puts them into the file."""

    def __init__(self, file: Path, level: TraceLevel) -> None:
        """Goes on behind what is in the file already, and begins a new line there; raises OSError."""
        super().__init__(level)
        self._waiting: list[str] = []
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        if os.fstat(self._file).st_size:
            os.write(self._file, b"\n\n")

    def add(self, row: TraceRow) -> None:
        """Takes a row, as the class that this stands for."""
        self._waiting.append(json.dumps(row, separators=(",", ":")))

    def flush(self) -> None:
        """Writes what was added; raises OSError for a disk that is full."""
        if self._waiting:
            text = memoryview("\n".join((*self._waiting, "")).encode())
            self._waiting.clear()
            while text:
                text = text[os.write(self._file, text) :]

    def close(self) -> None:
        """Writes what is left, and closes the file."""
        try:
            self.flush()
        finally:
            os.close(self._file)


def read_rows(text: bytes, node: NodeId) -> Iterator[TraceRow]:
    """The rows of the node's journal; raises BackendError, which names the node, for what no node writes.

    A node on another machine has the keys, and can have a mistake all the same: what would make a trace that nobody can
    read is found here.
    """
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
    """Whether it has the columns of a row, of this node, at a time of the run; `type` keeps truth values out."""
    return (
        isinstance(row, list)
        and len(row) == len(_KINDS)
        and all(type(value) in kinds for value, kinds in zip(row, _KINDS, strict=True))
        and 0 <= row[0] < 2**62
        and all(map(_fits, row[1:]))
        and row[1] == node
    )


def _fits(value: object) -> bool:
    """Whether a column of the trace can hold it: numbers have 32 bits, and texts are Unicode."""
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= one <= "\udfff" for one in value)
    return not isinstance(value, int) or -(2**31) <= value < 2**31


def add_rows(rows: Iterable[TraceRow], trace: TraceWriter) -> None:
    """Puts the rows into a trace."""
    for row in rows:
        trace.add(row)
