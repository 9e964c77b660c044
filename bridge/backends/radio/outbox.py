"""The compiled loop tells Python of refused frames, and of frames that are done with."""

from __future__ import annotations

from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.state import State

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
