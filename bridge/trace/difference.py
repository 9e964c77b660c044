"""Says where two traces first differ, for a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from roambus.bridge.trace.reader import read_trace
from roambus.bridge.trace.schema import TIME_S


def first_difference(one: Path, other: Path) -> str:
    """The first row in which two traces differ, with what both have; empty if they have the same rows.

    Raises DamagedTraceError for what is no trace.
    """
    first, second = read_trace(one), read_trace(other)
    if first.equals(second):
        return ""
    for number in range(min(len(first), len(second))):
        before, after = _row(first, number), _row(second, number)
        if before != after:
            return f"row {number} is {_show(before)}, and {_show(after)}"
    return f"one has {len(first)} rows, and the other {len(second)}"


def _row(table: pa.Table, number: int) -> dict[str, Any]:
    (row,) = table.slice(number, 1).to_pylist()
    return dict(row)


def _show(row: dict[str, Any]) -> str:
    values = (f"{name}={value}" for name, value in row.items() if value is not None and name != TIME_S)
    return f"at {row[TIME_S]} s: {' '.join(values)}"
