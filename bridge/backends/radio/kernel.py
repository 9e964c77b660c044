"""The compiled event loop runs to the next instant that concerns Python, or to a given time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from roambus.bridge.backends.radio import csma, events, heap, outbox, receiver, traffic, transmitter
from roambus.bridge.backends.radio.compiled import compiled, entry_point, int64, typeof
from roambus.bridge.backends.radio.hearers import apply_moves
from roambus.bridge.backends.radio.state import State
from roambus.bridge.interrupts import interrupts_postponed
from roambus.python_protocol.simtime import SimTime

Reached = tuple[int, int, int, int]
"""The time reached, and the numbers of deliveries, refusals and released frames in the outbox."""


@compiled
def _dispatch(s: State, kind: int, index: int, now: int) -> None:
    if kind == events.MAC_TIMER:
        csma.timer_fired(s, index, now)
    elif kind in (events.SENDING_ON, events.FRAME_END):
        _transmit(s, kind, index, now)
    elif kind == events.LISTENING_ON:
        receiver.start_listening(s, index, now)
    elif kind == events.ARRIVE:
        outbox.arrive(s, index)
    elif index < s.run[0].own_frames:
        traffic.emit(s, index, now)
    else:
        csma.accept(s, s.frames[index].sender, index, now)


@compiled
def _transmit(s: State, kind: int, sender: int, now: int) -> None:
    if kind == events.FRAME_END:
        transmitter.end_frame(s, sender, now)
    if s.nodes[sender].buffered > 0:
        transmitter.start_frame(s, sender, now)


@compiled
def _take_inbox(s: State, frames: int) -> None:
    s.run[0].deliveries = 0
    s.run[0].refusals = 0
    s.run[0].done = 0
    for k in range(frames):
        frame = s.inbox[k]
        events.schedule(s, s.frames[frame].at, events.REQUEST, frame)


@compiled
def _advance(s: State, frames: int, until: int) -> Reached:
    run = s.run[0]
    _take_inbox(s, frames)
    while True:
        time = heap.next_time(s.heap, run)
        concerned = run.deliveries + run.refusals > 0
        if time > until or (concerned and time > run.now):
            break
        run.now = time
        apply_moves(s, time)
        code = heap.pop(s.heap, run)
        _dispatch(s, heap.kind_of(code), heap.index_of(code), time)
    if run.deliveries + run.refusals == 0:
        run.now = until
    return run.now, run.deliveries, run.refusals, run.done


@entry_point
def _entry(s: State, frames: int, until: SimTime) -> Reached:
    return _advance(s, frames, until)


_DISPATCHER: Any = _entry

Advance = Callable[[State, int, SimTime], Reached]
"""Such a function takes frames from the inbox, and runs to the first instant with news, or to the time given."""


_BOUND: dict[np.dtype[np.void], Advance] = {}


def bind(s: State) -> Advance:
    """The compiled loop for states like `s`, from Numba's cache if it is there.

    Called through its dispatcher it would look up the types each time, which takes longer than most calls do.
    """
    kind = s.nodes.dtype  # the one array whose type differs between scenarios
    if kind not in _BOUND:
        _BOUND[kind] = _compiled_for(s)
    return _BOUND[kind]


def _compiled_for(s: State) -> Advance:
    signature = (typeof(s), int64, int64)
    with interrupts_postponed():
        _DISPATCHER.compile(signature)
    advance: Advance = _DISPATCHER.get_overload(signature)
    return advance
