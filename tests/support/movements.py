"""Movement as text in both formats, for the tests that read it back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import strategies as st

from roambus.bridge.formats.format import Extent
from roambus.bridge.mobility.model import WayPoint
from roambus.python_protocol.simtime import SECOND

SIDE = 100.0
EXTENT = Extent(nodes=4, field_m=(SIDE, SIDE), time_limit=10 * SECOND)

Way = Sequence[WayPoint]

_places = st.floats(0, SIDE).map(lambda metres: round(metres, 3))
_gaps = st.floats(0.001, 1000).map(lambda seconds: round(seconds, 3))


@st.composite
def ways(draw: st.DrawFn) -> Way:
    """The way of a node: up to eight way-points, now and then a rest."""
    points = [WayPoint(0.0, draw(_places), draw(_places))]
    for rests in draw(st.lists(st.booleans(), max_size=7)):
        time_s = round(points[-1].time_s + draw(_gaps), 3)
        place = points[-1][1:] if rests else (draw(_places), draw(_places))
        points.append(WayPoint(time_s, *place))
    return points


def as_bonnmotion(nodes: Sequence[Way]) -> str:
    """BonnMotion's native format."""
    return "".join(" ".join(f"{number!r}" for point in way for number in point) + "\n" for way in nodes)


def as_setdest(nodes: Sequence[Way]) -> str:
    """The format of ns-2: where the nodes start, then when they go, where to and how fast."""
    lines = [f"# nodes: {len(nodes)}, pause: 0.00"]
    for node, way in enumerate(nodes):
        lines += [
            f"$node_({node}) set {axis}_ {value!r}" for axis, value in zip("XYZ", (*way[0][1:], 0.0), strict=True)
        ]
    for node, way in enumerate(nodes):
        for before, after in pairwise(way):
            speed = math.hypot(after.x - before.x, after.y - before.y) / (after.time_s - before.time_s)
            if speed > 0:
                lines.append(f'$ns_ at {before.time_s!r} "$node_({node}) setdest {after.x!r} {after.y!r} {speed!r}"')
        lines.append("$god_ set-dist 0 1 16777215")
    return "\n".join(lines) + "\n"
