"""Pure ALOHA (Abramson, 1970): a frame goes on the air as soon as the radio is free; nothing is sensed or repeated."""

from __future__ import annotations

from typing import Any

import numpy as np

from roambus.bridge.backends.radio.engine import compiled
from roambus.bridge.backends.radio.state import State
from roambus.extensions.lora.mac import limits
from roambus.extensions.lora.mac.sending import (
    HELD,
    ON_AIR,
    may_begin,
    pass_on,
    send_first,
    take_begun,
    takes_up,
)

COLUMNS = np.dtype(limits.COLUMNS)
COUNTS, REASONS = limits.COUNTS, limits.REASONS
adapt, record = limits.adapt, limits.record


@compiled
def accept(s: State, sender: int, frame: int, now: int) -> None:
    """Queue a frame; an idle MAC sends it."""
    if takes_up(s, sender, frame, now):
        _go_on(s, sender, now)


@compiled
def receive(s: State, frame: int, arrival: Any, _: int) -> None:
    """Pass on a frame that is for this node."""
    pass_on(s, frame, arrival)


@compiled
def timer_fired(s: State, index: int, now: int) -> None:
    """Send the next frame: the radio may be free, or the limits may allow it."""
    if s.nodes[index].mac in (ON_AIR, HELD):
        take_begun(s, index)
        _go_on(s, index, now)


@compiled
def _go_on(s: State, sender: int, now: int) -> None:
    """Send the first frame, or wait for the radio or the limits, or rest."""
    if may_begin(s, sender, now):
        send_first(s, sender, now)
