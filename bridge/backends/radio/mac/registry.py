"""The MAC of a scenario: the module that its settings name, with what it leaves out.

A MAC writes only what it has. Without a timer, control frames, counters, events at its start or a radio of its own, it
gets the ones here.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.engine import compiled
from roambus.bridge.backends.radio.mac.interface import Mac
from roambus.bridge.backends.radio.modules import complete
from roambus.bridge.backends.radio.state import FRAME, State, record_with
from roambus.bridge.scenario.definition import Scenario

REQUIRED = ("accept", "receive")
"""The functions that every MAC has."""


@compiled
def timer_fired(s: State, index: int, now: int) -> None:
    """Do nothing, for no timer was set."""


def record(scenario: Scenario) -> np.void:
    """Return the settings as they are."""
    return record_with(scenario.mac)


def control_frames(scenario: Scenario) -> NDArray[Any]:
    """Return no frame."""
    del scenario
    return np.zeros(0, FRAME)


def first_events(nodes: NDArray[Any], scenario: Scenario) -> list[tuple[int, int, int]]:
    """Return nothing: an idle MAC waits for a frame."""
    del nodes, scenario
    return []


def adapt(scenario: Scenario) -> Scenario:
    """Return the scenario as it is."""
    return scenario


DEFAULTS: dict[str, Any] = {
    "COLUMNS": np.dtype([("unused", "i8")]),
    "COUNTS": (),
    "REASONS": (),
    "timer_fired": timer_fired,
    "record": record,
    "control_frames": control_frames,
    "first_events": first_events,
    "adapt": adapt,
}


def mac_of(scenario: Scenario) -> Mac:
    """Return the MAC of all nodes; raises UserError if its module is none."""
    return _complete(scenario.mac.MODULE)


@cache
def _complete(name: str) -> Mac:
    return cast("Mac", complete("MAC", name, REQUIRED, DEFAULTS))
