"""How nodes move: they rest, go to and fro on a line, by random waypoint, or as a movement file says.

A mobility manager of Castalia stands behind each; random waypoint and given ways are modules of ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from roambus.bridge.keys import (
    COORDINATE,
    EVERY_NODE,
    FILE,
    MILLISECONDS,
    TEXT,
    TIME,
    TRUTH,
    key,
    keys_of,
)
from roambus.python_protocol.settings import NUMBER, Range, Setting
from roambus.python_protocol.simtime import SimTime

_MANAGER = f"SN.{EVERY_NODE}.MobilityManager."
_UPDATE, _SPEED = _MANAGER + "updateInterval", _MANAGER + "speed"
_UPDATES = "between the moments at which the channel looks where the node is"
_SPEEDS = Range(above=0, at_most=1e4)
_FIRST = "the first destination; -1: it is drawn like every other"
DRAWN = -1.0
"""What stands for a first destination that is drawn."""

MOVEMENT_FILE = Setting(
    _MANAGER + "file", FILE, None, "a movement file of BonnMotion or of ns-2's setdest, beside the ini"
)


@dataclass(frozen=True, slots=True)
class Static:
    """The node stays at its place."""


@dataclass(frozen=True, slots=True)
class Line:
    """LineMobilityManager: the node goes to and fro between its start and (x, y)."""

    x: float = key(_MANAGER + "xCoorDestination", COORDINATE, "0", "the other end; uniform(a, b) draws it per node")
    y: float = key(_MANAGER + "yCoorDestination", COORDINATE, "0", "the other end; uniform(a, b) draws it per node")
    speed_mps: float = key(_SPEED, NUMBER, "1", "speed of the node", "m/s", _SPEEDS)
    update_interval: SimTime = key(_UPDATE, MILLISECONDS, "1000", _UPDATES, within=Range(above=0))


@dataclass(frozen=True, slots=True)
class RandomWaypoint:
    """RandomWaypointMobilityManager: the node goes to uniform destinations at constant speed, and pauses at each."""

    speed_mps: float = key(_SPEED, NUMBER, "1", "speed of the node", "m/s", _SPEEDS)
    pause: SimTime = key(_MANAGER + "pause", TIME, "0s", "pause at each destination", within=Range(at_least=0))
    update_interval: SimTime = key(_UPDATE, MILLISECONDS, "100", _UPDATES, within=Range(above=0))
    first_x: float = key(_MANAGER + "firstX", NUMBER, "-1", _FIRST, "m", Range(at_least=DRAWN))
    first_y: float = key(_MANAGER + "firstY", NUMBER, "-1", _FIRST, "m", Range(at_least=DRAWN))
    first_pause: SimTime = key(
        _MANAGER + "firstPause", TIME, "0s", "pause at the start, before the first way", within=Range(at_least=0)
    )

    @property
    def first(self) -> tuple[float, float] | None:
        """The first destination; None if it is drawn like every other."""
        return None if self.first_x == DRAWN else (self.first_x, self.first_y)


class WayPoint(NamedTuple):
    """The node is at (x, y) metres at `time_s`."""

    time_s: float
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class GivenWay:
    """MovementFileMobilityManager: the node goes straight from point to point, and rests at the last one."""

    points: tuple[WayPoint, ...]
    update_interval: SimTime = key(_UPDATE, MILLISECONDS, "100", _UPDATES, within=Range(above=0))


Mobility = Static | Line | RandomWaypoint | GivenWay

MANAGERS: dict[str, type[Any]] = {
    "NoMobilityManager": Static,
    "LineMobilityManager": Line,
    "RandomWaypointMobilityManager": RandomWaypoint,
    "MovementFileMobilityManager": GivenWay,
}
"""The mobility that each MobilityManagerName stands for."""

MANAGER_KEYS: dict[str, tuple[Setting, ...]] = {
    "NoMobilityManager": (),
    "LineMobilityManager": (
        *keys_of(Line),
        Setting(_MANAGER + "zCoorDestination", NUMBER, "0", "height of the other end", "m", choices=(0.0,)),
    ),
    "RandomWaypointMobilityManager": keys_of(RandomWaypoint),
    "MovementFileMobilityManager": (*keys_of(GivenWay), MOVEMENT_FILE),
}
"""The keys that each MobilityManagerName adds."""

MANAGER = Setting(
    f"SN.{EVERY_NODE}.MobilityManagerName", TEXT, '"NoMobilityManager"', "how the node moves", choices=tuple(MANAGERS)
)

KEYS = (
    MANAGER,
    Setting(_MANAGER + "collectTraceInfo", TRUTH, "false", "Castalia's own trace, which has no effect here"),
)
