"""BonnMotion's native format (its manual, "Native format") has a line for each node, of way-points `t x y`.

The node is at (x, y) metres at t seconds, and goes straight to its next way-point. A pause is the same place twice.
"""

from __future__ import annotations

from collections.abc import Iterator

from roambus.bridge.movement.extent import Extent, time_s
from roambus.bridge.scenario.mobility import WayPoint
from roambus.python_protocol.roles import NodeId


class BonnMotion:
    """Takes the lines of a trace, of which the n-th is that of node n."""

    def __init__(self, extent: Extent) -> None:
        self._extent = extent
        self._ways: list[tuple[WayPoint, ...]] = []
        self._gap = False

    def take(self, line: str) -> None:
        """Takes the next line; raises ValueError."""
        if not line:
            self._gap = True
            return
        if self._gap:
            raise ValueError("an empty line comes before it, but each line is a node's")
        self._extent.node(str(len(self._ways)))
        self._ways.append(tuple(self._way(line.split())))

    def ways(self) -> dict[NodeId, tuple[WayPoint, ...]]:
        """The way of each node."""
        return dict(enumerate(self._ways))

    def _way(self, words: list[str]) -> Iterator[WayPoint]:
        if len(words) % 3:
            raise ValueError(f"{len(words)} numbers are no way-points of time, x and y (three dimensions are not read)")
        last: WayPoint | None = None
        for at, x, y in zip(words[::3], words[1::3], words[2::3], strict=True):
            point = WayPoint(time_s(at), *self._extent.place(x, y))
            if last is None:
                yield point._replace(time_s=0.0)  # it has been there since the start
            elif point.time_s < last.time_s or (point.time_s == last.time_s and point != last):
                raise ValueError(
                    f"at {at} s it would be at ({x}, {y}), but at {last.time_s:g} s at ({last.x:g}, {last.y:g})"
                )
            if point.time_s > (last.time_s if last else 0.0):
                yield point
            last = point
