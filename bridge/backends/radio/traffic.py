"""Traffic for benchmarks that is made inside the compiled loop; it is counted, and Python never hears of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from roambus.bridge.backends.radio import events
from roambus.bridge.backends.radio.chance import TRAFFIC, exponential
from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.csma import accept
from roambus.bridge.backends.radio.state import State


@dataclass(frozen=True, slots=True)
class PoissonSources:
    """Nodes broadcast packets with exponential gaps, the first at uniform(0, mean gap) after the node's start."""

    rate_per_s: float | Sequence[float]
    """The packets per second, for every node or for each; at 0 a node is silent."""
    payload_bytes: int


@compiled
def emit(s: State, node: int, now: int) -> None:
    """Has the node send its next packet, whose frame has the node's index."""
    gap = exponential(s.run[0], TRAFFIC, s.nodes[node].mean_gap)
    events.schedule(s, now + round(gap), events.REQUEST, node)
    accept(s, node, node, now)
