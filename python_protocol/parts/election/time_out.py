"""How long a node waits for its leader's next round.

The time-out adapts to the gaps between the rounds that were heard, within bounds: where heartbeats are often lost, a
leader is not given up too soon, and where none is lost, its loss is noticed soon.
"""

from __future__ import annotations

from random import Random

from roambus.python_protocol.parts.delay import DelayEstimate
from roambus.python_protocol.parts.election.parameters import ElectionParameters
from roambus.python_protocol.simtime import SimTime

_SPREAD = 1 / 4
"""Time-outs are drawn from this much more than the estimate, so that not all brokers become leaders at once."""


def longest_time_out(parameters: ElectionParameters) -> float:
    """The time in ns that no time-out exceeds."""
    return (1 + _SPREAD) * parameters.leader_time_out_max


class GapEstimate:
    """Estimates what the gaps between rounds will hardly exceed, within bounds: the adaptive time-out."""

    def __init__(self, parameters: ElectionParameters) -> None:
        self._parameters = parameters
        self._gap = DelayEstimate(parameters.heartbeat_interval, 0)
        self._last: SimTime | None = None

    def heard(self, now: SimTime) -> None:
        """A round's first copy has arrived."""
        if self._last is not None:
            self._gap.sample(now - self._last)
        self._last = now

    def interrupted(self) -> None:
        """Another leader is followed: the time until its first round is no sample of the gaps."""
        self._last = None

    def time_out(self, random: Random) -> SimTime:
        """The time-out to set now, drawn anew each time."""
        bound = max(self._gap.bound(), self._parameters.leader_time_out_min)
        return round(min(bound, self._parameters.leader_time_out_max) * (1 + _SPREAD * random.random()))
