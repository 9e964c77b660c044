"""The compiled loop tells Python of deliveries, of refused frames, and of frames that are done with."""

from __future__ import annotations

from typing import Any

from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.state import State
from roambus.python_protocol.roles import BROADCAST

TAKEN, QUEUE_FULL, BUFFER_FULL, FRAME_TOO_LONG, PACKET_TOO_LONG, NOT_BOOTED, NO_ENERGY = range(7)
"""The reasons why a frame is refused, and that it is not."""


@compiled
def refuse(s: State, frame: int) -> None:
    """Tells that a frame will not be sent, as its `refusal` says."""
    s.run[0].refusals += release(s, frame)
    s.frames[frame].refusal = TAKEN


@compiled
def let_go(s: State, frame: int) -> None:
    """One holds the frame no more: queue, or radio and receivers for a copy of it. When all have let go it is done."""
    if frame < s.run[0].own_frames:  # the compiled traffic has one for all packets of a node
        s.frames[frame].refusal = TAKEN
        return
    s.frames[frame].holders -= 1
    if s.frames[frame].holders == 0:
        if s.frames[frame].refusal == TAKEN:
            release(s, frame)
        else:
            refuse(s, frame)


@compiled
def release(s: State, frame: int) -> int:
    """Tells that a frame is done with, so that its number can be used again; returns how many are told of."""
    run = s.run[0]
    if frame < run.own_frames:
        return 0
    done = s.done[run.done]
    done.frame = frame
    done.reason = s.frames[frame].refusal
    run.done += 1
    return 1


@compiled
def arrive(s: State, sender: int) -> None:
    """The last frame of `sender` comes up to the MACs of those who received it: the ones that it is for take it."""
    node = s.nodes[sender]
    destination = s.frames[node.arriving].destination
    for k in range(node.arrivals):
        arrival = s.arrivals[sender, k]
        if destination == BROADCAST or destination == arrival.receiver:  # noqa: PLR1714  # Numba wants one type in a tuple
            _deliver(s, node.arriving, arrival)
    let_go(s, node.arriving)


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
