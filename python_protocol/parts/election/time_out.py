"""How long a node waits for its leader's next round."""

from __future__ import annotations

from random import Random

from roambus.python_protocol.parts.delay import DelayEstimate
from roambus.python_protocol.parts.election.parameters import ElectionParameters
from roambus.python_protocol.simtime import SimTime

_SPREAD = 1 / 4
"""Time-outs are drawn from this much more than the estimate, so that not all brokers become leaders at once."""


def longest_time_out(parameters: ElectionParameters) -> float:
    """In ns: what no time-out exceeds."""
    return (1 + _SPREAD) * parameters.leader_time_out_max


class GapEstimate:
    """The adaptive time-out: what the gaps between rounds will hardly exceed, within bounds."""

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
        """The next gap is that of another leader, or of a partition, and no sample."""
        self._last = None

    def time_out(self, random: Random) -> SimTime:
        """One to set now."""
        bound = max(self._gap.bound(), self._parameters.leader_time_out_min)
        return round(min(bound, self._parameters.leader_time_out_max) * (1 + _SPREAD * random.random()))
