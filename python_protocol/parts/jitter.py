"""Jitter: sends that wait a random while, because two nodes that answer the same frame at once collide.

RFC 5148 explains why, and takes the delay uniformly from 0 to a maximum.
"""

from __future__ import annotations

from random import Random

from roambus.python_protocol.simtime import SimTime


class Jitter:
    """The delays of one node's sends."""

    def __init__(self, longest: SimTime, random: Random) -> None:
        """Delays are uniform between 0 and `longest` ns."""
        self._choices = longest + 1
        self._random = random

    def delay(self) -> SimTime:
        """How long the next send is to wait, in ns."""
        return self._random.randrange(self._choices)
