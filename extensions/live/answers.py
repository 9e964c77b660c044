"""The schema of the nodes' answers, which validates each one once, on arrival.

A node on another machine can be wrong or lie. Any wrong type, range or length invalidates the answer; no other code of
the conductor checks types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

LARGEST = 2**62
"""Bound of times in ns, counts and sizes; sums of two fit into 64 bits."""
LONGEST_TEXT = 4000
MOST_COUNTS = 100
IDLE, PREPARED, RUNNING, ENDED = STATES = ("idle", "prepared", "running", "ended")


def _whole(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and least <= value <= most


def _text(longest: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and len(value) <= longest and value.isprintable()


def _are_counts(value: Any) -> bool:
    """Whether it maps few names to whole numbers."""
    is_name, is_count = _text(64), _whole(-LARGEST, LARGEST)
    return (
        isinstance(value, dict)
        and len(value) <= MOST_COUNTS
        and all(is_name(name) and is_count(count) for name, count in value.items())
    )


_REQUIRED: Mapping[str, Callable[[Any], bool]] = {
    "node": _whole(0, 2**32),
    "number": _whole(0, LARGEST),
    "session": _text(64),
}
_FIELDS: Mapping[str, Callable[[Any], bool]] = {
    **_REQUIRED,
    "state": lambda value: value in STATES,
    "clock": _whole(0, LARGEST),
    "protocol": _whole(0, 2**31),
    "counts": _are_counts,
    "size": _whole(0, LARGEST),
    "refused": lambda value: isinstance(value, str) and len(value) <= LONGEST_TEXT,
    "error": lambda value: isinstance(value, str) and len(value) <= LONGEST_TEXT,
    "code": _whole(1, 255),
}
"""The check of each field's value."""
_NEEDS = {"refused": ("code",), "error": ("code",)}


def invalid_field(fields: Mapping[str, Any]) -> str | None:
    """Return the first missing, unknown or wrong field of an answer, or None."""
    needed = [*_REQUIRED, *(other for name, others in _NEEDS.items() if name in fields for other in others)]
    if "refused" not in fields:
        needed += ["state", "clock"]
    missing = next((name for name in needed if name not in fields), None)
    wrong = (name for name, value in fields.items() if name not in _FIELDS or not _FIELDS[name](value))
    return missing or next(wrong, None)
