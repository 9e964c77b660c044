"""The rows of a K7 file: whole columns are read and checked at once, for files have 300,000 lines.

What cannot be read so is looked at line by line, to name the line that is wrong and what is wrong with it.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from roambus.bridge.k7.recording import EVERY_CHANNEL, ROW

TIME = "datetime"
NUMBERS = ("src", "dst", "channel", "mean_rssi", "pdr", "tx_count")
REQUIRED = (TIME, *NUMBERS)
"""The columns that every file has; what it has besides is not read."""

TIME_FORMS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ")
MOST_CHANNEL, MOST_ID, MOST_SENT = 255, 2**40, 2**31
WEAKEST_DBM, STRONGEST_DBM = -200.0, 100.0
_EARLIEST, _LATEST = 0, 7_258_118_400
"""Seconds from 1970 to 2200: in between, ns since 1970 have room in 64 bits."""


class RowError(ValueError):
    """What is wrong with the row of this index."""

    def __init__(self, index: int, problem: str) -> None:
        super().__init__(problem)
        self.index = index


def read_rows(content: bytes) -> NDArray[Any]:
    """ROW[row] of the lines from the names of the columns on, with ids as nodes and ns since 1970 as `at`.

    Raises ValueError for wrong names of columns, and RowError for the first row that is wrong.
    """
    names = content.partition(b"\n")[0].decode(errors="replace").strip().split(",")
    missing = [name for name in REQUIRED if names.count(name) != 1]
    if missing:
        raise ValueError(f"the columns must be {','.join(REQUIRED)}: {', '.join(missing)} should be there once")
    try:
        table = _parse(content)
    except pa.ArrowInvalid as error:
        raise _first_wrong(content, names) or ValueError(f"the rows cannot be read: {str(error)[:200]}") from None
    columns = {name: table[name].to_numpy(zero_copy_only=False) for name in NUMBERS}
    times = table[TIME].cast(pa.int64()).to_numpy(zero_copy_only=False)
    _check(columns, np.asarray(times, np.float64))
    return _rows(columns, times)


def _parse(content: bytes) -> pa.Table:
    types = {TIME: pa.timestamp("s"), **dict.fromkeys(NUMBERS, pa.float64())}
    return pacsv.read_csv(
        io.BytesIO(content),
        parse_options=pacsv.ParseOptions(quote_char=False, ignore_empty_lines=False),
        convert_options=pacsv.ConvertOptions(
            column_types=types, include_columns=list(REQUIRED), null_values=[""], timestamp_parsers=list(TIME_FORMS)
        ),
    )


def _check(columns: dict[str, NDArray[np.float64]], times: NDArray[np.float64]) -> None:
    """Raises RowError for the first row that has a value which makes no sense."""
    delivery, rssi, channel = columns["pdr"], columns["mean_rssi"], columns["channel"]
    unheard = np.isnan(rssi)
    _demand((times >= _EARLIEST) & (times <= _LATEST), "datetime is no time from 1970 to 2200")
    for name, most in (("src", MOST_ID), ("dst", MOST_ID), ("tx_count", MOST_SENT)):
        _demand(_is_whole(columns[name], most), f"{name} is no whole number from 0 to {most}")
    _demand(np.isnan(channel) | _is_whole(channel, MOST_CHANNEL), f"channel is no number from 0 to {MOST_CHANNEL}")
    _demand((delivery >= 0) & (delivery <= 1), "pdr is no number from 0 to 1")
    _demand(~unheard | (delivery == 0), "mean_rssi is empty, but frames were heard")
    strengths = f"mean_rssi is no number from {WEAKEST_DBM:g} to {STRONGEST_DBM:g} dBm"
    _demand(unheard | ((rssi >= WEAKEST_DBM) & (rssi <= STRONGEST_DBM)), strengths)


def _demand(holds: NDArray[np.bool_], problem: str) -> None:
    if not holds.all():
        raise RowError(int(np.argmin(holds)), problem)


def _is_whole(numbers: NDArray[np.float64], most: int) -> NDArray[np.bool_]:
    """Some writers write whole numbers as 11.0."""
    is_whole: NDArray[np.bool_] = (numbers == np.floor(numbers)) & (numbers >= 0) & (numbers <= most)
    return is_whole


def _rows(columns: dict[str, NDArray[np.float64]], times: NDArray[np.int64]) -> NDArray[Any]:
    rows = np.zeros(len(times), ROW)
    rows["at"] = times * 10**9
    rows["channel"] = np.nan_to_num(columns["channel"], nan=EVERY_CHANNEL)
    for field, name in (("source", "src"), ("target", "dst"), ("delivery", "pdr"), ("sent", "tx_count")):
        rows[field] = columns[name]
    rows["rssi_dbm"] = columns["mean_rssi"]
    return rows


def _first_wrong(content: bytes, names: Sequence[str]) -> RowError | None:
    """The first row that does not have a time and numbers in the right columns."""
    for index, line in enumerate(content.splitlines()[1:]):
        cells = line.decode(errors="replace").split(",")
        if len(cells) != len(names):
            return RowError(index, f"the line has {len(cells)} columns, and the head has {len(names)}")
        row = dict(zip(names, cells, strict=True))
        if problem := _unreadable(row):
            return RowError(index, problem)
    return None


def _unreadable(row: dict[str, str]) -> str | None:
    try:
        pa.array([row[TIME]]).cast(pa.timestamp("s"))
    except pa.ArrowInvalid:
        return f"datetime is no time such as 2017-06-21 11:48:36: {row[TIME][:30]!r}"
    for name in NUMBERS:
        try:
            math.isnan(float(row[name] or "nan"))
        except ValueError:
            return f"{name} is no number: {row[name][:30]!r}"
    return None
