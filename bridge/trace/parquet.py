"""The file of a trace: Parquet with the schema's columns, complete or absent, checked when read.

A trace can be damaged or a stranger's. Page checksums and checks of row values ensure that damage never passes for
data, and that readers get valid times, nodes and texts.
"""

from __future__ import annotations

import math
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roambus.bridge.system.errors import AgentError, UserError, mistakes_at
from roambus.bridge.system.files import UnfinishedFile, check_writable, open_regular
from roambus.bridge.system.limits import TRACE_ROWS
from roambus.bridge.trace.schema import EVENT, LATEST_S, NODE, TIME_S, TRACE_SCHEMA, About, TraceRow, read_metadata
from roambus.python_protocol.simtime import SECOND

GREATEST_NODE = 65535
"""The broadcast address, the highest."""

BATCH_ROWS = 16384
"""Rows in memory at once when reading by batches."""

CODED_ROWS = 1 << 18
"""Enough rows to make each coded batch's overhead negligible."""
TEXTS = [field.name for field in TRACE_SCHEMA if pa.types.is_string(field.type)]
_TEXT_PLACES = [TRACE_SCHEMA.get_field_index(name) for name in TEXTS]
CODED_SCHEMA = pa.schema(
    [
        field.with_type(pa.dictionary(pa.int32(), pa.string())) if field.name in TEXTS else field
        for field in TRACE_SCHEMA
    ]
)
"""A trace's columns with texts as numbers: a fraction of the time and memory."""

CHUNK_ROWS = 2048
"""Rows kept as Python objects before an Arrow batch, to fit the processor's cache."""

TEXT_BYTES, SPARE_TEXT_BYTES = 100, 4
"""Average text bytes per row, and spare bytes per row of the limit, 80 MB, for short traces with thousands of
subscribers listed."""

_ORDER = "order"


class TraceLevel(Enum):
    """The detail of a trace: APP omits `receive` rows, FULL has all."""

    APP = "app"
    FULL = "full"


class TraceWriter:
    """Collects rows; `write` stores them by time, then occurrence."""

    def __init__(self, level: TraceLevel = TraceLevel.APP) -> None:
        self.receives = level is TraceLevel.FULL
        self._rows: list[TraceRow] = []
        self._batches: list[pa.RecordBatch] = []

    def add(self, row: TraceRow) -> None:
        """Takes a row."""
        self._rows.append(row)
        if len(self._rows) >= CHUNK_ROWS:
            self._pack()

    def has(self, event: str) -> bool:
        """Return whether there is a row of this event."""
        self._pack()
        return any(event in pc.unique(batch[EVENT]).to_pylist() for batch in self._batches)

    def table(self) -> pa.Table:
        """Return all rows by time, then insertion."""
        self._pack()
        table = pa.Table.from_batches(self._batches, TRACE_SCHEMA)
        numbered = table.append_column(_ORDER, _numbered(table.num_rows))  # Arrow's sort is unstable
        return table.take(pc.sort_indices(numbered, sort_keys=[(TIME_S, "ascending"), (_ORDER, "ascending")]))

    def write(self, path: Path, metadata: Mapping[str, str]) -> None:
        """Write the file atomically; raise OSError."""
        write_trace(self.table(), path, metadata)

    def _pack(self) -> None:
        times, *others = list(zip(*self._rows, strict=True)) or [()] * len(TRACE_SCHEMA)
        columns = [time / SECOND for time in times], *others
        try:
            arrays = [_array(column, field.type) for column, field in zip(columns, TRACE_SCHEMA, strict=True)]
        except UnicodeEncodeError as error:
            raise _unwritable(self._rows) from error
        self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=TRACE_SCHEMA))
        self._rows.clear()


# Arrow's own conversion of a list loads pandas, which takes a third of a second: half of a short run.


def _array(column: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """The column as Arrow's; None is missing. Raises UnicodeEncodeError, TypeError, OverflowError."""
    missing = None in column
    valid = np.packbits([value is not None for value in column], bitorder="little") if missing else None
    buffers = [pa.py_buffer(valid) if missing else None]
    if pa.types.is_string(kind):
        buffers += _texts(["" if text is None else text for text in column] if missing else column)
    else:
        code = "d" if pa.types.is_floating(kind) else "i"
        numbers = [0 if number is None else number for number in column] if missing else column
        buffers.append(pa.py_buffer(array(code, numbers)))
    return pa.Array.from_buffers(kind, len(column), buffers)


def _texts(texts: Sequence[str]) -> list[pa.Buffer]:
    """The places where texts end, and their bytes one after the other."""
    joined = "".join(texts)
    lengths = map(len, texts if joined.isascii() else (text.encode() for text in texts))
    return [pa.py_buffer(array("i", accumulate(lengths, initial=0))), pa.py_buffer(joined.encode())]


def _numbered(rows: int) -> pa.Array:
    return pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(np.arange(rows))])


def _unwritable(rows: Iterable[TraceRow]) -> AgentError:
    for row in rows:
        try:
            for value in row:
                check_writable(str(value))
        except ValueError as error:
            place = f"node {row.node}, simulation time {row.time / SECOND:g} s, the row {row.event!a} of the trace"
            return AgentError(f"{place}: {error}", row.node, row.time, row.event)
    raise ValueError("all rows can be written")


def write_trace(table: pa.Table, path: Path, metadata: Mapping[str, str]) -> None:
    """Write a `TRACE_SCHEMA` table atomically, with page checksums; raise OSError."""
    with UnfinishedFile(path) as unfinished:
        whole = table.replace_schema_metadata(dict(metadata))
        pq.write_table(whole, unfinished.file, compression="zstd", write_page_checksum=True)
        unfinished.finish()


def read_trace(file: Path) -> pa.Table:
    """Return all rows without metadata; raise DamagedTraceError."""
    return pa.Table.from_batches(list(read_batches(file)), TRACE_SCHEMA)


def read_batches(file: Path) -> Iterator[pa.RecordBatch]:
    """Yield the rows in order by batches; raise DamagedTraceError."""
    for batch in _checked(file, BATCH_ROWS):
        yield batch.replace_schema_metadata(None).cast(TRACE_SCHEMA)


def read_coded(file: Path) -> Iterator[pa.RecordBatch]:
    """Read a trace in large batches of CODED_SCHEMA with their decoders."""
    return _checked(file, CODED_ROWS)


def _checked(file: Path, rows: int) -> Iterator[pa.RecordBatch]:
    texts = 0
    with opened_trace(file) as trace:
        for batch in trace.iter_batches(rows, use_threads=False):
            batch.validate(full=True)
            texts += sum(map(_bytes_of_texts, batch.columns))
            _check_texts(file, trace.metadata.num_rows, texts)
            _check_rows(file, batch)
            yield batch


def _check_texts(file: Path, rows: int, found: int) -> None:
    """Raise UserError for too much text for the rows: a small file can expand."""
    most = rows * TEXT_BYTES + TRACE_ROWS.most * SPARE_TEXT_BYTES
    if found > most:
        held = f"its {rows:,} rows hold more than {most:,.0f} bytes of text, which few bytes of a file can stand for"
        raise UserError(f"{file}: {held}; {TRACE_ROWS.way_to_raise()}")


@contextmanager
def opened_trace(file: Path) -> Iterator[pq.ParquetFile]:
    """Yield the file; convert errors in the block to DamagedTraceError.

    Raises UserError for more rows than the limit.
    """
    try:
        # By a file object, for Arrow knows no names that are not UTF-8.
        # Texts stay what they are in the file, numbers of a list, until it is known how long all of them are together.
        with open_regular(file) as opened, _parquet(file, opened) as trace:
            if not trace.schema.to_arrow_schema().remove_metadata().equals(TRACE_SCHEMA):
                raise DamagedTraceError(file, "its columns are not those of a trace")
            _check_footer(file, trace.metadata)
            yield trace
    except (OSError, pa.ArrowException, ValueError, MemoryError, OverflowError) as error:
        problem = " ".join(str(error).split("\n", 1)[0].split()) or type(error).__name__
        raise DamagedTraceError(file, f"damaged ({problem})") from None


def _check_footer(file: Path, footer: pq.FileMetaData) -> None:
    """Refuse too many rows and too much text before unpacking."""
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    with mistakes_at(file):
        TRACE_ROWS.check(footer.num_rows)
    if footer.num_rows != sum(group.num_rows for group in groups):
        raise DamagedTraceError(file, "damaged (it contradicts itself about the number of its rows)")
    unpacked = sum(group.column(place).total_uncompressed_size for group in groups for place in _TEXT_PLACES)
    _check_texts(file, footer.num_rows, unpacked)


def _parquet(file: Path, opened: BinaryIO) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(opened, page_checksum_verification=True, read_dictionary=TEXTS)
    except KeyError:  # a column whose texts are needed is missing
        raise DamagedTraceError(file, "its columns are not those of a trace") from None


def _bytes_of_texts(column: pa.Array) -> int:
    """Return a column's bytes of text; 0 for numbers."""
    if not pa.types.is_dictionary(column.type):
        return 0
    return pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0


def _check_rows(file: Path, batch: pa.RecordBatch) -> None:
    for column, greatest in ((TIME_S, LATEST_S), (NODE, GREATEST_NODE)):
        extremes = pc.min_max(batch[column]).as_py()
        bad = next(
            (extreme for extreme in extremes.values() if extreme is not None and not 0 <= extreme <= greatest), None
        )
        if column == TIME_S and pc.any(pc.is_nan(batch[column])).as_py():
            bad = math.nan  # where all are, older PyArrows find infinite extremes
        if bad is not None:
            raise DamagedTraceError(file, f"damaged (a row with {column} {bad}, which is not from 0 to {greatest:g})")


def damage_of(file: Path) -> str | None:
    """Read all of a trace and return its damage, or None."""
    try:
        deque(read_batches(file), maxlen=0)
    except DamagedTraceError as error:
        return str(error)
    return None


@dataclass(frozen=True, slots=True)
class Footer:
    """The number of rows and the run's metadata at a trace's end."""

    rows: int
    metadata: dict[str, str]


def read_footer(file: Path) -> Footer:
    """Return the footer; raise DamagedTraceError."""
    with opened_trace(file) as trace:
        pairs = (trace.metadata.metadata or {}).items()
        texts = {key.decode(errors="replace"): value.decode(errors="replace") for key, value in pairs}
        return Footer(trace.metadata.num_rows, texts)


def read_about(file: Path) -> About | None:
    """Return the trace's metadata, None in an earlier version's; raise DamagedTraceError."""
    try:
        return read_metadata(read_footer(file).metadata)
    except ValueError as error:
        raise DamagedTraceError(file, f"damaged ({error})") from None


class DamagedTraceError(UserError):
    """A file is no whole trace; the message names file and damage."""

    def __init__(self, file: Path, problem: str) -> None:
        super().__init__(f"{file}: {problem}")


def first_difference(left_path: Path, right_path: Path) -> str:
    """Return two traces' first differing row, or ""; raise DamagedTraceError."""
    first, second = read_trace(left_path), read_trace(right_path)
    if first.equals(second):
        return ""
    for number in range(min(len(first), len(second))):  # one by one: all rows as Python objects would not fit
        (before,), (after,) = first.slice(number, 1).to_pylist(), second.slice(number, 1).to_pylist()
        if before != after:
            return f"row {number} is {_show(before)}, and {_show(after)}"
    return f"one has {len(first)} rows, and the other {len(second)}"


def _show(row: dict[str, Any]) -> str:
    values = (f"{name}={value}" for name, value in row.items() if value is not None and name != TIME_S)
    return f"at {row[TIME_S]} s: {' '.join(values)}"
