"""To and fro on a line, as Castalia's LineMobilityManager has it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, ClassVar, Self

from roambus.bridge.keys import COORDINATE, MILLISECONDS, key
from roambus.bridge.mobility.model import PREFIX, SPEED, SPEEDS, UPDATE, UPDATES, Mobility, NodesOfIni, WayPoint
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import NUMBER, Range, Setting, settings_of
from roambus.python_protocol.simtime import SimTime

if TYPE_CHECKING:  # the command line lists models, and does not wait for NumPy
    import numpy as np


@dataclass(frozen=True, slots=True)
class Line(Mobility):
    """LineMobilityManager: to and fro between the start and (x, y)."""

    FURTHER_KEYS: ClassVar[tuple[Setting, ...]] = (
        Setting(PREFIX + "zCoorDestination", NUMBER, "0", "height of the other end", "m", choices=(0.0,)),
    )

    x: float = key(PREFIX + "xCoorDestination", COORDINATE, "0", "the other end; uniform(a, b) draws it per node")
    y: float = key(PREFIX + "yCoorDestination", COORDINATE, "0", "the other end; uniform(a, b) draws it per node")
    speed_mps: float = key(SPEED, NUMBER, "1", "speed of the node", "m/s", SPEEDS)
    update_interval: SimTime = key(UPDATE, MILLISECONDS, "1000", UPDATES, within=Range(above=0))

    @classmethod
    def read(cls, ini: NodesOfIni, node: NodeId) -> Self:
        """Return a node's line, whose other end must lie in the field."""
        settings = settings_of(cls)
        ini.point(settings["x"], settings["y"], node)
        built: Self = ini.build(cls, node)
        return built

    def onward(self, start: WayPoint, field_m: tuple[float, float], random: np.random.Generator) -> Iterator[WayPoint]:
        """Yield both ends in turn; multiplied leg times avoid accumulated rounding."""
        del field_m, random
        if self.speed_mps <= 0 or (start.x, start.y) == (self.x, self.y):
            return
        leg_s = math.hypot(self.x - start.x, self.y - start.y) / self.speed_mps
        for legs in count(1):
            there = legs % 2 == 1
            yield WayPoint(legs * leg_s, self.x if there else start.x, self.y if there else start.y)
