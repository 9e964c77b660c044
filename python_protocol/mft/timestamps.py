"""T(s): how new, and from how near, what a broker knows about a subscriber is (003, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from roambus.python_protocol.brokers.messages import MAX_HOPS
from roambus.python_protocol.messages.codec import Reader, Writer


@dataclass(frozen=True, slots=True)
class Timestamp:
    """The number of a subscriber's message, and hops to the subscriber: its own broker has 1.

    The greater of two has the newer counter, or the same counter and fewer hops.
    """

    counter: int
    hops: int

    @property
    def is_home(self) -> bool:
        """Whether it is that of the subscriber's own broker."""
        return self.hops == 1

    def __gt__(self, other: Timestamp) -> bool:
        return (self.counter, -self.hops) > (other.counter, -other.hops)

    def __lt__(self, other: Timestamp) -> bool:
        return other > self

    def __str__(self) -> str:
        return f"({self.counter},{describe_hops(self.hops)})"

    def write(self, writer: Writer) -> None:
        """Five bytes."""
        writer.u32(self.counter)
        writer.u8(self.hops)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u32(), reader.u8())


UNKNOWN = Timestamp(0, MAX_HOPS)
"""T of a subscriber that a broker does not know, infinitely far: every message about it is newer."""


def at_hops(counter: int, hops: int) -> Timestamp:
    """T at a distance that may have been counted too far."""
    return Timestamp(counter, min(hops, MAX_HOPS))


def describe_hops(hops: int) -> str:
    """As transcripts write it."""
    return "inf" if hops == MAX_HOPS else str(hops)
