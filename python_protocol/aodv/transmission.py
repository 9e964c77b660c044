"""How AODV's messages leave a node: frames whose broadcasts are remembered, and rate limits.

Data, RREPs and unicast RERRs go over the link layer, whose breaks are section 6.10's notification. Broadcasts, and
without `link_layer` all frames, go bare; then only hellos show breaks. A RREQ over its limit (section 6.3) waits; a
RERR (6.11) is left out, because further data bring another (case ii).
"""

from __future__ import annotations

from collections import deque
from random import Random

from roambus.python_protocol.agent import Process
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.unicast import Frames, UnicastParameters
from roambus.python_protocol.vocabulary import BROADCAST, SECOND, SimTime


class Transmission(Frames):
    """The frames of one node."""

    def __init__(self, parameters: UnicastParameters, random: Random, of: Process) -> None:
        super().__init__(parameters, random, of)
        self._broadcasts: list[SimTime] = []
        """Times of broadcasts, also future, since last asked."""

    def broadcast(self, message: Message, now: SimTime) -> None:
        """Send to every neighbour, at once."""
        self._broadcasts.append(now)
        self.send(BROADCAST, message)

    def broadcast_later(self, message: Message, now: SimTime) -> None:
        """Broadcast after a jitter, because others may answer the same frame."""
        delay = self._jitter.delay()
        self._broadcasts.append(now + delay)
        self.send(BROADCAST, message, delay)

    def has_broadcast(self, since: SimTime, now: SimTime) -> bool:
        """Whether this node broadcast after `since`, up to now; both grow from call to call."""
        has = any(since < time <= now for time in self._broadcasts)
        self._broadcasts = [time for time in self._broadcasts if time > now]
        return has


class RateLimit:
    """Grants at most `per_second` times in any one-second window.

    Whole-second windows, as in ns-3, let twice the limit pass around a second's end.
    """

    def __init__(self, per_second: int) -> None:
        self._times: deque[SimTime] = deque(maxlen=per_second)

    def reserve(self, now: SimTime) -> SimTime:
        """Reserve and return the earliest free time."""
        full = len(self._times) == self._times.maxlen
        time = max(now, self._times[0] + SECOND) if full else now
        self._times.append(time)
        return time

    def allows(self, now: SimTime) -> bool:
        """Take the present time if free; return whether it was."""
        if len(self._times) == self._times.maxlen and self._times[0] + SECOND > now:
            return False
        self._times.append(now)
        return True
