"""The compiled event loop runs to the next instant that concerns Python, or to a given time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from roambus.bridge.backends.radio import energy, heap, mac, radio, receiver, state
from roambus.bridge.backends.radio.heap import compiled, entry_point, int64, typeof
from roambus.bridge.backends.radio.hearers import apply_moves, find_hearers, find_varying_hearers
from roambus.bridge.backends.radio.memory import ENOUGH, lacking
from roambus.bridge.backends.radio.receiver import apply_changes
from roambus.bridge.backends.radio.state import LISTENING, SENDING, SLEEPING, State
from roambus.bridge.process import interrupts_postponed
from roambus.python_protocol.simtime import SimTime

Reached = tuple[int, int, int, int, int]
"""The time reached, the numbers of deliveries, refusals and released frames in the outbox, and what room is lacking."""

GOING_ON = -1
"""In place of a number of frames: the loop had stopped for lack of room, and goes on."""


@compiled
def _dispatch(s: State, kind: int, index: int, now: int) -> None:
    if kind == state.MAC_TIMER:
        if mac.is_due(s, index, now):
            mac.timer_fired(s, index, now)
    elif kind in (state.SENDING_ON, state.FRAME_END):
        _transmit(s, kind, index, now)
    elif kind in (state.LISTENING_ON, state.SLEEPING_ON):
        _settle(s, kind, index, now)
    elif kind == state.ARRIVE:
        mac.arrive(s, index, now)
    elif kind == state.BATTERY:
        energy.look(s, index, now)
    elif index < s.run[0].own_frames:
        mac.emit(s, index, now)
    else:
        mac.accept(s, s.frames[index].sender, index, now)


@compiled
def _transmit(s: State, kind: int, sender: int, now: int) -> None:
    if kind == state.FRAME_END:
        radio.end_frame(s, sender, now)
    elif not radio.has_switched(s, sender, SENDING, now):
        return
    if s.nodes[sender].buffered > 0:
        radio.start_frame(s, sender, now)


@compiled
def _settle(s: State, kind: int, index: int, now: int) -> None:
    if kind == state.LISTENING_ON and radio.has_switched(s, index, LISTENING, now):
        receiver.start_listening(s, index, now)
    elif kind == state.SLEEPING_ON and radio.has_switched(s, index, SLEEPING, now):
        radio.fall_asleep(s, index, now)


@compiled
def _take_inbox(s: State, frames: int) -> None:
    s.run[0].deliveries = 0
    s.run[0].refusals = 0
    s.run[0].done = 0
    for k in range(frames):
        frame = s.inbox[k]
        state.schedule(s, s.frames[frame].at, state.REQUEST, frame)


@compiled
def _prepare(s: State, code: int, now: int) -> int:
    """Finds whom the next event reaches, if it starts a frame; returns what room it may lack."""
    kind, index = heap.kind_of(code), heap.index_of(code)
    starts = kind in (state.SENDING_ON, state.FRAME_END) and s.nodes[index].buffered > 0
    if starts and s.run[0].varies:
        find_varying_hearers(s, index, now)
    elif starts:
        find_hearers(s, index)
    return lacking(s, starts)


@compiled
def _advance(s: State, frames: int, until: int) -> Reached:
    run = s.run[0]
    if frames != GOING_ON:
        _take_inbox(s, frames)
    short = ENOUGH
    while True:
        time = heap.next_time(s.heap, run)
        concerned = run.deliveries + run.refusals > 0
        if time > until or (concerned and time > run.now):
            break
        run.now = time
        apply_moves(s, time)
        apply_changes(s, time)
        short = _prepare(s, heap.next_code(s.heap), time)
        if short != ENOUGH:
            return run.now, run.deliveries, run.refusals, run.done, short
        code = heap.pop(s.heap, run)
        _dispatch(s, heap.kind_of(code), heap.index_of(code), time)
    if run.deliveries + run.refusals == 0:
        run.now = until
    return run.now, run.deliveries, run.refusals, run.done, short


@entry_point
def _entry(s: State, frames: int, until: SimTime) -> Reached:
    return _advance(s, frames, until)


_DISPATCHER: Any = _entry

Advance = Callable[[State, int, SimTime], Reached]
"""Such a function takes frames from the inbox, and runs to the first instant with news, or to the time given."""

_BOUND: list[Advance] = []


def bind(s: State) -> Advance:
    """The compiled loop, from Numba's cache if it is there; the types of `s` are the same for all scenarios.

    Called through its dispatcher it would look up the types each time, which takes longer than most calls do.
    """
    if not _BOUND:
        _BOUND.append(_compiled_for(s))
    return _BOUND[0]


def _compiled_for(s: State) -> Advance:
    signature = (typeof(s), int64, int64)
    with interrupts_postponed():
        _DISPATCHER.compile(signature)
    advance: Advance = _DISPATCHER.get_overload(signature)
    return advance


def is_compiled() -> bool:
    """Whether the loop, as its sources are now, is in Numba's cache: otherwise the first run compiles it."""
    compiled_loop: Any = _entry
    return any(Path(compiled_loop.stats.cache_path).glob(f"*.{compiled_loop.__qualname__}-*.nbi"))
