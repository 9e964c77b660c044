"""Heartbeats that become rare while nothing changes, as the timers of Trickle do (RFC 6206).

The interval between two heartbeats is counted in rounds. It begins with one, doubles with each heartbeat up to a
bound, and goes back to one as soon as something is inconsistent. What is inconsistent is the user's to say.
"""

from __future__ import annotations


class Trickle:
    """When one node beats."""

    def __init__(self, longest: int) -> None:
        """At first it beats every round; `longest` is the bound in rounds, I_max of RFC 6206, section 4.1."""
        self._longest = longest
        self._interval = 1
        self._waited = 0

    def reset(self) -> None:
        """Something is inconsistent: the next round is due."""
        self._interval = 1
        self._waited = self._longest

    def is_due(self) -> bool:
        """Whether this round is one in which to beat; it is called once a round."""
        self._waited += 1
        if self._waited < self._interval:
            return False
        self._waited = 0
        self._interval = min(2 * self._interval, self._longest)
        return True
