"""Jitter: sends that wait a random while, because two nodes that answer the same frame at once collide.

RFC 5148 explains why, and takes the delay uniformly from 0 to a maximum.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from python_protocol.actions import Send, SetTimer
from python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class JitterTimer:
    """The key of the timer of one postponed send."""

    number: int


class Jitter:
    """The sends of one node that wait for their time."""

    def __init__(self, longest: SimTime, random: Random) -> None:
        """Delays are uniform between 0 and `longest` ns."""
        self._longest = longest
        self._random = random
        self._number = 0
        self._waiting: dict[int, Send] = {}

    def postpone(self, send: Send) -> SetTimer:
        """Keeps `send`; the agent sets the timer that comes back."""
        self._number += 1
        self._waiting[self._number] = send
        return SetTimer(JitterTimer(self._number), self._random.randrange(self._longest + 1))

    def timer(self, key: JitterTimer) -> Send | None:
        """What to send now; None for a timer from before `forget`."""
        return self._waiting.pop(key.number, None)

    def forget(self) -> None:
        """Drops everything that waits: the node has crashed."""
        self._waiting.clear()
