"""Flooding: every node repeats the first copy of a notification once. The baseline that everybody knows.

It needs neither routes nor subscriptions on the way, and pays for that with a message for each node and notification.
"""

from __future__ import annotations

from roambus.python_protocol.parameters import parameter
from roambus.python_protocol.parts.flood import Broadcasting, Flood, FloodParameters
from roambus.python_protocol.parts.jitter import Jitter
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import MILLISECOND, SimTime


class FloodingParameters(FloodParameters):
    """How far and how fast a flood spreads; raises ValueError for values that make no sense."""

    jitter: SimTime = parameter(
        10 * MILLISECOND,
        unit="s",
        source="reasoned: the air time of three notifications; RFC 5148 for its kind",
        at_least=0,
        doc="longest wait before a copy is repeated",
    )


class Flooding(Broadcasting):
    """Repeats the first copy of everything."""

    parameters: FloodingParameters

    def forget(self) -> None:
        """Starts with nothing seen."""
        super().forget()
        self._jitter = Jitter(self.parameters.jitter, self.random)

    def hear_first(self, copy: Flood) -> None:
        """Repeats it after a jitter, because other nodes repeat the same frame."""
        self.send(BROADCAST, copy, self._jitter.delay())
