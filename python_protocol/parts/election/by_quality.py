"""The election whose tree has good links: a parent is whoever offers the way of the fewest expected transmissions.

`hops` of a heartbeat counts expected transmissions, in eighths, from the leader to the sender (`parts.link_estimator`).
A parent is kept until another way is shorter by `parent_hysteresis` transmissions, as RFC 6719 (MRHOF) has it, or until
its heartbeats stay away. Everything else is as in `algorithm`: as the cost grows with every link of a way, nobody
takes a parent that is behind it.
"""

from __future__ import annotations

from collections import deque
from random import Random

from roambus.python_protocol.events import Received
from roambus.python_protocol.parts.election.algorithm import CHOOSE, TIME_OUT, Copy, Election, ElectionTimer
from roambus.python_protocol.parts.election.heartbeat import MAX_HOPS, Heartbeat
from roambus.python_protocol.parts.election.parameters import ElectionParameters
from roambus.python_protocol.parts.link_estimator import MOST_TRANSMISSIONS, LinkEstimator
from roambus.python_protocol.process import Process, on, on_timer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

_UNIT = 8
"""Heartbeats tell transmissions in eighths, as RFC 6719 in 128ths."""
_WEAK = 2
"""A link is not taken at once that is expected to take more transmissions, as one does that was heard only once."""


class QualityElection(Election):
    """One node's part in it."""

    hop = _UNIT

    def __init__(
        self,
        node: NodeId,
        is_broker: bool,
        parameters: ElectionParameters,
        random: Random,
        of: Process | None = None,
    ) -> None:
        """As `Election`."""
        super().__init__(node, is_broker, parameters, random, of)
        self._links = LinkEstimator()
        self._parent_told: deque[int] = deque(maxlen=parameters.parent_patience)
        """The costs that the parent has told last."""
        self._is_parent_heard = False
        """Whether a frame of the parent has come since the last choice."""
        self._parent_heard: SimTime = 0
        """When a frame of the parent came last."""
        self._begun: SimTime = 0
        """When the last round began."""

    @on(Received)
    def receive(self, event: Received, now: SimTime) -> None:
        """A copy of a heartbeat has arrived: its signal tells of the link."""
        message = event.message
        if isinstance(message, Heartbeat) and message.is_broker:
            self._links.heard(event.sender, event.rssi_dbm)
            if event.sender == self.parent:
                self._parent_told.append(message.hops)
        super().receive(event, now)

    @on_timer(CHOOSE)
    def choose(self, key: ElectionTimer, now: SimTime) -> None:
        """All of the round's copies have arrived."""
        self._links.end_round()
        super().choose(key, now)

    @on_timer(TIME_OUT)
    def lose_leader(self, key: ElectionTimer, now: SimTime) -> None:
        """No heartbeat has come, which may be chance: as long as the parent is heard, the leader may be there.

        The children of a leader wait as long as they hear it, and so do clients, which cannot lead, for their parents.
        All other brokers wait once more: those nearer to the leader have found out by then.
        """
        if self.parent is not None and self._heard_lately(now) is None and self._may_wait(self.parent, now):
            self._await_next_round()
        else:
            super().lose_leader(key, now)

    def _may_wait(self, parent: NodeId, now: SimTime) -> bool:
        shortest = self._stretch(self._parameters.leader_time_out_min, parent)
        longest = self._stretch(self._parameters.leader_time_out_max, parent)
        silence = now - self._parent_heard
        if not self._is_broker:
            return silence < longest
        return silence < shortest and (parent == self.leadership.leader or now - self._begun < longest)

    def _stretch(self, time: SimTime, parent: NodeId) -> float:
        """Time-outs are for a link that loses nothing; they grow with the transmissions that the link takes."""
        longest = MOST_TRANSMISSIONS * self._parameters.heartbeat_interval
        return min(time * self._links.transmissions(parent), longest)

    def _begin_round(self, copy: Copy, message: Heartbeat, now: SimTime) -> None:
        self._begun = now
        super()._begin_round(copy, message, now)

    def hear_frame(self, sender: NodeId, now: SimTime) -> None:
        """A frame of any kind is a sign of life of its sender."""
        if sender == self.parent:
            self._parent_heard = now
            self._is_parent_heard = True

    def give_up(self, neighbour: NodeId, now: SimTime) -> None:
        """The link layer gave a neighbour up; a parent that is heard is kept, unless there is a better one.

        At the edge of range long frames fail where heartbeats arrive. To leave a parent for that would be to tell
        everything to the next one, over a link that is no better.
        """
        if neighbour != self.parent or not self._links.failed(neighbour):
            super().give_up(neighbour, now)

    def _rate(self, event: Received, message: Heartbeat) -> Copy:
        return self._copy(event.sender, message.hops)

    def _copy(self, sender: NodeId, told: int) -> Copy:
        """The way by a neighbour; one transmission of the link is added when it is told on."""
        transmissions = self._links.transmissions(sender)
        cost = told + round(_UNIT * (transmissions - 1))
        return Copy(transmissions > _WEAK, min(cost, MAX_HOPS), sender)

    def _keeps_parent(self, best: Copy) -> bool:
        if self.parent is None:
            return False
        is_heard = self._parent_copy is not None or self._is_parent_heard
        self._parent_missed = 0 if is_heard else self._parent_missed + 1
        self._is_parent_heard = False
        silence = self._parent_missed * self._parameters.heartbeat_interval
        if silence >= self._stretch(self._parameters.leader_time_out_max, self.parent):
            return False
        kept = self._copy(self.parent, min(self._parent_told))
        return kept.hops <= best.hops + _UNIT * self._parameters.parent_hysteresis

    def _take_parent(self, copy: Copy | None) -> None:
        if copy is not None and copy.sender != self.parent:
            self._parent_told.clear()
            self._parent_told.append(copy.hops)
        super()._take_parent(copy)
