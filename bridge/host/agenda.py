"""What is due in a run, and the one clock of it: boots, commands, and the timers of all agents in a single heap.

Things due at one instant are in the order of their nodes, and of one node in the order in which they were scheduled. A
timer that is replaced or cancelled stays in the heap, and its number goes to a set of dead ones: to look for it in the
heap would take longer than to skip it when its time comes.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from roambus.python_protocol.events import Event, TimerFired, TimerKey
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

Due = tuple[SimTime, NodeId, int, Event]
"""When something is due, at which node, its number in the order of scheduling, and what it is."""


class Agenda:
    """What is due at `nodes` nodes; `now` is the time of the step that is being handled."""

    def __init__(self, nodes: int) -> None:
        self.now: SimTime = 0
        self._due: list[Due] = []
        self._timers: list[dict[TimerKey, int]] = [{} for _ in range(nodes)]
        """The number of each timer that is set."""
        self._dead: set[int] = set()
        """The numbers of what is still in the heap, but was replaced or cancelled."""
        self._last = 0

    def next_number(self) -> int:
        """A number for what comes after everything that has one."""
        self._last += 1
        return self._last

    def schedule(self, time: SimTime, node: NodeId, event: Event) -> int:
        """Has the event come to the node at that time; returns its number."""
        self._last += 1
        heappush(self._due, (time, node, self._last, event))
        return self._last

    def next_time(self) -> SimTime | None:
        """When the next thing is due."""
        due, dead = self._due, self._dead
        while due and due[0][2] in dead:
            dead.remove(heappop(due)[2])
        return due[0][0] if due else None

    def take(self) -> Due:
        """Takes off what is due next; there must be something, by `next_time`."""
        return heappop(self._due)

    def set_timer(self, node: NodeId, key: TimerKey, time: SimTime) -> None:
        """Has the node's timer fire at that time, and not when it was to fire before."""
        timers = self._timers[node]
        replaced = timers.get(key)
        if replaced is not None:
            self._dead.add(replaced)
        timers[key] = self.schedule(time, node, TimerFired(key))

    def cancel_timer(self, node: NodeId, key: TimerKey) -> None:
        """Has the node's timer not fire, if it is set."""
        cancelled = self._timers[node].pop(key, None)
        if cancelled is not None:
            self._dead.add(cancelled)

    def forget_timer(self, node: NodeId, key: TimerKey) -> None:
        """The node's timer has fired."""
        del self._timers[node][key]

    def cancel_timers(self, node: NodeId) -> None:
        """Has no timer of the node fire."""
        self._dead.update(self._timers[node].values())
        self._timers[node].clear()

    def still_alive(self, waiting: Iterable[tuple[int, Event]]) -> Iterable[Event]:
        """The events that waited outside the heap, each when its turn comes: unless it was cancelled by then."""
        for number, event in waiting:
            if number in self._dead:
                self._dead.remove(number)
            else:
                yield event
