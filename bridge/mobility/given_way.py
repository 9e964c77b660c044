"""Ways that are given point by point: by a movement file, or by a transcript."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from roambus.bridge.keys import FILE, MILLISECONDS, key
from roambus.bridge.mobility.model import PREFIX, UPDATE, UPDATES, Mobility, NodesOfIni, WayPoint
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import Range, Setting
from roambus.python_protocol.simtime import SimTime

if TYPE_CHECKING:  # the command line lists models, and does not wait for NumPy
    import numpy as np

MOVEMENT_FILE = Setting(
    PREFIX + "file", FILE, None, "a movement file of BonnMotion or of ns-2's setdest, beside the ini"
)


@dataclass(frozen=True, slots=True)
class GivenWay(Mobility):
    """MovementFileMobilityManager: straight from point to point, then rest."""

    FURTHER_KEYS: ClassVar[tuple[Setting, ...]] = (MOVEMENT_FILE,)

    points: tuple[WayPoint, ...]
    update_interval: SimTime = key(UPDATE, MILLISECONDS, "100", UPDATES, within=Range(above=0))

    @classmethod
    def read(cls, ini: NodesOfIni, node: NodeId) -> Self:
        """Return a node's way in its movement file."""
        built: Self = ini.build(cls, node, points=ini.way(node))
        return built

    def onward(self, start: WayPoint, field_m: tuple[float, float], random: np.random.Generator) -> Iterator[WayPoint]:
        """Return the points after the first."""
        del start, field_m, random
        return iter(self.points[1:])
