"""Whether another node is there: a time-out, a question, a time-out of twice that, a suspicion (002, section 6.4).

Time-outs double with each round in which nothing moved, so that nobody asks for ever at the same pace.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from roambus.python_protocol.actions import Action, CancelTimer, Send, SetTimer
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


class Watch:
    """Over one node; whoever uses it performs the actions."""

    def __init__(self, node: NodeId, time_out: SimTime) -> None:
        self._node = node
        self._time_out = time_out
        self._wait = time_out
        self._phase = _Phase.IDLE

    @property
    def is_dead(self) -> bool:
        """Whether the node is assumed dead."""
        return self._phase is _Phase.DEAD

    def expect(self) -> list[Action]:
        """Something is to come from the node."""
        return self._begin() if self._phase is _Phase.IDLE else []

    def satisfied(self) -> list[Action]:
        """Something expected has come, or nothing is expected any more."""
        actions = self._stop()
        self._phase, self._wait = _Phase.IDLE, self._time_out
        return actions

    def alive(self) -> list[Action]:
        """The node has answered, but what is expected has not come."""
        return self.again() if self._phase is _Phase.ASKED else []

    def again(self) -> list[Action]:
        """Another round, of twice the time."""
        self._wait *= 2
        return self._begin()

    def timer(self) -> list[Action]:
        """Time is up: a question, and after that the suspicion (`is_dead`)."""
        if self._phase is _Phase.WAITING:
            self._phase = _Phase.ASKED
            return [Send(self._node, AreYouAlive()), SetTimer(WatchTimer(self._node), 2 * self._wait)]
        self._phase = _Phase.DEAD
        return []

    def failed(self) -> list[Action]:
        """The connection failed: no question needs to be asked (section 6.2)."""
        actions = self._stop()
        self._phase = _Phase.DEAD
        return actions

    def _begin(self) -> list[Action]:
        self._phase = _Phase.WAITING
        return [SetTimer(WatchTimer(self._node), self._wait)]

    def _stop(self) -> list[Action]:
        is_timed = self._phase in {_Phase.WAITING, _Phase.ASKED}
        return [CancelTimer(WatchTimer(self._node))] if is_timed else []
