"""What comes up from a radio to a MAC: a packet that is for the node is passed on, and a preamble announces one."""

from __future__ import annotations

from typing import Any

from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.csma import hear_packet, hear_preamble
from roambus.bridge.backends.radio.outbox import let_go
from roambus.bridge.backends.radio.state import State
from roambus.python_protocol.roles import BROADCAST


@compiled
def arrive(s: State, sender: int, now: int) -> None:
    """The last frame of `sender` comes up to the MACs of those who received it: the ones that it is for take it."""
    node, run = s.nodes[sender], s.run[0]
    frame = node.arriving
    destination, is_preamble = s.frames[frame].destination, run.first_preamble <= frame < run.own_frames
    for k in range(node.arrivals):
        arrival = s.arrivals[sender, k]
        if is_preamble:
            hear_preamble(s, arrival.receiver, now)
        elif destination == BROADCAST or destination == arrival.receiver:  # noqa: PLR1714  # Numba wants one type in a tuple
            _deliver(s, frame, arrival)
            hear_packet(s, arrival.receiver, now)
    let_go(s, frame)


@compiled
def _deliver(s: State, frame: int, arrival: Any) -> None:
    node, run = s.nodes[arrival.receiver], s.run[0]
    node.received += 1
    node.rssi_sum += arrival.rssi
    node.lqi_sum += arrival.lqi
    if frame >= run.own_frames:
        delivery = s.deliveries[run.deliveries]
        delivery.receiver = arrival.receiver
        delivery.frame = frame
        delivery.rssi = arrival.rssi
        delivery.lqi = arrival.lqi
        run.deliveries += 1
