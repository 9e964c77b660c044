"""Writes the trace of a run: one Parquet file with the schema of this room, which is whole or not there at all."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roambus.bridge.trace.schema import TIME_S, TRACE_SCHEMA
from roambus.bridge.unfinished_file import UnfinishedFile
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime

CHUNK_ROWS = 2048
"""Rows kept as Python objects before they become an Arrow batch: few enough to be in the processor's cache still."""

_ORDER = "order"


class TraceLevel(Enum):
    """How much a trace holds: APP leaves out `receive` rows, FULL has all."""

    APP = "app"
    FULL = "full"


class TraceWriter:
    """Collects rows; `write` puts them on disk in the order of time, then of occurrence."""

    def __init__(self, level: TraceLevel = TraceLevel.APP) -> None:
        self.receives = level is TraceLevel.FULL
        self._rows: list[tuple[object, ...]] = []
        self._batches: list[pa.RecordBatch] = []

    def add(  # noqa: PLR0913, PLR0917  # a column each: to wrap and unwrap them takes longer than to keep them
        self,
        time: SimTime,
        node: NodeId,
        event: str,
        message_type: str | None = None,
        notification_id: str | None = None,
        peer: NodeId | None = None,
        size: int | None = None,
        hops: int | None = None,
        detail: str | None = None,
    ) -> None:
        """Adds a row at `time` (ns) on `node`, with the columns of the schema; `size` is in bytes."""
        self._rows.append((time / SECOND, node, event, message_type, notification_id, peer, size, hops, detail))
        if len(self._rows) >= CHUNK_ROWS:
            self._pack()

    def table(self) -> pa.Table:
        """All rows so far, sorted by time; rows of one time stay in the order in which they were added."""
        self._pack()
        table = pa.Table.from_batches(self._batches, TRACE_SCHEMA)
        numbered = table.append_column(_ORDER, pa.array(range(table.num_rows), pa.int64()))
        order = pc.sort_indices(numbered, sort_keys=[(TIME_S, "ascending"), (_ORDER, "ascending")])
        return table.take(order)

    def write(self, path: Path, metadata: Mapping[str, str]) -> None:
        """Writes the file in one step: after a kill at any moment it is whole or absent. Raises OSError."""
        write_trace(self.table(), path, metadata)

    def _pack(self) -> None:
        columns = list(zip(*self._rows, strict=True)) or [()] * len(TRACE_SCHEMA)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, TRACE_SCHEMA, strict=True)]
        self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=TRACE_SCHEMA))
        self._rows.clear()


def write_trace(table: pa.Table, path: Path, metadata: Mapping[str, str]) -> None:
    """Writes a table of `TRACE_SCHEMA` as a trace; each page has a checksum, so that no damage passes for data.

    The file is whole or absent after a kill at any moment. Raises OSError.
    """
    with UnfinishedFile(path) as unfinished:
        whole = table.replace_schema_metadata(dict(metadata))
        pq.write_table(whole, unfinished.file, compression="zstd", write_page_checksum=True)
        unfinished.finish()
