"""Ways of a package's mobility model, of which each point is checked: a wrong one would silently be another place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from roambus.bridge.mobility.model import UPDATE, Mobility, WayPoint
from roambus.bridge.system.code import errors_of, is_ours
from roambus.bridge.system.errors import UserError


def onward(
    mobility: Mobility, start: WayPoint, field_m: tuple[float, float], random: np.random.Generator
) -> Iterator[WayPoint]:
    """Return the way-points of any model; those of a package's raise UserError if no node can go there."""
    points = mobility.onward(start, field_m, random)
    return points if is_ours(type(mobility).__module__) else _checked(mobility, points, start, field_m)


def _checked(
    mobility: Mobility, points: Iterator[WayPoint], last: WayPoint, field_m: tuple[float, float]
) -> Iterator[WayPoint]:
    model = f"the mobility model {type(mobility).__module__}.{type(mobility).__name__}"
    with errors_of(type(mobility).__module__, model):
        for at_s, x, y in points:
            point = WayPoint(float(at_s), float(x), float(y))
            _check(model, point, last, field_m)
            if mobility.update_interval <= 0:
                raise UserError(f"{model} has no update_interval above 0 ({UPDATE}), but its nodes move")
            yield point
            last = point


def _check(model: str, point: WayPoint, last: WayPoint, field_m: tuple[float, float]) -> None:
    if not point.time_s > last.time_s:
        raise UserError(f"{model}: its way-point at {point.time_s:g} s does not come after that at {last.time_s:g} s")
    if not (0 <= point.x <= field_m[0] and 0 <= point.y <= field_m[1]):
        size = f"{field_m[0]:g} x {field_m[1]:g} m"
        raise UserError(f"{model}: at {point.time_s:g} s it is at ({point.x:g}, {point.y:g}), out of the field, {size}")
