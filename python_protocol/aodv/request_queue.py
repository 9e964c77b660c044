"""Packets that wait for a route (RFC 3561, section 6.3: buffered, first in, first out)."""

from __future__ import annotations

from collections import deque

from roambus.python_protocol.aodv.messages import DataPacket
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class RequestQueue:
    """At most `limit` packets, each for at most `timeout` ns."""

    def __init__(self, limit: int, timeout: SimTime) -> None:
        self._limit = limit
        self._timeout = timeout
        self._waiting: deque[tuple[SimTime, DataPacket]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, packet: DataPacket, now: SimTime) -> DataPacket | None:
        """Queues `packet`; returns the oldest one if that had to be dropped."""
        dropped = self._waiting.popleft()[1] if len(self._waiting) >= self._limit else None
        self._waiting.append((now + self._timeout, packet))
        return dropped

    def take(self, destination: NodeId) -> list[DataPacket]:
        """Takes the packets for `destination` out, oldest first."""
        taken = [packet for _, packet in self._waiting if packet.destination == destination]
        self._waiting = deque(entry for entry in self._waiting if entry[1].destination != destination)
        return taken

    def sweep(self, now: SimTime) -> list[DataPacket]:
        """Takes out those that waited too long."""
        over = []
        while self._waiting and self._waiting[0][0] <= now:
            over.append(self._waiting.popleft()[1])
        return over

    def destinations(self) -> list[NodeId]:
        """Where the waiting packets want to go, in the order of their first packet."""
        return list(dict.fromkeys(packet.destination for _, packet in self._waiting))
