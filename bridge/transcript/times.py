"""Reads the times of transcripts, which are at least 0 and no longer than a run may last."""

from __future__ import annotations

from roambus.bridge.limits import DURATION
from roambus.python_protocol.simtime import SimTime, parse_time, to_seconds


def parse_duration(text: str) -> SimTime:
    """Reads a time from 0 up; raises ValueError."""
    time = parse_time(text)
    if time < 0:
        raise ValueError(f"{text} is negative")
    DURATION.check(to_seconds(time))
    return time


def parse_positive(text: str) -> SimTime:
    """Reads a time above 0; raises ValueError."""
    time = parse_duration(text)
    if time == 0:
        raise ValueError(f"{text} is no time greater than 0")
    return time
