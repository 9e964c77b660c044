"""The first line of a K7 file: what was recorded, where, and when, as JSON."""

from __future__ import annotations

import json
import math
from typing import NamedTuple

MOST_CHARACTERS = 65_536
"""The headers of the public recordings have some 250."""


class Header(NamedTuple):
    """What of a header has a meaning here."""

    location: str
    power_dbm: float


def read_header(line: str) -> Header:
    """What the line says; raises ValueError for one that is no object of JSON, or that has a wrong transmit power."""
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
        raise ValueError("txpower is no power from -100 to 100 dBm")
    return Header(str(header.get("location", ""))[:100], float(power) if math.isfinite(power) else 0.0)
