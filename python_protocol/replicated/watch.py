"""Whether another node is there: a time-out, a question, a time-out of twice that, a suspicion.

The paper on replicated brokers has this in section 6.4. Time-outs double with each round in which nothing moved, so
that nobody asks for ever at the same pace. How long the first of them is, the patience of the watching node tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from roambus.python_protocol.process import Process
from roambus.python_protocol.replicated.failure_messages import AreYouAlive
from roambus.python_protocol.replicated.patience import Patience
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class WatchTimer:
    """The key of the timer for a node; that of an earlier wait, which ran out while this node was frozen, is late."""

    node: NodeId
    wait: int
    """The number of the wait."""


class _Phase(Enum):
    IDLE = "nothing is expected"
    WAITING = "for a reply"
    ASKED = "are you alive?"
    DEAD = "assumed"


_TIMED = {_Phase.WAITING, _Phase.ASKED}


class Watch(Process):
    """Watches one node; whoever uses it tells it when the timer of the node has run out.

    It waits `times` as long as the patience of this node says.
    """

    def __init__(self, node: NodeId, patience: Patience, of: Process | None = None, times: int = 1) -> None:
        super().__init__(of)
        self._node = node
        self._patience = patience
        self._times = self._first = times
        self._phase = _Phase.IDLE
        self._waits = 0

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
        self._phase, self._times = _Phase.IDLE, self._first

    def alive(self) -> None:
        """The node has answered, but what is expected has not come."""
        if self._phase is _Phase.ASKED:
            self.again()

    def again(self) -> None:
        """Another round begins, of twice the time."""
        self._times *= 2
        self._begin()

    def time_up(self, key: WatchTimer, now: SimTime) -> bool:
        """Asks the node; True if it was asked already, and is assumed dead from now on."""
        if key != self._timer or self._phase not in _TIMED:
            return False
        if self._phase is _Phase.WAITING:
            self._phase = _Phase.ASKED
            self._ask(now)
            return False
        self._phase = _Phase.DEAD
        return True

    def failed(self) -> None:
        """The connection failed: no question needs to be asked (section 6.2)."""
        self._stop()
        self._phase = _Phase.DEAD

    @property
    def _timer(self) -> WatchTimer:
        return WatchTimer(self._node, self._waits)

    def _begin(self) -> None:
        self._phase = _Phase.WAITING
        self._set_timer(self._times)

    def _ask(self, now: SimTime) -> None:
        self.send(self._node, AreYouAlive())
        self._patience.asked(self._node, AreYouAlive(), now)
        self._set_timer(2 * self._times)

    def _set_timer(self, times: int) -> None:
        self._waits += 1
        self.set_timer(self._timer, times * self._patience.wait(self._node))

    def _stop(self) -> None:
        if self._phase in _TIMED:
            self.cancel_timer(self._timer)
