"""Reads a K7 file, plain or gzipped: a line of JSON, the names of the columns, and a row for each link and burst.

    {"location": "grenoble", "tx_length": 100, "node_count": 50, "channels": [11, 12], "start_date": "..."}
    datetime,src,dst,channel,mean_rssi,pdr,tx_count
    2017-06-21 11:48:36,0,11,11,-80.48,1.0,100

Rows may come in any order, and columns that are not known are passed over. An empty channel is the mean over all, an
empty strength means that nothing was heard. Files come from elsewhere, so that their size is limited, and whatever is
wrong is an error that names file and line. The format is that of the public "dense connectivity datasets", and is what
the 6TiSCH simulator reads.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.errors import UserError
from roambus.bridge.k7.columns import RowError, read_rows
from roambus.bridge.k7.header import Header, read_header
from roambus.bridge.k7.recording import Recording
from roambus.python_protocol.simtime import SECOND

MOST_BYTES = 256 * 2**20
"""An unpacked file may be so large, which are some five million rows; the largest public ones have 17 MB."""
MOST_NODES = 2048
"""So many nodes have a table of all pairs in 32 MiB; the testbeds have some 50."""
ROWS_BEGIN = 3
"""The line of the first row."""

_GZIP_MAGIC = b"\x1f\x8b"


def read_k7(path: Path) -> Recording:
    """What the file says; raises UserError, which names file and line, and OSError."""
    first, _, rest = _content(path).partition(b"\n")
    try:
        header = read_header(first.decode(errors="replace"))
    except ValueError as error:
        raise UserError(f"{path}:1: {error}") from None
    try:
        rows = read_rows(rest)
    except RowError as error:
        raise UserError(f"{path}:{ROWS_BEGIN + error.index}: {error}") from None
    except ValueError as error:
        raise UserError(f"{path}:2: {error}") from None
    return _recording(path, header, rows)


def is_k7(path: Path) -> bool:
    """Whether a file begins as a recording, plain or gzipped; raises OSError."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_GZIP_MAGIC)).startswith((b"{", _GZIP_MAGIC))


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
        file.seek(0)
        try:
            content = gzip.GzipFile(fileobj=file).read(MOST_BYTES + 1) if packed else file.read(MOST_BYTES + 1)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise UserError(f"{path}: its gzip is damaged ({error}): make the file again") from None
    if len(content) > MOST_BYTES:
        raise UserError(f"{path}: it is larger than {MOST_BYTES >> 20} MiB: cut it to what is used")
    return content


def _recording(path: Path, header: Header, rows: NDArray[Any]) -> Recording:
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
    return Recording(str(path), header.location, header.power_dbm, start, tuple(ids.tolist()), rows, left_out)
