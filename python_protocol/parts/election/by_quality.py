"""The election whose tree has good links: a parent is whoever offers the way of the fewest expected transmissions.

`hops` of a heartbeat counts expected transmissions, in eighths, from the leader to the sender. A parent is kept until
another way is shorter by `parent_hysteresis` transmissions, as RFC 6719 (MRHOF) has it, or until its heartbeats stay
away. Everything else is as in `algorithm`: as the cost grows with every link of a way, nobody takes a parent that is
behind it.

How good a link is, is estimated from the signals of the heartbeats that were heard. The models are ETX (De Couto et
al., 2003) and the four-bit link estimator (Fonseca et al., 2007): a link is worth the transmissions that a frame is
expected to take over it. The ratio of frames that arrive takes many frames to be known, and where nodes move at 8 m/s a
link lasts for a few heartbeats. So it is computed from mean and deviation of the signal, each following its samples: it
is the probability that a signal is strong enough.

A heartbeat that does not come counts as one at the lower end of what the link has shown, but at the sensitivity of the
radio at least. Where nodes move the signal varies, and three that are missed make the link a bad one. Where nothing
moves it does not vary, and what is missed has collided, or is one of those that a link at the edge of range loses. So
only what is heard tells how a signal varies: if what is missed did, each miss would have the next one count for more.
"""

from __future__ import annotations

from collections import deque
from math import erf, hypot, sqrt
from random import Random

from roambus.python_protocol.agent import Process, on, on_timer
from roambus.python_protocol.events import Received
from roambus.python_protocol.parts.election.algorithm import CHOOSE, TIME_OUT, Copy, Election, ElectionTimer
from roambus.python_protocol.parts.election.heartbeat import MAX_HOPS, ElectionParameters, Heartbeat
from roambus.python_protocol.vocabulary import NodeId, SimTime

_UNIT = 8
"""Heartbeats tell transmissions in eighths, as RFC 6719 in 128ths."""


_WEAK = 2
"""A link is not taken at once that is expected to take more transmissions, as one does that was heard only once."""


MOST_TRANSMISSIONS = 16
"""The cost of the worst link: one frame of this number arrives over it."""


_SILENT = 2
"""Whoever has missed more rounds in a row is gone if the link layer says so, too (RFC 3561, section 10)."""


_GAIN = 1 / 3
"""Of the moving means: a link of 20 m is over after 2 or 3 s between nodes that pass each other at 8 m/s."""


_SHADOWING_DB = 4.0
"""The deviation of a link of which nothing is known: that of log-normal shadowing (Zuniga and Krishnamachari, 2004)."""


_WIDTH_DB = 1.0
"""Over about this range a frame goes from being lost to being received."""


_DEVIATIONS = 4
"""A signal hardly ever is weaker by more of them than the mean (as in RFC 6298)."""


_NEEDED_DBM = -91.8
"""A CC2420 loses half of the frames of 127 bytes at this signal, 8.2 dB over its noise floor."""


_UNHEARD_DBM = -95.0
"""The sensitivity of a CC2420: what is weaker is not heard at all."""


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
        """The arguments are those of `Election`; the parent is chosen by quality."""
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


# How good links are


class LinkEstimator:
    """The links of one node, by neighbour."""

    def __init__(self) -> None:
        """No neighbour is known."""
        self._links: dict[NodeId, _Signal] = {}

    def heard(self, neighbour: NodeId, rssi_dbm: float) -> None:
        """A heartbeat has arrived; a neighbour that was unknown counted as unheard before."""
        self._links.setdefault(neighbour, _Signal()).sample(rssi_dbm)

    def end_round(self) -> None:
        """Whoever was not heard since the last call has missed a heartbeat; whoever is hardly heard is forgotten."""
        for link in self._links.values():
            link.end_round()
        self._links = {one: link for one, link in self._links.items() if link.missed < MOST_TRANSMISSIONS}

    def failed(self, neighbour: NodeId) -> bool:
        """The link layer has given a neighbour up: whether it was heard lately all the same."""
        link = self._links.get(neighbour)
        if link is None or link.missed > _SILENT:
            return False
        link.failures += 1
        return True

    def transmissions(self, neighbour: NodeId) -> float:
        """How many transmissions a frame is expected to take to a neighbour."""
        link = self._links.get(neighbour)
        if link is None:
            return MOST_TRANSMISSIONS
        return min(1 / max(link.probability(), 1 / MOST_TRANSMISSIONS) + link.failures, MOST_TRANSMISSIONS)


class _Signal:
    """The signal from one neighbour, in dBm and dB."""

    def __init__(self) -> None:
        self.missed = 0
        """The rounds in a row in which nothing was heard."""
        self.failures = 0.0
        """How often it was given up lately; each counts as a transmission more, which alone moves nobody."""
        self._is_heard = False
        self._mean = _UNHEARD_DBM
        """Of what was heard and what was missed."""
        self._shown = _UNHEARD_DBM
        """The mean of what was heard, and the deviation from it: what is missed shows nothing of how it varies."""
        self._deviation = _SHADOWING_DB

    def sample(self, rssi_dbm: float) -> None:
        error = rssi_dbm - self._shown
        self._shown += _GAIN * error
        self._deviation += _GAIN * (abs(error) - self._deviation)
        self._mean += _GAIN * (rssi_dbm - self._mean)
        self._is_heard = True

    def end_round(self) -> None:
        self.missed = 0 if self._is_heard else self.missed + 1
        self._is_heard = False
        self.failures *= 1 - _GAIN
        if self.missed:
            lowest = max(_UNHEARD_DBM, self._shown - _DEVIATIONS * self._deviation)
            self._mean += _GAIN * (min(lowest, self._mean) - self._mean)

    def probability(self) -> float:
        """That a frame arrives: that the signal, which varies, is stronger than needed, which varies a little, too."""
        deviation = hypot(self._deviation, _WIDTH_DB)
        return (1 + erf((self._mean - _NEEDED_DBM) / (deviation * sqrt(2)))) / 2
