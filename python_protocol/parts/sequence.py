"""Sequence numbers that roll over: which of two is newer, and which number comes next.

Two numbers are compared by their difference as a signed integer (RFC 3561, section 6.1; RFC 1982): a number is newer
than the half of all numbers that lie behind it. If two numbers are exactly half the circle apart, neither is newer.
"""

from __future__ import annotations


def is_newer(number: int, than: int, bits: int = 32) -> bool:
    """Whether `number` comes after `than`, both unsigned integers of `bits` bits."""
    return 0 < (number - than) % (1 << bits) < 1 << (bits - 1)


def newest(first: int, second: int, bits: int = 32) -> int:
    """The newer of two numbers; the first if neither is."""
    return second if is_newer(second, first, bits) else first


def following(number: int, bits: int = 32) -> int:
    """The number after `number`; the one after the largest is 0."""
    return (number + 1) % (1 << bits)
