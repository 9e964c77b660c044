"""The compiled event loop: it runs to the next instant that concerns Python, or to a given time.

1. An instant concerns Python if a frame arrives at an agent, or is refused or fails. All its events are handled before
   the loop returns.
2. Before an event, nodes move to their cells and measured links change: both are lists by time.
3. Before an event the loop checks that its effects have room (`lacking`). If not it returns; Python makes room, and the
   same event is next. No event is half done.

One call crosses from Python to compiled code once; crossing for each event would cost more than the event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from roambus.bridge.backends.radio import energy, engine, medium, outages, radio, receiver, state
from roambus.bridge.backends.radio.engine import compiled, entry_point, int64, typeof
from roambus.bridge.backends.radio.mac import tunable_mac as mac  # stands for the MAC that `_loop` puts in its place
from roambus.bridge.backends.radio.mac.interface import Mac, is_due
from roambus.bridge.backends.radio.mac.registry import mac_of
from roambus.bridge.backends.radio.medium import apply_changes, apply_moves, find_hearers
from roambus.bridge.backends.radio.propagation import temporal
from roambus.bridge.backends.radio.propagation.interface import Fading
from roambus.bridge.backends.radio.propagation.registry import fading_of
from roambus.bridge.backends.radio.radio import end_frame, start_frame
from roambus.bridge.backends.radio.receiver import others_begin_or_end
from roambus.bridge.backends.radio.reception import bit_errors
from roambus.bridge.backends.radio.reception.interface import ReceptionModel
from roambus.bridge.backends.radio.reception.registry import reception_of
from roambus.bridge.backends.radio.state import ENOUGH, LISTENING, SENDING, SLEEPING, State, lacking, let_go
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.code import (
    DISTRIBUTION,
    PARTS,
    code_hash,
    data_files,
    data_hash,
    errors_of,
    find_files,
    hash_files,
    is_ours,
    project_files,
)
from roambus.bridge.system.files import locked
from roambus.bridge.system.interrupts import interrupts_postponed
from roambus.python_protocol.simtime import SimTime

Reached = tuple[int, int, int, int, int]
"""Time reached; deliveries, refusals and released frames in the outbox; and the room that is lacking."""

Advance = Callable[[State, int, SimTime], Reached]
"""Take frames from the inbox, and run to the first instant with news, or to the time given."""

GOING_ON = -1
"""In place of a number of frames: the loop had stopped for lack of room, and continues."""


class Parts(NamedTuple):
    """The modules of a scenario, against which the loop is compiled."""

    mac: Mac
    fading: Fading = temporal
    reception: ReceptionModel = bit_errors

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        """Return the modules; raises UserError if one is none."""
        return cls(mac_of(scenario), fading_of(scenario), reception_of(scenario))

    @property
    def modules(self) -> tuple[str, ...]:
        """The names of the MAC's module, and of those that vary ways or receive in place of ours."""
        own = [part for part in (self.fading, self.reception) if part not in (temporal, bit_errors)]
        parts: list[Any] = [self.mac, *own]
        return tuple(part.__name__ for part in parts)

    @property
    def name(self) -> str:
        """The name of the loop in Numba's cache."""
        return "_".join(map(_with_hash, self.modules))


def bind(s: State, chosen: Parts) -> Advance:
    """Return the compiled loop for the modules of a scenario, from Numba's cache if it is there."""
    name = chosen.name, s.run.dtype, s.macs.dtype
    if name not in _BOUND:
        signature, loop = (typeof(s), int64, int64), _loop(chosen)
        # Of processes that start together one compiles, and the others read what it has made.
        alone = locked(Path(loop.stats.cache_path)) if is_compiled(chosen) is False else nullcontext()
        module = next((part for part in chosen.modules if not is_ours(part)), DISTRIBUTION + ".")
        with interrupts_postponed(), alone, errors_of(module, f"the radio cannot be compiled with {module}, which"):
            loop.compile(signature)
        _BOUND[name] = loop.get_overload(signature)
    return _BOUND[name]


_BOUND: dict[tuple[str, np.dtype[Any], np.dtype[Any]], Advance] = {}
"""Loops by their names and records: classes of settings may share a module."""

_LOOPS: dict[str, Any] = {}


def is_compiled(chosen: Parts) -> bool | None:
    """Whether Numba's cache has the loop for its present sources; None without a cache: each run compiles it."""
    loop = _loop(chosen)
    if loop.stats.cache_path is None:
        return None
    return any(Path(loop.stats.cache_path).glob(f"*.{loop.__qualname__}-*.nbi"))


def _loop(chosen: Parts) -> Any:
    """Compile the loop with the functions of these modules, so that a call of them costs nothing.

    Each choice gets copies of the functions in which `mac`, `fading` and `reception` are its modules.
    """
    if chosen.name not in _LOOPS:
        names: dict[str, Any] = {"mac": chosen.mac}
        if chosen.fading is not temporal:
            names |= engine.compiled_with(medium.OF_FADING, fading=chosen.fading)
        if chosen.reception is not bit_errors:
            names |= engine.compiled_with(receiver.OF_RECEPTION, reception=chosen.reception)
            names |= engine.compiled_with(radio.OF_RECEPTION, **names)
        own = engine.compiled_with((_prepare, _transmit, _go_on, _arrive, _dispatch), **names)
        _LOOPS[chosen.name] = entry_point(engine.with_names(_advance, {**globals(), **own}), chosen.name)
    return _LOOPS[chosen.name]


@cache
def _with_hash(module: str) -> str:
    """A name that changes with the module's code, and outside of this package with what that imports and may read."""
    files = find_files(module)
    if is_ours(module):
        found = hash_files(_of_its_extension(files))
    else:  # the loop has arrays of the module as constants
        found = sha256(code_hash(files) + data_hash(data_files(module))).digest()
    return f"{module.rpartition('.')[2]}_{found.hex()[:16]}"


def _of_its_extension(files: Sequence[Path]) -> set[Path]:
    """Return a module's files, and all of its extension that they import: the loop is compiled from these, too."""
    extensions = PARTS[f"{DISTRIBUTION}.extensions"]
    folders = {folder for file in files for folder in file.parents if folder.parent == extensions}
    return {*files, *(file for file in project_files(files) if any(map(file.is_relative_to, folders)))}


def _advance(s: State, frames: int, until: SimTime) -> Reached:
    run = s.run[0]
    if frames != GOING_ON:
        _take_inbox(s, frames)
    short = ENOUGH
    while short == ENOUGH:
        time = engine.next_time(s.heap, run)
        concerned = run.deliveries + run.refusals > 0
        if time > until or (concerned and time > run.now):
            break
        run.now = time
        apply_moves(s, time)
        apply_changes(s, time)
        # The event is looked at where it is, and taken off only when everything has room: else it is looked at again.
        short = _prepare(s, s.heap[0, engine.CODE], time)
        if short == ENOUGH:
            code = engine.pop(s.heap, run)
            _dispatch(s, engine.kind_of(code), engine.index_of(code), time)
    if short == ENOUGH and run.deliveries + run.refusals == 0:
        run.now = until
    return run.now, run.deliveries, run.refusals, run.done, short


@compiled
def _take_inbox(s: State, frames: int) -> None:
    """Empty the outbox, and schedule each frame in the inbox at its time, which includes the processing delay."""
    s.run[0].deliveries = 0
    s.run[0].refusals = 0
    s.run[0].done = 0
    for k in range(frames):
        frame = s.inbox[k]
        state.schedule(s, s.frames[frame].at, state.REQUEST, frame)


@compiled
def _prepare(s: State, code: int, now: int) -> int:
    """Find the receivers of the frame that the next event starts; return the room that it may lack.

    The end of a frame starts the next one in the buffer.
    """
    kind, index = engine.kind_of(code), engine.index_of(code)
    starts = kind in (state.SENDING_ON, state.FRAME_END) and s.nodes[index].buffered > 0
    if starts:
        find_hearers(s, index, now)
    return lacking(s, starts)


def _dispatch(s: State, kind: int, index: int, now: int) -> None:
    """Handle an event of a node, or a request, which names a frame."""
    if kind == state.MAC_TIMER:
        if is_due(s, index, now):
            mac.timer_fired(s, index, now)
    elif kind in (state.SENDING_ON, state.FRAME_END):
        _transmit(s, kind, index, now)
    elif kind in (state.LISTENING_ON, state.SLEEPING_ON):
        _settle(s, kind, index, now)
    elif kind == state.ARRIVE:
        _arrive(s, index, now)
    elif kind in (state.BATTERY, state.OTHERS):
        _go_on(s, kind, index, now)
    elif kind in (state.CRASH, state.FREEZE, state.RECOVER):
        outages.happen(s, kind, index, now)
    else:
        mac.accept(s, s.frames[index].sender, index, now)


@compiled
def _go_on(s: State, kind: int, index: int, now: int) -> None:
    """Handle a recurrent event: a look at a battery, or a burst of others' traffic."""
    if kind == state.BATTERY:
        energy.look(s, index, now)
    else:
        others_begin_or_end(s, now)


def _arrive(s: State, sender: int, now: int) -> None:
    """Pass the last frame of `sender` to the MACs of the nodes that received it."""
    node = s.nodes[sender]
    frame = node.arriving
    for k in range(node.arrivals):
        mac.receive(s, frame, s.arrivals[sender, k], now)
    let_go(s, frame)


@compiled
def _transmit(s: State, kind: int, sender: int, now: int) -> None:
    """Start a frame when the radio is in TX, and the next ones without a gap."""
    if kind == state.FRAME_END:
        end_frame(s, sender, now)
    elif not radio.has_switched(s, sender, SENDING, now):
        return
    if s.nodes[sender].buffered > 0:
        start_frame(s, sender, now)


@compiled
def _settle(s: State, kind: int, index: int, now: int) -> None:
    """End a change to RX or to sleep, unless it was overtaken."""
    if kind == state.LISTENING_ON and radio.has_switched(s, index, LISTENING, now):
        receiver.start_listening(s, index, now)
        if s.nodes[index].buffered > 0:  # it came when the radio had left TX already
            radio.turn_to(s, index, SENDING, now)
    elif kind == state.SLEEPING_ON and radio.has_switched(s, index, SLEEPING, now):
        radio.fall_asleep(s, index, now)
