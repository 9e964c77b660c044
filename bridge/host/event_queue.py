"""The event queue of a run.

Events of one instant are ordered by node, then by scheduling. Replaced or cancelled timers stay in the heap, marked by
number: skipping is faster than finding them.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from roambus.python_protocol.events import (
    Event,
    TimerFired,
    TimerKey,
)
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

Due = tuple[SimTime, NodeId, int, Event]
"""Time, node, scheduling number, and event."""


class EventQueue:
    """Due events of `nodes` nodes; `now` is the time of the current step."""

    def __init__(self, nodes: int) -> None:
        self.now: SimTime = 0
        self._due: list[Due] = []
        self._timers: list[dict[TimerKey, int]] = [{} for _ in range(nodes)]
        """The numbers of set timers."""
        self._dead: set[int] = set()
        """Numbers of replaced or cancelled events still in the heap."""
        self._last = 0

    def next_number(self) -> int:
        """The next scheduling number."""
        self._last += 1
        return self._last

    def schedule(self, time: SimTime, node: NodeId, event: Event) -> int:
        """Schedule the event for the node; return its number."""
        self._last += 1
        heappush(self._due, (time, node, self._last, event))
        return self._last

    def next_time(self) -> SimTime | None:
        """The time of the next event."""
        due, dead = self._due, self._dead
        while due and due[0][2] in dead:
            dead.remove(heappop(due)[2])
        return due[0][0] if due else None

    def take(self) -> Due:
        """Take the next event; `next_time` says if there is one."""
        return heappop(self._due)

    def set_timer(self, node: NodeId, key: TimerKey, time: SimTime) -> None:
        """Set the node's timer, replacing its earlier time."""
        timers = self._timers[node]
        replaced = timers.get(key)
        if replaced is not None:
            self._dead.add(replaced)
        timers[key] = self.schedule(time, node, TimerFired(key))

    def cancel_timer(self, node: NodeId, key: TimerKey) -> None:
        """Cancel the node's timer, if set."""
        cancelled = self._timers[node].pop(key, None)
        if cancelled is not None:
            self._dead.add(cancelled)

    def forget_timer(self, node: NodeId, key: TimerKey) -> None:
        """Forget the node's fired timer."""
        del self._timers[node][key]

    def cancel_timers(self, node: NodeId) -> None:
        """Cancel all timers of the node."""
        self._dead.update(self._timers[node].values())
        self._timers[node].clear()

    def still_alive(self, waiting: Iterable[tuple[int, Event]]) -> Iterable[Event]:
        """The events that waited outside the heap, each in turn, unless cancelled."""
        for number, event in waiting:
            if number in self._dead:
                self._dead.remove(number)
            else:
                yield event
