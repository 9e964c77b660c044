"""Writes a film: a header of JSON, and columns of unsigned integers, together compressed.

The bytes of a column are laid plane by plane, all lowest bytes first: neighbouring rows differ little, so that the
planes compress well. `page/film.js` reads it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]
"""Values of at least 0 and below 2**53, what a number of JavaScript holds exactly."""

MAX_BYTES = 7
_LENGTH = Struct("<I")
_LEVEL = 6
"""The level of gzip: the highest takes five times as long, for 2 % less."""


def pack(header: Mapping[str, Any], columns: Mapping[str, Column]) -> bytes:
    """Compresses header and columns; the header gets `columns`: name, length and bytes of a value of each."""
    planes = {name: _planes(column) for name, column in columns.items()}
    layout = [[name, len(column), planes[name].shape[0]] for name, column in columns.items()]
    text = json.dumps({**header, "columns": layout}, separators=(",", ":"), allow_nan=False).encode()
    content = b"".join((_LENGTH.pack(len(text)), text, *(plane.tobytes() for plane in planes.values())))
    return gzip.compress(content, _LEVEL, mtime=0)


def _planes(column: Column) -> NDArray[np.uint8]:
    """The column as planes of bytes, the lowest first."""
    greatest = int(column.max(initial=0))
    size = max(1, (greatest.bit_length() + 7) // 8)
    if column.min(initial=0) < 0 or size > MAX_BYTES:
        raise ValueError(f"{greatest} or a value below 0 in a column")
    return column.astype("<u8").view(np.uint8).reshape(len(column), 8)[:, :size].T
