"""Lookahead: until when the host may handle what is due without asking the simulator.

The simulator says with a Step until when nothing arrives (docs/bridge.md). Every packet that the host sends from then
on can arrive itself, after its time on the air, and be refused if the queue of its node may be full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from roambus.bridge.backends.interface import Transmission
from roambus.bridge.wire.wire_pb2 import Hello, Step
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Lookahead:
    """Knows the last instant at which nothing can happen that the host has not been told of."""

    def __init__(self, hello: Hello) -> None:
        self.until: SimTime = -1
        """Everything up to this time is known."""
        self._least_delay = hello.least_delay
        self._delay_per_byte = hello.delay_per_byte
        self._most_bytes = hello.most_bytes
        self._refused_first = hello.processing_delay > 0
        """Whether a refusal comes before the timers of its instant."""
        self._now: SimTime = -1
        self._room = 0
        self._packets: Counter[NodeId] = Counter()
        """How many packets each node has sent since the Step."""

    def start(self, step: Step) -> None:
        """Takes what a Step says."""
        self._now = self.until = step.now
        if step.HasField("quiet"):
            self.until = max(self._now, step.quiet.until - 1)
            self._room = step.quiet.room
            self._packets.clear()

    def sent(self, transmissions: Iterable[Transmission]) -> None:
        """Takes what the host sends."""
        if self.until <= self._now:
            return
        for node, at, _, _, size in transmissions:
            self._packets[node] += 1
            last = at + self._least_delay + self._delay_per_byte * size - 1
            if self._packets[node] > self._room or size > self._most_bytes:
                last = min(last, at - self._refused_first)
            self.until = max(self._now, min(self.until, last))
