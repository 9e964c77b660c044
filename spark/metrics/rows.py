"""A trace's rows in memory: packets in plain arrays, all others by column.

A trace is read once, by batches, at 18 bytes a packet; above WHOLE rows only those of tables are kept. So 50 million
rows take less than 2 GiB.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roambus.bridge.trace import schema
from roambus.bridge.trace.parquet import CODED_ROWS, CODED_SCHEMA, read_coded

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

WHOLE = 4_000_000
"""The most rows of a trace that keeps all but packets."""

_OF_TABLES = (
    schema.PUBLISH, schema.ROUTE, schema.DELIVER, schema.ROLE, schema.ENERGY, schema.MIGRATE, schema.DIE,
    schema.DETACH, schema.ATTACH, schema.RADIO, schema.STORE, schema.KEEP, schema.RELEASE, schema.REPLAY, schema.DROP,
    schema.CRASH, schema.FREEZE, schema.RECOVER,
)  # fmt: skip


class Rows:
    """Rows by time; texts are places in a list."""

    def __init__(self, file: Path, count: int) -> None:
        self._file, self._count, self._known = file, count, dict[str, Any]()
        self.packets, kept = Packets(count), []
        for batch in read_coded(file):
            is_sent = is_of(batch, [schema.SEND])
            self.packets.add(batch, np.flatnonzero(is_sent))
            is_kept = ~is_sent if count <= WHOLE else _of_tables(batch)
            kept.append(batch if count <= CODED_ROWS else batch.filter(pa.array(is_kept)))
        self.packets.close()
        self.table = _table(kept)

    def coded(self, events: Sequence[str]) -> pa.Table:
        """Return the rows of these events, or all, in CODED_SCHEMA."""
        if self._count > CODED_ROWS and not self._has(events):
            batches = read_coded(self._file)
            return _table([batch.filter(pa.array(is_of(batch, events))) if events else batch for batch in batches])
        return self.table.take(self.of(*events)) if events else self.table

    def _has(self, events: Sequence[str]) -> bool:
        is_needed = set(events).issubset(_OF_TABLES)
        return bool(events) and schema.SEND not in events and (is_needed or self._count <= WHOLE)

    def of(self, *events: str) -> Integers:
        """Return the places of these events."""
        return np.flatnonzero(is_of(self.table, events))

    def numbers(self, name: str) -> Any:
        """Return a column of numbers."""
        if name not in self._known:
            self._known[name] = self.table[name].to_numpy()
        return self._known[name]

    def codes(self, name: str) -> npt.NDArray[np.int32]:
        """Return each text's place in the list; its end if missing."""
        if name not in self._known:
            self._known[name] = _codes(self.table[name])
        codes: npt.NDArray[np.int32] = self._known[name]
        return codes

    def count(self, name: str) -> int:
        """Return the list's length."""
        return len(_flat(self.table[name]).dictionary)

    def every_text(self, name: str) -> npt.NDArray[np.object_]:
        """Return the list, and None."""
        return _texts(self.table[name])

    def texts(self, name: str, where: Integers) -> tuple[list[str | None], Integers]:
        """Return the rows' different texts, and each row's place among them."""
        used, place = np.unique(self.codes(name)[where], return_inverse=True)
        words = _flat(self.table[name]).dictionary
        return words.take(pa.array(used, mask=used == len(words))).to_pylist(), place


class Packets:
    """A run's packets, in arrays that take memory as they fill."""

    def __init__(self, most: int) -> None:
        self._count, self._numbers = 0, dict[str, int]()
        self._columns: dict[str, Any] = {
            schema.TIME_S: np.empty(most), schema.NODE: np.empty(most, "uint16"),
            schema.MESSAGE_TYPE: np.empty(most, "int32"), schema.BYTES: np.empty(most, "int32"),
        }  # fmt: skip

    def add(self, batch: pa.RecordBatch, where: Integers) -> None:
        """Add the rows at these places."""
        kinds = batch[schema.MESSAGE_TYPE]
        numbers = [self._numbers.setdefault(text or "", len(self._numbers)) for text in _texts(kinds)]
        values = {
            **{name: batch[name].fill_null(0).to_numpy() for name in (schema.TIME_S, schema.NODE, schema.BYTES)},
            schema.MESSAGE_TYPE: np.array(numbers)[_codes(kinds)],
        }
        start, self._count = self._count, self._count + len(where)
        for name, column in self._columns.items():
            column[start : self._count] = values[name][where]

    def close(self) -> None:
        """Sort by time."""
        columns = {name: column[: self._count] for name, column in self._columns.items()}
        if np.any(np.diff(columns[schema.TIME_S]) < 0):
            order = np.argsort(columns[schema.TIME_S], kind="stable")
            columns = {name: column[order] for name, column in columns.items()}
        self._columns = columns

    @property
    def types(self) -> list[str]:
        """The message types by number."""
        return list(self._numbers)

    @property
    def end_s(self) -> float:
        """When the last was sent."""
        return float(self._columns[schema.TIME_S].max(initial=0.0))

    def since(self, time_s: float) -> dict[str, Any]:
        """Those from that time on."""
        start = np.searchsorted(self._columns[schema.TIME_S], time_s)
        return {name: column[start:] for name, column in self._columns.items()}


def _table(batches: list[pa.RecordBatch]) -> pa.Table:
    table = pa.Table.from_batches(batches, CODED_SCHEMA).unify_dictionaries().combine_chunks()
    time_s = table[schema.TIME_S].to_numpy()
    return table.take(np.argsort(time_s, kind="stable")) if np.any(np.diff(time_s) < 0) else table


def is_of(rows: pa.Table | pa.RecordBatch, events: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return a mask of these events."""
    column = rows[schema.EVENT]
    wanted = np.array([text in events for text in _texts(column)], bool)
    return wanted[_codes(column)]


def _of_tables(rows: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    is_named: npt.NDArray[np.bool_] = rows[schema.NOTIFICATION_ID].is_valid().to_numpy(zero_copy_only=False)
    return is_of(rows, _OF_TABLES) | (is_of(rows, [schema.RECEIVE]) & is_named)


def _flat(texts: Any) -> pa.DictionaryArray:
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


def _codes(texts: Any) -> npt.NDArray[np.int32]:
    flat = _flat(texts)
    codes: npt.NDArray[np.int32] = flat.indices.fill_null(len(flat.dictionary)).to_numpy(zero_copy_only=False)
    return codes


def _texts(coded: Any) -> npt.NDArray[np.object_]:
    return np.array([*_flat(coded).dictionary.to_pylist(), None], dtype=object)


def plain(column: pa.ChunkedArray) -> Any:
    """Return a column's values."""
    return _texts(column)[_codes(column)] if pa.types.is_dictionary(column.type) else column.to_numpy()
