"""Plane geometry for GPSR (Karp and Kung 2000, sections 2.2 and 2.3): planar graphs, angles, crossings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import atan2, dist, tau
from typing import TypeVar

Place = tuple[float, float]
"""(x, y) in metres."""
Key = TypeVar("Key", bound=int)


def gabriel(here: Place, there: Place, witness: Place) -> bool:
    """Whether a witness is within the circle of which the edge is a diameter."""
    middle = (here[0] + there[0]) / 2, (here[1] + there[1]) / 2
    return dist(middle, witness) < dist(middle, here)


def relative_neighborhood(here: Place, there: Place, witness: Place) -> bool:
    """Whether a witness is nearer to both ends than these are to each other."""
    return dist(here, there) > max(dist(here, witness), dist(there, witness))


PLANARIZATIONS: dict[str, Callable[[Place, Place, Place], bool]] = {"rng": relative_neighborhood, "gg": gabriel}
"""The rules by which a witness removes an edge."""


def planarize(here: Place, neighbors: Mapping[Key, Place], rule: str) -> dict[Key, Place]:
    """Return the neighbours whose edge no other neighbour removes."""
    removes = PLANARIZATIONS[rule]
    return {
        neighbor: place
        for neighbor, place in neighbors.items()
        if not any(other != neighbor and removes(here, place, witness) for other, witness in neighbors.items())
    }


def counterclockwise(here: Place, start: Place, neighbors: Mapping[Key, Place]) -> Key | None:
    """Return the neighbour whose edge is the next counterclockwise from the direction of `start`."""

    def turn(neighbor: Key) -> tuple[float, int]:
        angle = (_angle(here, neighbors[neighbor]) - _angle(here, start)) % tau
        return angle or tau, neighbor  # an edge back is the last

    return min(neighbors, key=turn, default=None)


def _angle(here: Place, there: Place) -> float:
    return atan2(there[1] - here[1], there[0] - here[0])


def crossing(a: Place, b: Place, c: Place, d: Place) -> Place | None:
    """Return the point in which the line from a to b crosses that from c to d; None without one."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = a, b, c, d
    scale = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
    if scale == 0:
        return None
    first = ((cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)) / scale
    second = ((cx - ax) * (by - ay) - (cy - ay) * (bx - ax)) / scale
    if not (0 <= first <= 1 and 0 <= second <= 1):
        return None
    return ax + first * (bx - ax), ay + first * (by - ay)
