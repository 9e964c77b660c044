"""Reads the traces of runs, and names what is wrong with one, whatever that is: traces can be damaged, or a stranger's.

Each page of a trace has a checksum, and what a row holds is checked, too. So damage never passes for data, and whoever
reads a trace by this module need not think of times that are no times, of nodes that no network has, or of texts that
are no texts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roambus.bridge.errors import UserError
from roambus.bridge.trace.metadata import About, read_metadata
from roambus.bridge.trace.schema import LATEST_S, NODE, TIME_S, TRACE_SCHEMA

GREATEST_NODE = 65535
"""The address of broadcast, above which there is none."""
BATCH_ROWS = 16384
"""Rows that are in memory at once where a trace is read batch by batch."""


class DamagedTraceError(UserError):
    """A file is no trace, or no whole one: the message names the file and what is wrong with it."""

    def __init__(self, file: Path, problem: str) -> None:
        super().__init__(f"{file}: {problem}")


@dataclass(frozen=True, slots=True)
class Footer:
    """What the end of a trace file says: how many rows there are, and what is written about the run."""

    rows: int
    metadata: dict[str, str]


def read_footer(file: Path) -> Footer:
    """The footer, if the columns are those of a trace; raises DamagedTraceError."""
    with opened_trace(file) as trace:
        metadata = trace.metadata.metadata or {}
        texts = {key.decode(errors="replace"): value.decode(errors="replace") for key, value in metadata.items()}
        return Footer(trace.metadata.num_rows, texts)


def read_about(file: Path) -> About | None:
    """What the trace is a trace of; None if it does not say, as those of an earlier version.

    Raises DamagedTraceError.
    """
    try:
        return read_metadata(read_footer(file).metadata)
    except ValueError as error:
        raise DamagedTraceError(file, f"damaged ({error})") from None


def read_trace(file: Path) -> pa.Table:
    """All rows, without what is written about the run; raises DamagedTraceError."""
    batches = list(read_batches(file))
    return pa.Table.from_batches(batches, TRACE_SCHEMA)


def read_batches(file: Path) -> Iterator[pa.RecordBatch]:
    """The rows in their order, batch by batch; raises DamagedTraceError."""
    with opened_trace(file) as trace:
        for batch in trace.iter_batches(BATCH_ROWS):
            batch.validate(full=True)
            _check_rows(file, batch)
            yield batch.replace_schema_metadata(None).cast(TRACE_SCHEMA)


def damage_of(file: Path) -> str | None:
    """What is wrong with a trace, found by reading all of it; None for a whole one."""
    try:
        for _ in read_batches(file):
            pass
    except DamagedTraceError as error:
        return str(error)
    return None


@contextmanager
def opened_trace(file: Path) -> Iterator[pq.ParquetFile]:
    """The file, if its columns are those of a trace; whatever goes wrong in the block is a DamagedTraceError."""
    try:
        # By a file object, for Arrow knows no names that are not UTF-8.
        with file.open("rb") as opened, pq.ParquetFile(opened, page_checksum_verification=True) as trace:
            if not trace.schema_arrow.remove_metadata().equals(TRACE_SCHEMA):
                raise DamagedTraceError(file, "its columns are not those of a trace")
            yield trace
    except (OSError, pa.ArrowException, ValueError, MemoryError, OverflowError) as error:
        problem = " ".join(str(error).split("\n", 1)[0].split()) or type(error).__name__
        raise DamagedTraceError(file, f"damaged ({problem})") from None


def _check_rows(file: Path, batch: pa.RecordBatch) -> None:
    """Raises DamagedTraceError for a row at no time, or of no node."""
    for column, greatest in ((TIME_S, LATEST_S), (NODE, GREATEST_NODE)):
        extremes = pc.min_max(batch[column]).as_py()
        bad = next((one for one in extremes.values() if one is not None and not 0 <= one <= greatest), None)
        if bad is None and column == TIME_S and pc.any(pc.is_nan(batch[column])).as_py():
            bad = math.nan
        if bad is not None:
            raise DamagedTraceError(file, f"damaged (a row with {column} {bad}, which is not from 0 to {greatest:g})")
