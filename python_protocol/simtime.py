"""Simulation time: whole nanoseconds, so that sums and comparisons are exact."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

SimTime = int
"""Nanoseconds of simulator time since the start of the run."""


NANOSECOND: SimTime = 1


MICROSECOND: SimTime = 1_000


MILLISECOND: SimTime = 1_000_000


SECOND: SimTime = 1_000_000_000


_UNITS = {"ns": NANOSECOND, "us": MICROSECOND, "ms": MILLISECOND, "s": SECOND, "min": 60 * SECOND, "h": 3600 * SECOND}


_GREATEST_NUMBER = 10**19
"""More nanoseconds than OMNeT++ can count: a limit for every unit."""


_TIME = re.compile(r"\s*([-+0-9.eE]+)\s*([a-z]*)\s*")


def from_seconds(seconds: float) -> SimTime:
    """The time nearest to `seconds`."""
    return round(seconds * SECOND)


def to_seconds(time: SimTime) -> float:
    """A time in seconds, rounded to a float."""
    return time / SECOND


def parse_time(text: str) -> SimTime:
    """Read "1.5s", "20 ms", "100us" or "3" (seconds); raises ValueError."""
    match = _TIME.fullmatch(text)
    unit = _UNITS.get(match[2] or "s") if match else None
    if match is None or unit is None:
        raise ValueError(f"{text!r} is not a time such as 1.5s, 20ms or 100us")
    try:
        number = Decimal(match[1])
    except InvalidOperation:
        raise ValueError(f"{text!r} is not a time such as 1.5s, 20ms or 100us") from None
    if number.copy_abs() > _GREATEST_NUMBER:
        raise ValueError(f"{text[:40]!r} is longer than any simulation lasts")
    return int((number * unit).to_integral_value())


def format_time(time: SimTime) -> str:
    """Write `time` for `parse_time` in the largest unit that it fills: "1.5s", "20ms"."""
    for unit in ("s", "ms", "us"):
        if abs(time) >= _UNITS[unit]:
            return f"{Decimal(time) / _UNITS[unit]:f}{unit}"
    return f"{time}ns" if time else "0s"
