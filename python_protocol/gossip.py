"""Gossip: flooding in which a node keeps silent once it has heard a notification often enough.

It is the counter-based scheme of Ni, Tseng, Chen and Sheu ("The broadcast storm problem in a mobile ad hoc network",
MobiCom 1999). Where nodes are dense, most repetitions of a flood reach nobody new. So a node first waits for a random
time, the random assessment delay, and counts the copies that it hears meanwhile, the first included. If these become as
many as the counter threshold, it does not repeat the notification; otherwise it does when the delay is over. Where
nodes are sparse, few copies are heard, and everybody repeats, as in flooding.

In the paper a frame that already waits in the MAC is still taken back. Our MAC takes nothing back: what has been handed
to it is sent. The delay is long enough for a node to hear its neighbours before (see the parameter).
"""

from __future__ import annotations

from dataclasses import dataclass

from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.parameters import parameter
from roambus.python_protocol.parts.flood import Broadcasting, Flood, FloodParameters
from roambus.python_protocol.parts.jitter import Jitter
from roambus.python_protocol.process import on_timer
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import MILLISECOND, SimTime


class GossipParameters(FloodParameters):
    """How far and how fast a notification spreads, and who keeps silent; raises ValueError for impossible values."""

    counter_threshold: int = parameter(
        3,
        unit="copies",
        source="Ni et al. (1999), counter-based scheme: C of 3 or 4; the smaller saves more",
        at_least=2,
        doc="who has heard so many copies does not repeat the notification",
    )
    assessment_delay: SimTime = parameter(
        100 * MILLISECOND,
        unit="s",
        source="Ni et al. (1999): 0 to 31 slots; here a slot is the air time of a notification, 3.3 ms as in flooding",
        at_least=0,
        doc="longest random assessment delay, in which copies are counted",
    )


@dataclass(frozen=True, slots=True)
class AssessmentTimer:
    """The key of the timer of the assessment delay of a notification."""

    notification: NotificationId


@dataclass(slots=True)
class Assessment:
    """A copy that waits to be repeated, and how many copies of it have been heard."""

    copy: Flood
    heard: int = 1


class Gossip(Broadcasting):
    """Repeats the first copy of what it has not heard from enough others."""

    parameters: GossipParameters

    def forget(self) -> None:
        """Starts with nothing seen, and nothing to repeat."""
        super().forget()
        self._delay = Jitter(self.parameters.assessment_delay, self.random)
        self._assessed: dict[NotificationId, Assessment] = {}

    def hear_first(self, copy: Flood) -> None:
        """Begins to count (step S1 of the paper)."""
        notification = copy.notification.id
        self._assessed[notification] = Assessment(copy)
        self.set_timer(AssessmentTimer(notification), self._delay.delay())

    def hear_again(self, flood: Flood) -> None:
        """Counts the copy, and gives the repetition up if it was the last that it takes for that (steps S4 and S5)."""
        notification = flood.notification.id
        assessment = self._assessed.get(notification)
        if assessment is None:
            return
        assessment.heard += 1
        if assessment.heard >= self.parameters.counter_threshold:
            del self._assessed[notification]
            self.cancel_timer(AssessmentTimer(notification))

    @on_timer(AssessmentTimer)
    def repeat(self, key: AssessmentTimer, _: SimTime) -> None:
        """Repeats what was not heard often enough (steps S2 and S3)."""
        assessment = self._assessed.pop(key.notification, None)
        if assessment is not None:
            self.send(BROADCAST, assessment.copy)
