"""The `ideal` back-end: reliable FIFO links over a graph that can change at given times.

It checks algorithms as the papers state them: nothing is lost on a link that stands, nothing overtakes, and the only
randomness is the agents' own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from bridge.backends.interface import Delivery, Hello, NodeInfo, Step, Totals, Transmission, refuse_past
from python_protocol.roles import BROADCAST, NodeId
from python_protocol.simtime import MILLISECOND, SimTime

PERFECT_RSSI_DBM = -50.0
PERFECT_LQI_DB = 50.0


class LinkChange(NamedTuple):
    """At `time`, the link between `a` and `b` comes up or goes down; what is under way on it then is lost."""

    time: SimTime
    a: NodeId
    b: NodeId
    up: bool


class IdealBackend:
    """Links of one `delay`; a broadcast reaches all neighbours, a unicast frame the one it is addressed to."""

    def __init__(  # noqa: PLR0913  # a graph, how it changes, and three times that have nothing to do with each other
        self,
        nodes: int,
        links: Iterable[tuple[NodeId, NodeId]],
        time_limit: SimTime,
        changes: Iterable[LinkChange] = (),
        delay: SimTime = MILLISECOND,
        *,
        processing_delay: SimTime = 0,
    ) -> None:
        self._neighbours: list[set[NodeId]] = [set() for _ in range(nodes)]
        self._time_limit = time_limit
        self._delay = delay
        self._processing_delay = processing_delay
        self._order = 0
        self._pending: list[tuple[SimTime, int, LinkChange | Transmission | Delivery]] = []
        self._now: SimTime = 0
        for a, b in links:
            self._change(LinkChange(0, a, b, True))
        for change in changes:
            self._push(change.time, change)

    def open(self) -> Hello:
        """Every node boots at 0, with a perfect clock."""
        return Hello("ideal", [NodeInfo(0) for _ in self._neighbours], self._time_limit, self._processing_delay)

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """See `Backend.advance`."""
        refuse_past(transmissions, self._now)
        for transmission in transmissions:
            self._push(transmission.at, transmission)
        until = self._time_limit if wake_up is None else min(wake_up, self._time_limit)
        while self._pending and self._pending[0][0] <= until:
            self._now = self._pending[0][0]
            if deliveries := self._happen():
                return self._step(deliveries)
        self._now = until
        return self._step([])

    def fail(self, error: BaseException) -> None:
        """There is nobody to tell."""

    def close(self) -> Totals:
        """There is nothing to free and nothing to count."""
        return Totals()

    def _step(self, deliveries: list[Delivery]) -> Step | None:
        if self._now >= self._time_limit:
            return None
        return Step(self._now, sorted(deliveries, key=lambda delivery: delivery.receiver))

    def _happen(self) -> list[Delivery]:
        """Everything pending at this instant; what arrives is returned, in the order in which it was sent."""
        arrived = []
        while self._pending and self._pending[0][0] == self._now:
            _, _, item = heappop(self._pending)
            if isinstance(item, LinkChange):
                self._change(item)
            elif isinstance(item, Transmission):
                self._transmit(item)
            elif item.sender in self._neighbours[item.receiver]:
                arrived.append(item)
        return arrived

    def _transmit(self, transmission: Transmission) -> None:
        node, _, destination, message, _ = transmission
        for receiver in sorted(self._neighbours[node]):
            if destination in (BROADCAST, receiver):
                delivery = Delivery(receiver, node, message, PERFECT_RSSI_DBM, PERFECT_LQI_DB)
                self._push(self._now + self._delay, delivery)

    def _change(self, change: LinkChange) -> None:
        for a, b in ((change.a, change.b), (change.b, change.a)):
            if change.up:
                self._neighbours[a].add(b)
            else:
                self._neighbours[a].discard(b)
                self._lose_under_way(a, b)

    def _lose_under_way(self, sender: NodeId, receiver: NodeId) -> None:
        self._pending = [entry for entry in self._pending if not _is_under_way(entry[2], sender, receiver)]
        heapify(self._pending)

    def _push(self, time: SimTime, item: LinkChange | Transmission | Delivery) -> None:
        self._order += 1
        heappush(self._pending, (time, self._order, item))


def _is_under_way(item: object, sender: NodeId, receiver: NodeId) -> bool:
    return isinstance(item, Delivery) and (item.sender, item.receiver) == (sender, receiver)
