"""Jitter: sends that wait for a random time, because two nodes that answer the same frame at once collide.

RFC 5148 explains this, and draws the delay uniformly between 0 and a maximum.
"""

from __future__ import annotations

from random import Random

from roambus.python_protocol.simtime import SimTime


class Jitter:
    """Draws the delays of one node's sends."""

    def __init__(self, longest: SimTime, random: Random) -> None:
        """Delays are uniform between 0 and `longest` ns."""
        self._choices = longest + 1
        self._random = random

    def delay(self) -> SimTime:
        """The time in ns for which the next send is to wait."""
        return self._random.randrange(self._choices)
