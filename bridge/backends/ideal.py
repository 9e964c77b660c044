"""The `ideal` back-end: reliable FIFO links over a graph that can change at given times.

It checks algorithms as the papers state them: nothing is lost on a link that stands, nothing overtakes, what a link
cannot carry its sender is told (but for broadcasts), and the only randomness is the agents' own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from bridge.backends.interface import Delivery, Failure, Hello, NodeInfo, Step, Totals, Transmission, refuse_past
from bridge.scenario import LinkChange
from python_protocol.events import NO_LINK
from python_protocol.roles import BROADCAST, NodeId
from python_protocol.simtime import MILLISECOND, SimTime

PERFECT_RSSI_DBM = -50.0
PERFECT_LQI_DB = 50.0


class _Frame(NamedTuple):
    """On its way; `destination` is BROADCAST, or the receiver."""

    delivery: Delivery
    destination: NodeId


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
        self._pending: list[tuple[SimTime, int, LinkChange | Transmission | _Frame]] = []
        self._now: SimTime = 0
        self._failures: list[Failure] = []
        for a, b in links:
            self._change(LinkChange(0, a, b, True))
        for change in changes:
            self._push(change.at, change)

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
            deliveries = self._happen()
            if deliveries or self._failures:
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
        failures, self._failures = self._failures, []
        return Step(self._now, sorted(deliveries, key=lambda delivery: delivery.receiver), failures)

    def _happen(self) -> list[Delivery]:
        """Everything pending at this instant; what arrives is returned, in the order in which it was sent."""
        arrived = []
        while self._pending and self._pending[0][0] == self._now:
            _, _, item = heappop(self._pending)
            if isinstance(item, LinkChange):
                self._change(item)
            elif isinstance(item, Transmission):
                self._transmit(item)
            else:
                arrived.append(item.delivery)
        return arrived

    def _transmit(self, transmission: Transmission) -> None:
        node, _, destination, message, _ = transmission
        receivers = [destination] if destination != BROADCAST else sorted(self._neighbours[node])
        for receiver in receivers:
            if receiver in self._neighbours[node]:
                delivery = Delivery(receiver, node, message, PERFECT_RSSI_DBM, PERFECT_LQI_DB)
                self._push(self._now + self._delay, _Frame(delivery, destination))
            else:
                self._failures.append(Failure(node, receiver, message, NO_LINK))

    def _change(self, change: LinkChange) -> None:
        for a, b in ((change.a, change.b), (change.b, change.a)):
            if change.up:
                self._neighbours[a].add(b)
            else:
                self._neighbours[a].discard(b)
                self._lose_under_way(a, b)

    def _lose_under_way(self, sender: NodeId, receiver: NodeId) -> None:
        lost = [item for _, _, item in self._pending if _is_under_way(item, sender, receiver)]
        self._pending = [entry for entry in self._pending if not _is_under_way(entry[2], sender, receiver)]
        heapify(self._pending)
        addressed = [frame for frame in lost if isinstance(frame, _Frame) and frame.destination != BROADCAST]
        self._failures += [Failure(sender, receiver, frame.delivery.message, NO_LINK) for frame in addressed]

    def _push(self, time: SimTime, item: LinkChange | Transmission | _Frame) -> None:
        self._order += 1
        heappush(self._pending, (time, self._order, item))


def _is_under_way(item: object, sender: NodeId, receiver: NodeId) -> bool:
    return isinstance(item, _Frame) and (item.delivery.sender, item.delivery.receiver) == (sender, receiver)
