"""Connectivity recorded by testbeds, in the K7 format: reception strength and reliability over time.

A file has a line of JSON, the column names, and a row per link and burst, received or not. Public "dense connectivity
datasets" and the 6TiSCH simulator use the format.

    {"location": "grenoble", "tx_length": 100, "node_count": 50, "channels": [11, 12], "start_date": "..."}
    datetime,src,dst,channel,mean_rssi,pdr,tx_count
    2017-06-21 11:48:36,0,11,11,-80.48,1.0,100
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import read_text
from roambus.python_protocol.simtime import SECOND

EVERY_CHANNEL = -1
"""The channel of rows averaged over all channels."""

ROW = np.dtype(
    [
        ("at", "i8"),  # ns since the first row
        ("source", "i8"),  # index in `Recording.ids`
        ("target", "i8"),
        ("channel", "i8"),
        ("rssi_dbm", "f8"),  # the mean over what was heard; NaN if nothing was
        ("delivery", "f8"),  # from 0 to 1
        ("sent", "i8"),  # frames
    ]
)


@dataclass(frozen=True, eq=False)
class Recording:
    """A file's header, and rows by time; nodes are numbered by id."""

    name: str
    """The file, for messages."""
    location: str
    power_dbm: float
    """What the nodes sent with."""
    start: str
    """The first row's time, as in the file."""
    ids: tuple[int, ...]
    """The file's node ids, ascending."""
    rows: NDArray[Any]
    """ROW[row]"""
    left_out: tuple[int, ...] = ()
    """Lines of nodes that hear themselves, as in some public recordings."""

    @property
    def channels(self) -> list[int]:
        """Channels with rows, ascending; EVERY_CHANNEL is first."""
        return list(map(int, np.unique(self.rows["channel"])))

    @property
    def lasting(self) -> int:
        """Return the ns from first to last row."""
        return int(self.rows["at"][-1])


TIME = "datetime"
NUMBERS = ("src", "dst", "channel", "mean_rssi", "pdr", "tx_count")
REQUIRED = (TIME, *NUMBERS)
"""Every file's columns; others are ignored."""

TIME_FORMS = (pacsv.ISO8601, "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ")
MOST_CHANNEL, MOST_ID, MOST_SENT = 255, 2**40, 2**31
WEAKEST_DBM, STRONGEST_DBM = -200.0, 100.0
_EARLIEST, _LATEST = 0, 7_258_118_400 * 10**6
"""Microseconds from 1970 to 2200: ns fit in 64 bits."""

MOST_CHARACTERS = 65_536
"""Public recordings' headers have some 250."""
MOST_BYTES = 256 * 2**20
"""Some five million rows unpacked; the largest public file has 17 MB."""
MOST_ROWS = 2_000_000
"""Counted before reading: text packs a thousandfold, and a row takes 400 bytes. The largest public recordings have
300,000."""
MOST_NODES = 2048
"""The table of all pairs takes 32 MiB; testbeds have some 50 nodes."""
ROWS_BEGIN = 3
"""The line of the first row."""


def read_k7(path: Path) -> Recording:
    """Read a file; raise UserError with file and line, and OSError."""
    content = read_text(path, MOST_BYTES).encode()
    if content.count(b"\n") > MOST_ROWS + ROWS_BEGIN:
        raise UserError(f"{path}: it has more than {MOST_ROWS:,} rows: cut it to what is used")
    first, _, rest = content.partition(b"\n")
    line = 1
    try:
        header = read_header(first.decode(errors="replace"))
        line = 2
        rows = read_rows(rest)
    except ValueError as error:
        place = ROWS_BEGIN + error.index if isinstance(error, RowError) else line
        raise UserError(f"{path}:{place}: {error}") from None
    return _recording(path, *header, rows)


def _recording(path: Path, location: str, power_dbm: float, rows: NDArray[Any]) -> Recording:
    """Drop self-links; number nodes, and times from the first row."""
    to_itself = np.flatnonzero(rows["source"] == rows["target"])
    left_out = tuple((to_itself + ROWS_BEGIN).tolist())
    rows = np.delete(rows, to_itself)
    if not len(rows):
        raise UserError(f"{path}: there is no row with a link in it")
    ids = np.unique(np.concatenate([rows["source"], rows["target"]]))
    if len(ids) > MOST_NODES:
        raise UserError(f"{path}: {len(ids)} nodes are more than the {MOST_NODES} that a recording can have here")
    rows = rows[np.argsort(rows["at"], kind="stable")]
    first = int(rows["at"][0])
    rows["at"] -= first
    rows["source"], rows["target"] = np.searchsorted(ids, rows["source"]), np.searchsorted(ids, rows["target"])
    start = str(np.datetime64(first // SECOND, "s")).replace("T", " ")
    return Recording(str(path), location, power_dbm, start, tuple(ids.tolist()), rows, left_out)


def read_header(line: str) -> tuple[str, float]:
    """Return location and transmit power (dBm), the used fields; raise ValueError."""
    if len(line) > MOST_CHARACTERS:
        raise ValueError(f"the header is longer than {MOST_CHARACTERS} characters")
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise ValueError('a K7 file begins with a line of JSON such as {"location": "grenoble", "channels": [11, 26]}')
    power = header.get("txpower", 0)
    if isinstance(power, bool) or not isinstance(power, int | float) or not -100 <= power <= 100:
        raise ValueError("txpower is not a power from -100 to 100 dBm")
    return str(header.get("location", ""))[:100], float(power)


class RowError(ValueError):
    """An error in the row of this index."""

    def __init__(self, index: int, problem: str) -> None:
        super().__init__(problem)
        self.index = index


def read_rows(content: bytes) -> NDArray[Any]:
    """Return ROW[row] from the column names on, with node ids and `at` in ns since 1970.

    Raises ValueError for wrong column names, RowError for a wrong row.
    """
    names = content.partition(b"\n")[0].decode(errors="replace").strip().split(",")
    if missing := [name for name in REQUIRED if names.count(name) != 1]:
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
    types = {TIME: pa.timestamp("us"), **dict.fromkeys(NUMBERS, pa.float64())}
    return pacsv.read_csv(
        io.BytesIO(content),
        parse_options=pacsv.ParseOptions(quote_char=False, ignore_empty_lines=False),
        convert_options=pacsv.ConvertOptions(
            column_types=types, include_columns=list(REQUIRED), null_values=[""], timestamp_parsers=list(TIME_FORMS)
        ),
    )


def _check(columns: dict[str, NDArray[np.float64]], times: NDArray[np.float64]) -> None:
    """Raise RowError for the first senseless value; whole numbers must be exact as floats."""
    delivery, rssi, channel = columns["pdr"], columns["mean_rssi"], columns["channel"]
    unheard = np.isnan(rssi)
    _demand((times >= _EARLIEST) & (times <= _LATEST), "datetime is not a time from 1970 to 2200")
    for name, most in (("src", MOST_ID), ("dst", MOST_ID), ("tx_count", MOST_SENT)):
        _demand(_is_whole(columns[name], most), f"{name} is not a whole number from 0 to {most}")
    _demand(np.isnan(channel) | _is_whole(channel, MOST_CHANNEL), f"channel is not a number from 0 to {MOST_CHANNEL}")
    _demand((delivery >= 0) & (delivery <= 1), "pdr is not a number from 0 to 1")
    _demand(~unheard | (delivery == 0), "mean_rssi is empty, but frames were heard")
    strengths = f"mean_rssi is not a number from {WEAKEST_DBM:g} to {STRONGEST_DBM:g} dBm"
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
    rows["at"] = times * 1000
    rows["channel"] = np.nan_to_num(columns["channel"], nan=EVERY_CHANNEL)
    for field, name in (("source", "src"), ("target", "dst"), ("delivery", "pdr"), ("sent", "tx_count")):
        rows[field] = columns[name]
    rows["rssi_dbm"] = columns["mean_rssi"]
    return rows


def _first_wrong(content: bytes, names: Sequence[str]) -> RowError | None:
    for index, line in enumerate(content.splitlines()[1:]):
        cells = line.decode(errors="replace").split(",")
        problem = f"the line has {len(cells)} columns, and the head has {len(names)}"
        if len(cells) != len(names) or (problem := _unreadable(dict(zip(names, cells, strict=True)))):
            return RowError(index, problem)
    return None


def _unreadable(row: dict[str, str]) -> str:
    try:
        pa.array([row[TIME]]).cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return f"datetime is not a time such as 2017-06-21 11:48:36: {row[TIME][:30]!r}"
    for name in NUMBERS:
        try:
            math.isnan(float(row[name] or "nan"))
        except ValueError:
            return f"{name} is not a number: {row[name][:30]!r}"
    return ""


class Excerpt(NamedTuple):
    """Rows of a recording, and a run's times in it."""

    rows: NDArray[Any]
    """ROW[row] of one channel and the run's nodes, by time"""
    nodes: int
    start: int
    """ns into the recording"""
    pace: float
    lasting: int
    """ns of the run"""

    @property
    def links(self) -> NDArray[np.int64]:
        """Each row's link: `source * nodes + target`."""
        return np.asarray(self.rows["source"] * self.nodes + self.rows["target"], np.int64)

    @property
    def end(self) -> float:
        """The run's end as ns into the recording."""
        return float(self.start + self.pace * self.lasting)


def choose(recording: Recording, channel: int | None, nodes: int) -> NDArray[Any]:
    """Return a channel's rows (None: first) between the first `nodes`; raise ValueError if none."""
    channels = recording.channels
    channel = (
        next((candidate for candidate in channels if candidate != EVERY_CHANNEL), channels[0])
        if channel is None
        else channel
    )
    if channel not in channels:
        there = ", ".join(
            "the mean over all" if candidate == EVERY_CHANNEL else str(candidate) for candidate in channels
        )
        raise ValueError(f"there is no row of this channel; there are {there}")
    if nodes > len(recording.ids):
        raise ValueError(f"{nodes} nodes are wanted, and the recording has {len(recording.ids)}")
    rows: NDArray[Any] = recording.rows
    rows = rows[(rows["channel"] == channel) & (rows["source"] < nodes) & (rows["target"] < nodes)]
    if not len(rows):
        raise ValueError(f"no link between its first {nodes} nodes has a row of this channel")
    return rows


def at_first(excerpt: Excerpt) -> NDArray[np.int64]:
    """Return Index[link]: each link's last row up to the start, or else its first.

    The later entry wins.
    """
    links = excerpt.links
    _, first = np.unique(links, return_index=True)
    before = np.flatnonzero(excerpt.rows["at"] <= excerpt.start)
    holding = dict(zip(links[first].tolist(), first.tolist(), strict=True))
    holding.update(zip(links[before].tolist(), before.tolist(), strict=True))
    return np.array(sorted(holding.values()), np.int64)


def later(excerpt: Excerpt) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return Index[change] of rows that take effect in the run, and their ns[change]."""
    at = excerpt.rows["at"]
    if excerpt.pace == 0:  # the run stays at its start
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    changes = np.flatnonzero((at > excerpt.start) & (at < excerpt.end))
    times = np.ceil((at[changes] - excerpt.start) / excerpt.pace).astype(np.int64)
    return changes, times


def gaps(excerpt: Excerpt) -> Iterator[str]:
    """Yield a sentence per kind of gap."""
    found, first = np.unique(excerpt.links, return_index=True)
    possible = excerpt.nodes * (excerpt.nodes - 1)
    if len(found) < possible:
        yield f"{possible - len(found)} of {possible} links have no row: they carry nothing and do not interfere"
    if unheard := int(np.isnan(excerpt.rows["rssi_dbm"]).sum()):
        yield f"{unheard} rows have no strength, for nothing was heard: their links do not interfere then"
    late = excerpt.rows["at"][first] - excerpt.start
    if (late > 0).any():
        text = f"{(late > 0).sum()} links have no row yet at the start"
        yield f"{text}: they begin as their first row says, which is up to {_duration(late.max())} later"
    if (rest := excerpt.end - float(excerpt.rows["at"][-1])) > 0:
        yield f"the recording ends {_duration(rest)} before the run does: links stay as they were last recorded"


def _duration(ns: float) -> str:
    seconds = ns / SECOND
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
