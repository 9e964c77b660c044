"""Random waypoint (Johnson and Maltz, 1996).

Nodes gather in the middle over time, unless first destinations and pauses give a steady-state start.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from roambus.bridge.keys import MILLISECONDS, TIME, key
from roambus.bridge.mobility.model import PREFIX, SPEED, SPEEDS, UPDATE, UPDATES, Mobility, NodesOfIni, WayPoint
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import NUMBER, Range, settings_of
from roambus.python_protocol.simtime import SECOND, SimTime

if TYPE_CHECKING:  # the command line lists models, and does not wait for NumPy
    import numpy as np

_FROM_0 = Range(at_least=0)
_FIRST = "the first destination; -1: drawn like every other"
DRAWN = -1.0
"""Marks a drawn first destination."""


@dataclass(frozen=True, slots=True)
class RandomWaypoint(Mobility):
    """RandomWaypointMobilityManager: uniform destinations at constant speed, with pauses.

    Destinations lie in the given area, or else in the field.
    """

    speed_mps: float = key(SPEED, NUMBER, "1", "speed of the node", "m/s", SPEEDS)
    pause: SimTime = key(PREFIX + "pause", TIME, "0s", "pause at each destination", within=_FROM_0)
    update_interval: SimTime = key(UPDATE, MILLISECONDS, "100", UPDATES, within=Range(above=0))
    area_x: float = key(PREFIX + "areaX", NUMBER, "0", "the corner of the area of its destinations", "m", _FROM_0)
    area_y: float = key(PREFIX + "areaY", NUMBER, "0", "the corner of the area of its destinations", "m", _FROM_0)
    area_width: float = key(PREFIX + "areaWidth", NUMBER, "0", "of that area; 0: it is the field", "m", _FROM_0)
    area_height: float = key(PREFIX + "areaHeight", NUMBER, "0", "of that area; 0: it is the field", "m", _FROM_0)
    first_x: float = key(PREFIX + "firstX", NUMBER, "-1", _FIRST, "m", Range(at_least=DRAWN))
    first_y: float = key(PREFIX + "firstY", NUMBER, "-1", _FIRST, "m", Range(at_least=DRAWN))
    first_pause: SimTime = key(
        PREFIX + "firstPause", TIME, "0s", "pause at the start, before the first way", within=_FROM_0
    )

    @property
    def first(self) -> tuple[float, float] | None:
        """The first destination; None if drawn."""
        return None if self.first_x == DRAWN else (self.first_x, self.first_y)

    @classmethod
    def read(cls, ini: NodesOfIni, node: NodeId) -> Self:
        """Return a node's model, whose first destination, if given, must lie in the field."""
        built: Self = ini.build(cls, node)
        x, y = (settings_of(cls)[name] for name in ("first_x", "first_y"))
        drawn = (built.first_x, built.first_y).count(DRAWN)
        ini.refuse(drawn == 1, x, f"node {node}: give firstX and firstY, or none", node)
        if not drawn:
            ini.point(x, y, node)
        return built

    def onward(self, start: WayPoint, field_m: tuple[float, float], random: np.random.Generator) -> Iterator[WayPoint]:
        """Yield random way-points; a steady-state start gives the first destination and pause."""
        if self.speed_mps <= 0:
            return
        at = start
        if self.first_pause:
            at = at._replace(time_s=self.first_pause / SECOND)
            yield at
        destination, (left, bottom), (right, top) = self.first, *self._area(field_m)
        while True:
            x, y = destination or (random.uniform(left, right), random.uniform(bottom, top))
            destination = None
            at = WayPoint(at.time_s + math.hypot(x - at.x, y - at.y) / self.speed_mps, x, y)
            yield at
            if self.pause:
                at = at._replace(time_s=at.time_s + self.pause / SECOND)
                yield at

    def _area(self, field_m: tuple[float, float]) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the lower left and the upper right corner of the area of destinations."""
        if not (self.area_width and self.area_height):
            return (0.0, 0.0), field_m
        return (self.area_x, self.area_y), (self.area_x + self.area_width, self.area_y + self.area_height)
