"""The store of earlier aggregations: each run's metrics, until its trace or their code changes.

DIR/aggregated/ holds Parquet files, each written in one step: after a kill rows may be duplicate or stale, but are
right. A damaged file counts as absent. Without extra metrics rows with further values serve, too.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roambus.bridge.runs.layout import unlinked
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import UnfinishedFile, open_regular, user_cache
from roambus.spark.aggregation import computation
from roambus.spark.aggregation.computation import METRICS_SCHEMA, RUN
from roambus.spark.aggregation.traces import Trace
from roambus.spark.metrics.extra import digest_of

_STAMP = pa.schema(
    [
        pa.field("size", pa.int64(), nullable=False),
        pa.field("modified_ns", pa.int64(), nullable=False),
    ]
)
"""The columns that identify a run's trace."""
_OWN_NAME = re.compile(r"\.?[0-9a-f]+-[0-9a-f]{16}\.parquet(\.\d+)?")
"""A store's files, also unfinished; others are the user's."""
_NOTHING_ELSE = "0" * 8
"""Ends the definition of rows without extra metrics."""
STORE_SCHEMA = pa.schema([*METRICS_SCHEMA, *_STAMP])

Stamp = tuple[str, int, int]


@contextmanager
def opened_store(folder: Path, extra: str = "") -> Iterator[MetricsStore]:
    """Open the folder's store for one process; raise UserError, OSError. `extra` is a digest."""
    unlinked(folder).mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_DIRECTORY)
    try:
        _lock(descriptor, folder)
        yield MetricsStore(folder, definition(extra))
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    with suppress(OSError):  # not every network's file system has locks
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{folder}: in use by another aggregation: wait until it has ended") from None


@cache
def definition(extra: str = "") -> str:
    """Return digests of the metrics' code, its setting, and `extra`; a change recomputes all."""
    libraries = " ".join(library.__version__ for library in (np, pa, pd))
    code = digest_of([computation.__name__], f"{libraries} {computation.deadline_s()}")
    return code[:8] + (extra[:8] or _NOTHING_ELSE)


@contextmanager
def opened_beside(folder: Path, extra: str = "") -> Iterator[MetricsStore]:
    """Open a store that has this folder's rows, and keeps new ones in the user's cache; raise UserError, OSError.

    Whoever reads results leaves them as they are; without a cache new rows are lost at the end.
    """
    own = cached_beside(folder)
    with TemporaryDirectory() as lost:
        try:
            own.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            own = Path(lost)
        with opened_store(own, extra) as store:
            store.also = (folder,)
            yield store


def cached_beside(folder: Path) -> Path:
    """The folder of this store's rows in the user's cache, existing or not."""
    name = sha256(str(unlinked(folder).resolve()).encode(errors="surrogateescape")).hexdigest()
    return user_cache() / "metrics" / name


class MetricsStore:
    """The rows of `METRICS_SCHEMA` by the stamps of their traces."""

    def __init__(self, folder: Path, definition: str) -> None:
        self._folder, self._definition = folder, definition
        self.also: tuple[Path, ...] = ()
        """Folders whose rows count, too."""

    def rows_of(self, traces: Sequence[Trace]) -> pa.Table:
        """Return the stored row of each trace, if any; raise OSError."""
        # The first row with a stamp is taken: a kill between writing and removing leaves rows twice.
        wanted = {_stamp(trace) for trace in traces}
        table = pa.concat_tables([STORE_SCHEMA.empty_table(), *map(read_part, self._parts())])
        chosen = []
        for stamp in _stamps(table):
            chosen.append(stamp in wanted)
            wanted.discard(stamp)
        return table.filter(pa.array(chosen, pa.bool_()))

    def add(self, metrics: pa.Table, traces: Sequence[Trace]) -> None:
        """Keeps the metrics of these traces; raises OSError."""
        by_run = {trace.run: _stamp(trace)[1:] for trace in traces}
        kept = metrics.filter(pc.is_in(metrics[RUN], pa.array(list(by_run), pa.string())))
        stamps = zip(*(by_run[run] for run in kept[RUN].to_pylist()), strict=True)
        for field, values in zip(_STAMP, stamps, strict=False):
            kept = kept.append_column(field, pa.array(values, field.type))
        if len(kept):
            self._write(kept)

    def keep_only(self, rows: pa.Table) -> None:
        """Write one file of these rows, and remove the others; raise OSError."""
        kept = self._write(rows)
        for file in self._folder.iterdir():
            if file != kept and _OWN_NAME.fullmatch(file.name):
                file.unlink()

    def _parts(self) -> list[Path]:
        code = self._definition.removesuffix(_NOTHING_ELSE)
        pattern = f"{code}*-*.parquet" if code != self._definition else f"{code}-*.parquet"
        found = (part for folder in (self._folder, *self.also) for part in folder.glob(pattern))
        return sorted(found, key=lambda part: (part.name.startswith(f"{self._definition}-"), part))

    def _write(self, rows: pa.Table) -> Path:
        ordered = rows.sort_by(RUN)
        digest = sha256(repr(list(_stamps(ordered))).encode()).hexdigest()[:16]
        path = self._folder / f"{self._definition}-{digest}.parquet"
        if len(read_part(path)) != len(ordered):
            with UnfinishedFile(path) as unfinished:
                pq.write_table(ordered, unfinished.file, write_page_checksum=True)
                unfinished.finish()
        return path


def missing_from(rows: pa.Table, traces: Sequence[Trace]) -> list[Trace]:
    """The traces that have no row."""
    known = set(_stamps(rows))
    return [trace for trace in traces if _stamp(trace) not in known]


def read_part(part: Path) -> pa.Table:
    """Return a part's rows; none of a damaged one."""
    try:
        with open_regular(part) as file:  # Arrow knows no names that are not UTF-8
            table = pq.read_table(file, page_checksum_verification=True, partitioning=None)
            table.validate(full=True)
    except (OSError, pa.ArrowException, ValueError, MemoryError):
        return STORE_SCHEMA.empty_table()
    return table if table.schema.equals(STORE_SCHEMA) else STORE_SCHEMA.empty_table()


def _stamp(trace: Trace) -> Stamp:
    return (trace.run, trace.size, trace.modified_ns)


def _stamps(rows: pa.Table) -> Iterator[Stamp]:
    return zip(*(rows[name].to_pylist() for name in (RUN, *_STAMP.names)), strict=True)
