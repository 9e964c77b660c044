"""Whether another node is there: a time-out, a question, a time-out of twice that, a suspicion.

The paper on replicated brokers has this in section 6.4. Time-outs double with each round in which nothing moved, so
that nobody asks for ever at the same pace.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from roambus.python_protocol.process import Process
from roambus.python_protocol.replicated.failure_messages import AreYouAlive
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class WatchTimer:
    """The key of the only timer for a node."""

    node: NodeId


class _Phase(Enum):
    IDLE = "nothing is expected"
    WAITING = "for a reply"
    ASKED = "are you alive?"
    DEAD = "assumed"


class Watch(Process):
    """Watches one node; whoever uses it tells it when the timer of the node has run out."""

    def __init__(self, node: NodeId, time_out: SimTime, of: Process | None = None) -> None:
        super().__init__(of)
        self._node = node
        self._time_out = time_out
        self._wait = time_out
        self._phase = _Phase.IDLE

    @property
    def is_dead(self) -> bool:
        """Whether the node is assumed dead."""
        return self._phase is _Phase.DEAD

    def expect(self) -> None:
        """Something is to come from the node."""
        if self._phase is _Phase.IDLE:
            self._begin()

    def satisfied(self) -> None:
        """Something expected has come, or nothing is expected any more."""
        self._stop()
        self._phase, self._wait = _Phase.IDLE, self._time_out

    def alive(self) -> None:
        """The node has answered, but what is expected has not come."""
        if self._phase is _Phase.ASKED:
            self.again()

    def again(self) -> None:
        """Another round begins, of twice the time."""
        self._wait *= 2
        self._begin()

    def time_up(self) -> None:
        """Asks the node; if it was asked already, it is now assumed dead (`is_dead`)."""
        if self._phase is _Phase.WAITING:
            self._phase = _Phase.ASKED
            self.send(self._node, AreYouAlive())
            self.set_timer(WatchTimer(self._node), 2 * self._wait)
        else:
            self._phase = _Phase.DEAD

    def failed(self) -> None:
        """The connection failed: no question needs to be asked (section 6.2)."""
        self._stop()
        self._phase = _Phase.DEAD

    def _begin(self) -> None:
        self._phase = _Phase.WAITING
        self.set_timer(WatchTimer(self._node), self._wait)

    def _stop(self) -> None:
        if self._phase in {_Phase.WAITING, _Phase.ASKED}:
            self.cancel_timer(WatchTimer(self._node))
