"""Ideal links that somebody works by hand: from some time on a frame arrives only when it is told to.

So a transcript can have any order of arrivals, and not only those that the delays of links give. What a link loses when
it breaks, and what its sender is told, stays as it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from roambus.bridge.backends.ideal.backend import Frame, IdealBackend
from roambus.bridge.errors import UserError
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime, format_time


@dataclass(frozen=True, slots=True)
class Arrival:
    """At `at`, the frame `number` of those under way from `sender` to `receiver`, the oldest first, arrives.

    One that is `lost` does not, and nobody is told.
    """

    at: SimTime
    sender: NodeId
    receiver: NodeId
    number: int = 1
    lost: bool = False


class HandWorkedBackend(IdealBackend):
    """The `ideal` back-end, whose frames stay under way from `begin` on until one of the `arrivals` is theirs."""

    begin: SimTime = 0
    arrivals: deque[Arrival]

    def work_by_hand(self, begin: SimTime, arrivals: Iterable[Arrival]) -> None:
        """Says what arrives when; `arrivals` are in the order of time."""
        self.begin, self.arrivals = begin, deque(arrivals)

    def _next(self) -> SimTime | None:
        times = [super()._next(), self.arrivals[0].at if self.arrivals else None]
        return min((time for time in times if time is not None), default=None)

    def _happen(self) -> None:
        super()._happen()
        while self.arrivals and self.arrivals[0].at == self._now:
            self._let_arrive(self.arrivals.popleft())

    def _set_out(self, frame: Frame) -> None:
        if self._now < self.begin:
            super()._set_out(frame)

    def _let_arrive(self, arrival: Arrival) -> None:
        link = arrival.sender, arrival.receiver
        under_way = self._under_way.get(link, deque())
        if len(under_way) < arrival.number:
            told = f"{len(under_way)} messages are under way there, and number {arrival.number} is to arrive"
            raise UserError(f"at {format_time(arrival.at)}, from node {link[0]} to node {link[1]}: {told}")
        frame = under_way[arrival.number - 1]
        if arrival.lost:
            under_way.remove(frame)
        else:
            self._take(frame)
