"""Pure ALOHA (Abramson 1970): a frame is sent when it comes, whatever is on the air, and is never acknowledged.

The radio's buffer is the queue.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.engine import compiled
from roambus.bridge.backends.radio.mac.interface import deliver, is_for, no_frames, takes
from roambus.bridge.backends.radio.radio import buffer_frame
from roambus.bridge.backends.radio.state import BUFFER_FULL, State, let_go, record_with
from roambus.bridge.scenario.definition import Scenario

COLUMNS = np.dtype([("sent", "i8")])
COUNTS: tuple[str, ...] = ()


@compiled
def accept(s: State, sender: int, frame: int, now: int) -> None:
    """Hand a frame to the radio, which sends it at once, or after those that it has."""
    s.frames[frame].holders = 1
    if takes(s, sender, frame, now):
        if buffer_frame(s, sender, frame, now):
            s.macs[sender].sent += 1
            return
        s.frames[frame].refusal = BUFFER_FULL
    let_go(s, frame)


@compiled
def receive(s: State, frame: int, arrival: Any, now: int) -> None:  # noqa: ARG001  # the interface's
    """Pass a frame on if it is for this node."""
    if is_for(s.frames[frame].destination, arrival.receiver):
        deliver(s, frame, arrival)


@compiled
def timer_fired(s: State, index: int, now: int) -> None:
    """Do nothing: this MAC waits for nothing."""


def record(scenario: Scenario) -> np.void:
    """Return the settings."""
    return record_with(scenario.mac)


def control_frames(scenario: Scenario) -> NDArray[Any]:
    """Return no frames: pure ALOHA sends nothing of its own."""
    del scenario
    return no_frames()


def first_events(nodes: NDArray[Any], scenario: Scenario) -> list[tuple[int, int, int]]:
    """Return no events: nothing happens before the first frame."""
    del nodes, scenario
    return []


def adapt(scenario: Scenario) -> Scenario:
    """Return the scenario as it is."""
    return scenario
