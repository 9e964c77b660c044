"""The nodes, the field and the duration of a scenario, into which a movement file must fit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from roambus.bridge.trace.schema import LATEST_S
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime


@dataclass(frozen=True, slots=True)
class Extent:
    """The number of nodes, the size of the field (m), and the length of the run (ns)."""

    nodes: int
    field_m: tuple[float, float]
    time_limit: SimTime

    def node(self, text: str) -> NodeId:
        """Reads the number of a node; raises ValueError if the scenario does not have it."""
        if not text.isdecimal() or len(text) > 9 or int(text) >= self.nodes:
            raise ValueError(f"node {text:.20} is none of the {self.nodes} nodes, 0 to {self.nodes - 1} (SN.numNodes)")
        return int(text)

    def place(self, x: str, y: str) -> tuple[float, float]:
        """Reads a place; raises ValueError if it is out of the field."""
        return self.coordinate("x", x), self.coordinate("y", y)

    def coordinate(self, axis: str, text: str) -> float:
        """Reads the x, y or z of a place, in metres; raises ValueError if it is out of the field, which is flat."""
        value, limit = number(text), (*self.field_m, 0.0)["xyz".index(axis)]
        if not 0 <= value <= limit:
            raise ValueError(f"{axis} = {text:.20} is out of the field, 0 to {limit:g} m (SN.field_{axis})")
        return value

    def check_side(self, axis: str, metres: float) -> None:
        """Raises ValueError if nodes on a field that is so large along `axis`, x or y, could leave the scenario's."""
        limit = self.field_m["xy".index(axis)]
        if metres > limit:
            raise ValueError(f"its field has {metres:g} m, more than the {limit:g} m of SN.field_{axis}")

    def check_lasting(self, seconds: float) -> None:
        """Raises ValueError if a movement of this duration ends before the run does."""
        if seconds * SECOND < self.time_limit:
            raise ValueError(
                f"it ends at {seconds:g} s, before the run at {self.time_limit / SECOND:g} s (sim-time-limit)"
            )


def number(text: str) -> float:
    """Reads a number; raises ValueError, also for those that float takes and no format has: nan, inf, 1_000."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        raise ValueError(f"{text[:20]!r} is no number")
    return value


def time_s(text: str) -> float:
    """Reads a time in seconds; raises ValueError if it cannot be one of a run."""
    value = number(text)
    if not 0 <= value <= LATEST_S:
        raise ValueError(f"{text[:20]} is no time from 0 to {LATEST_S:g} s")
    return value
