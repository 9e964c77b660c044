"""The nodes of a scenario: where each starts, how it moves, and what it is."""

from __future__ import annotations

from functools import cached_property

from roambus.bridge.ini.deployment import Place, place_nodes
from roambus.bridge.ini.lookup import Lookup
from roambus.bridge.ini.movements import Movements
from roambus.bridge.ini.radio import RadioReader
from roambus.bridge.keys.key import Key, declared_keys, path_of
from roambus.bridge.scenario.channel import ChannelSettings
from roambus.bridge.scenario.mobility import (
    DRAWN,
    MANAGER,
    MANAGERS,
    GivenWay,
    Line,
    Mobility,
    RandomWaypoint,
    Static,
)
from roambus.bridge.scenario.network import NetworkSettings
from roambus.bridge.scenario.node import NodeSettings, X, Y
from roambus.python_protocol.roles import NodeId

_ONLY_STATIC = declared_keys(ChannelSettings)["only_static_nodes"]
_LINE, _WAYPOINT = declared_keys(Line), declared_keys(RandomWaypoint)


class NodeReader:
    """Reads the nodes, one by one. Every method raises UserError."""

    def __init__(self, keys: Lookup, radio: RadioReader, movements: Movements) -> None:
        self._keys = keys
        self._radio = radio
        self._movements = movements

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
        field_m = self._keys.network.field_x_m, self._keys.network.field_y_m
        try:
            return place_nodes(self._keys.network.deployment, len(self._keys.nodes), field_m)
        except ValueError as error:
            raise self._keys.error(path_of(NetworkSettings, "deployment"), str(error)) from None

    def _position(self, node: NodeId) -> Place:
        if node in self._places:
            return self._places[node]
        return self._coordinate(X, node, self._keys.network.field_x_m), self._coordinate(
            Y, node, self._keys.network.field_y_m
        )

    def _coordinate(self, key: Key, node: NodeId, limit: float) -> float:
        value: float = self._keys.value(key, node)
        if not 0 <= value <= limit:
            raise self._keys.error(key.path, f"node {node} is out of the field, 0 to {limit:g} m", node)
        return value

    def _mobility(self, node: NodeId) -> Mobility:
        mobility = MANAGERS[self._keys.value(MANAGER, node)]
        if mobility is Static:
            return Static()
        if self._keys.value(_ONLY_STATIC):
            problem = f"node {node} moves: set {_ONLY_STATIC.path} = false"
            raise self._keys.error(MANAGER.path, problem, node)
        if mobility is GivenWay:
            return self._movements.way(node)
        if mobility is Line:
            self._coordinate(_LINE["x"], node, self._keys.network.field_x_m)
            self._coordinate(_LINE["y"], node, self._keys.network.field_y_m)
        moving: Mobility = self._keys.build(mobility, node)
        if isinstance(moving, RandomWaypoint):
            self._check_first(moving, node)
        return moving

    def _check_first(self, moving: RandomWaypoint, node: NodeId) -> None:
        """Raises UserError unless the first destination is drawn, or a place in the field."""
        if DRAWN in (moving.first_x, moving.first_y):
            if moving.first_x != moving.first_y:
                raise self._keys.error(_WAYPOINT["first_x"].path, f"node {node}: give firstX and firstY, or none", node)
            return
        self._coordinate(_WAYPOINT["first_x"], node, self._keys.network.field_x_m)
        self._coordinate(_WAYPOINT["first_y"], node, self._keys.network.field_y_m)
