"""At most so many messages a second (RFC 3561: RREQ_RATELIMIT in section 6.3, RERR_RATELIMIT in section 6.11)."""

from __future__ import annotations

from collections import deque

from roambus.python_protocol.simtime import SECOND, SimTime


class RateLimit:
    """No window of one second holds more than `per_second` of the times that were given out."""

    def __init__(self, per_second: int) -> None:
        self._times: deque[SimTime] = deque(maxlen=per_second)

    def reserve(self, now: SimTime) -> SimTime:
        """The earliest time, now or later, that is free; it is taken from now on."""
        full = len(self._times) == self._times.maxlen
        time = max(now, self._times[0] + SECOND) if full else now
        self._times.append(time)
        return time

    def allows(self, now: SimTime) -> bool:
        """Takes the present time if it is free; says whether it was."""
        if len(self._times) == self._times.maxlen and self._times[0] + SECOND > now:
            return False
        self._times.append(now)
        return True
