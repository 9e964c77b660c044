"""What the compiled loop tells Python: deliveries, refused frames, and frames that are done with."""

from __future__ import annotations

from bridge.backends.radio.compiled import compiled
from bridge.backends.radio.state import State
from python_protocol.roles import BROADCAST

TAKEN, QUEUE_FULL, BUFFER_FULL, FRAME_TOO_LONG, PACKET_TOO_LONG, NOT_BOOTED = range(6)
"""Why a frame was refused."""


@compiled
def refuse(s: State, frame: int, reason: int) -> None:
    """Tells that a frame will not be sent."""
    if frame >= s.model[0].own_frames:
        refusal = s.outbox.refusals[s.run[0].refusals]
        refusal.frame = frame
        refusal.reason = reason
        s.run[0].refusals += 1


@compiled
def release(s: State, frame: int) -> None:
    """Tells that a frame was sent and nobody needs it any more."""
    if frame >= s.model[0].own_frames:
        s.outbox.released[s.run[0].released] = frame
        s.run[0].released += 1


@compiled
def arrive(s: State, sender: int) -> None:
    """The last frame of `sender` comes up to the MACs of those who received it: the ones that it is for take it."""
    frame = s.nodes[sender].arriving
    destination = s.frames[frame].destination
    for k in range(s.nodes[sender].arrivals):
        arrival = s.arrivals[sender, k]
        if destination in (BROADCAST, arrival.receiver):
            _deliver(s, frame, arrival.receiver, arrival.rssi, arrival.lqi)
    release(s, frame)


@compiled
def _deliver(s: State, frame: int, receiver: int, rssi: float, lqi: float) -> None:
    node, run, out = s.nodes[receiver], s.run[0], s.outbox
    node.received += 1
    node.rssi_sum += rssi
    node.lqi_sum += lqi
    if frame >= s.model[0].own_frames:
        out.receiver[run.deliveries] = receiver
        out.frame[run.deliveries] = frame
        out.rssi[run.deliveries] = rssi
        out.lqi[run.deliveries] = lqi
        run.deliveries += 1
