"""How long a node waits for each other node before it asks, and then suspects, it: by what it has measured.

The paper on replicated brokers asks for a time-out (section 6.4) and for survival of high latency (6.3), and ends in
messages that are exchanged for ever (section 8): a time-out below the delay finds each new leader dead. So patience
belongs to the node, and survives a change of leader. It follows measured delays, as RFC 6298 estimates them, and
never falls below `time_out`. A late answer counts as at most twice the wait: one that comes late because the other was
frozen makes little of a difference, and one that comes late each time soon is waited for. With `follow_delays` false
it is always `time_out`.
"""

from __future__ import annotations

from collections.abc import Hashable

from roambus.python_protocol.parts.delay import DelayEstimate
from roambus.python_protocol.replicated.parameters import ReplicatedParameters
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

_AT_MOST = 2
"""Waits as which a measured delay counts."""
_DEVIATIONS = 4
"""An estimate that begins with mean 0 and this part of a wait as deviation has the wait as its bound."""


class Patience:
    """What one node has measured of others: one message of a kind at a time is timed until its answer (RFC 6298)."""

    def __init__(self, parameters: ReplicatedParameters) -> None:
        self._time_out = parameters.time_out
        self._is_fixed = not parameters.follow_delays
        self._estimates: dict[NodeId, DelayEstimate] = {}
        self._timed: dict[NodeId, dict[type, tuple[Hashable, SimTime]]] = {}
        """For each node and kind of message, which one is timed, and since when."""

    def wait(self, node: NodeId) -> SimTime:
        """The time to wait for a node; for one that has not answered yet, as for the slowest of the others."""
        own = self._estimates.get(node)
        bounds = [one.bound() for one in ([own] if own else self._estimates.values())]
        return max(self._time_out, *map(round, bounds)) if bounds else self._time_out

    def asked(self, node: NodeId, what: Hashable, now: SimTime) -> None:
        """Something was sent to a node that answers it; it is timed, unless something of its kind is."""
        self._timed.setdefault(node, {}).setdefault(type(what), (what, now))

    def answered(self, node: NodeId, what: Hashable, now: SimTime) -> None:
        """The answer has come, in time or not."""
        timed, since = self._timed.get(node, {}).get(type(what), (None, now))
        if timed != what:
            return
        del self._timed[node][type(what)]
        if not self._is_fixed:
            self._measure(node, now - since)

    def forget(self, node: NodeId) -> None:
        """What was timed is sent again, or will have no answer, so that nothing can be measured by it (Karn)."""
        self._timed.pop(node, None)

    def _measure(self, node: NodeId, delay: SimTime) -> None:
        wait = self.wait(node)
        estimate = self._estimates.setdefault(node, DelayEstimate(0, wait / _DEVIATIONS))
        estimate.sample(min(delay, _AT_MOST * wait))
