"""T(s): how new, and from how near, what a broker knows about a subscriber is (the thesis, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from roambus.python_protocol.brokers.messages import MAX_HOPS
from roambus.python_protocol.messages.fields import U32, Integer, Names


def describe_hops(hops: int) -> str:
    """The number of hops as transcripts write it, in which the greatest one is infinite."""
    return "inf" if hops == MAX_HOPS else str(hops)


Counter = U32
"""t: a subscriber numbers its messages."""

Distance = Annotated[int, Integer("B", lambda hops, _: describe_hops(hops))]
"""h: the hops from a broker to a subscriber, of which its own broker counts 1."""


@dataclass(frozen=True, slots=True)
class Timestamp:
    """The number of a subscriber's message, and hops to the subscriber.

    The greater of two has the newer counter, or the same counter and fewer hops.
    """

    counter: Counter
    hops: Distance

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

    def describe(self, _: Names) -> str:
        """T as transcripts write it: "(4,2)"."""
        return str(self)


UNKNOWN = Timestamp(0, MAX_HOPS)
"""T of a subscriber that a broker does not know, infinitely far: every message about it is newer."""


def at_hops(counter: int, hops: int) -> Timestamp:
    """T at a distance that may have been counted too far."""
    return Timestamp(counter, min(hops, MAX_HOPS))
