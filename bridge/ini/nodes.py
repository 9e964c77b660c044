"""The nodes of a scenario: where each starts, how it moves, and what it is.

SN.deployment says where nodes start: "uniform", "center", "5x5", or "[0]->center;[1..9]->3x3". A node that it does not
name starts at its own coordinates, and one that goes by a movement file where its way begins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from roambus.bridge.ini.lookup import Lookup
from roambus.bridge.ini.radio import RadioReader
from roambus.bridge.keys import path_of
from roambus.bridge.movement import Extent, Ways, read_movement
from roambus.bridge.scenario.channel import ChannelSettings
from roambus.bridge.scenario.mobility import (
    DRAWN,
    MANAGER,
    MANAGERS,
    MOVEMENT_FILE,
    GivenWay,
    Line,
    Mobility,
    RandomWaypoint,
    Static,
)
from roambus.bridge.scenario.network import NetworkSettings, RunSettings
from roambus.bridge.scenario.node import NodeSettings, X, Y
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import Setting, settings_of

Place = tuple[float, float] | None
"""A position in metres; None means that it is drawn uniformly in the field."""

_PART = re.compile(r"(?:\[(?P<first>\d+)(?:\.\.(?P<last>\d+))?\]->)?(?P<how>uniform|center|\d+x\d+)")
_ONLY_STATIC = settings_of(ChannelSettings)["only_static_nodes"]
_LINE, _WAYPOINT = settings_of(Line), settings_of(RandomWaypoint)


class NodeReader:
    """Reads the nodes, one by one. Every method raises UserError."""

    def __init__(self, keys: Lookup, radio: RadioReader) -> None:
        self._keys = keys
        self._radio = radio
        self._field_m = keys.network.field_x_m, keys.network.field_y_m
        self._ways: dict[Path, Ways] = {}

    def node(self, node: NodeId) -> NodeSettings:
        """What the ini says of one node."""
        mobility = self._mobility(node)
        return self._keys.build(
            NodeSettings,
            node,
            position=mobility.points[0][1:] if isinstance(mobility, GivenWay) else self._position(node),
            mobility=mobility,
            tx_power_dbm=self._radio.tx_power_dbm(node),
        )

    @cached_property
    def _places(self) -> dict[NodeId, Place]:
        with self._keys.told(path_of(NetworkSettings, "deployment")):
            return place_nodes(self._keys.network.deployment, len(self._keys.nodes), self._field_m)

    def _position(self, node: NodeId) -> Place:
        if node in self._places:
            return self._places[node]
        return self._point(X, Y, node)

    def _point(self, x: Setting, y: Setting, node: NodeId) -> tuple[float, float]:
        """A point in the field, of these two keys."""
        for key, limit in zip((x, y), self._field_m, strict=True):
            if not 0 <= self._keys.value(key, node) <= limit:
                raise self._keys.error(key.name, f"node {node} is out of the field, 0 to {limit:g} m", node)
        return self._keys.value(x, node), self._keys.value(y, node)

    def _mobility(self, node: NodeId) -> Mobility:
        mobility = MANAGERS[self._keys.value(MANAGER, node)]
        if mobility is Static:
            return Static()
        if self._keys.value(_ONLY_STATIC):
            problem = f"node {node} moves: set {_ONLY_STATIC.name} = false"
            raise self._keys.error(MANAGER.name, problem, node)
        if mobility is GivenWay:
            return self._way(node)
        if mobility is Line:
            self._point(_LINE["x"], _LINE["y"], node)
        moving: Mobility = self._keys.build(mobility, node)
        if isinstance(moving, RandomWaypoint):
            self._check_first(moving, node)
        return moving

    def _check_first(self, moving: RandomWaypoint, node: NodeId) -> None:
        """Raises UserError unless the first destination is drawn, or a place in the field."""
        if DRAWN in (moving.first_x, moving.first_y):
            if moving.first_x != moving.first_y:
                raise self._keys.error(_WAYPOINT["first_x"].name, f"node {node}: give firstX and firstY, or none", node)
            return
        self._point(_WAYPOINT["first_x"], _WAYPOINT["first_y"], node)

    def _way(self, node: NodeId) -> GivenWay:
        """The way of a node in its movement file, each of which is read once; raises OSError, too."""
        path = self._keys.file(MOVEMENT_FILE, node)
        if path not in self._ways:
            lasting = self._keys.build(RunSettings).time_limit
            self._ways[path] = read_movement(path, Extent(len(self._keys.nodes), self._field_m, lasting))
        if node not in self._ways[path]:
            raise self._keys.error(MOVEMENT_FILE.name, f"node {node} does not move in {path}", node)
        return self._keys.build(GivenWay, node, points=self._ways[path][node])


def movement_file_names(keys: Lookup) -> list[str]:
    """The movement files that the ini names, in the order of the nodes; raises UserError."""
    given = [node for node in keys.nodes if MANAGERS[keys.value(MANAGER, node)] is GivenWay]
    return list(dict.fromkeys(keys.value(MOVEMENT_FILE, node) for node in given))


def place_nodes(text: str, nodes: int, field_m: tuple[float, float]) -> dict[NodeId, Place]:
    """The places of the nodes that `text` names; of several parts for one node the first counts. Raises ValueError."""
    places: dict[NodeId, Place] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f'{part!r} is no deployment such as uniform, center, 5x5, "[0]->center;[1..9]->3x3"')
        members = _members(match, nodes)
        for node in members:
            places.setdefault(node, _place(match["how"], node - members[0], field_m))
    return places


def _members(match: re.Match[str], nodes: int) -> Sequence[NodeId]:
    if match["first"] is None:
        return range(nodes)
    first = int(match["first"])
    last = int(match["last"] or first)
    if not first <= last < nodes:
        raise ValueError(f"{match[0]!r} is out of the {nodes} nodes")
    return range(first, last + 1)


def _place(how: str, index: int, field_m: tuple[float, float]) -> Place:
    width, height = field_m
    if how == "uniform":
        return None
    if how == "center":
        return width / 2, height / 2
    columns, rows = map(int, how.split("x"))
    if columns < 2 or rows < 2:
        raise ValueError(f"the grid {how} needs at least two nodes each way")
    return index % columns * width / (columns - 1), index // columns % rows * height / (rows - 1)
