"""A field, on which nodes have places, are linked while they are in range, and walk where they are told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import dist
from typing import NamedTuple

from roambus.bridge.scenario.mobility import GivenWay, WayPoint
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime

_PLACE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?),(\d{1,6}(?:\.\d{1,3})?)")
_MEASURE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)(m|m/s)")


class Place(NamedTuple):
    """A place in metres."""

    x: float
    y: float


def parse_place(text: str) -> Place:
    """Reads a place such as 20,7.5; raises ValueError."""
    match = _PLACE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no place such as 20,7.5 (metres)")
    return Place(float(match[1]), float(match[2]))


def parse_measure(text: str, unit: str) -> float:
    """Reads a measure above 0, such as 30m or 1.5m/s; raises ValueError."""
    match = _MEASURE.fullmatch(text)
    if match is None or match[2] != unit or float(match[1]) == 0:
        raise ValueError(f"{text!r} is no measure such as 30{unit}")
    return float(match[1])


class Ways:
    """The ways of all nodes, which grow: straight from place to place, at one speed."""

    def __init__(self, places: Mapping[NodeId, Place], speed_mps: float) -> None:
        """Puts every node at its place at time 0."""
        self._speed_mps = speed_mps
        self._points = {node: [WayPoint(0.0, *place)] for node, place in places.items()}

    def walk(self, node: NodeId, place: Place, now: SimTime) -> SimTime:
        """Has a node go to a place from `now` on, and no farther on its way before; returns how long that takes."""
        begin = now / SECOND
        here = self.place(node, begin)
        lasts = dist(here, place) / self._speed_mps
        before = [point for point in self._points[node] if point.time_s < begin]
        arrival = [WayPoint(begin + lasts, *place)] if lasts else []
        self._points[node] = [*before, WayPoint(begin, *here), *arrival]
        return round(lasts * SECOND)

    def place(self, node: NodeId, at_s: float) -> Place:
        """Where a node is at a time (s)."""
        points = self._points[node]
        behind = [point for point in points if point.time_s <= at_s][-1]
        ahead = next((point for point in points if point.time_s > at_s), behind)
        share = (at_s - behind.time_s) / (ahead.time_s - behind.time_s) if ahead is not behind else 0.0
        return Place(behind.x + share * (ahead.x - behind.x), behind.y + share * (ahead.y - behind.y))

    def field_m(self, margin_m: float) -> tuple[float, float]:
        """Width and height of a field that has all ways on it, with a margin behind the farthest."""
        points = [point for way in self._points.values() for point in way]
        return max(point.x for point in points) + margin_m, max(point.y for point in points) + margin_m

    def way(self, node: NodeId) -> GivenWay:
        """The way of a node, as a scenario has it."""
        return GivenWay(tuple(self._points[node]))
