"""Reads the ways of the nodes whose MobilityManager.file names a movement file; each file is read once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from roambus.bridge.ini.lookup import Lookup
from roambus.bridge.movement import Extent, Ways, read_movement
from roambus.bridge.scenario.mobility import MANAGER, MANAGERS, MOVEMENT_FILE, GivenWay
from roambus.bridge.scenario.network import RunSettings
from roambus.python_protocol.roles import NodeId


def movement_file_names(keys: Lookup) -> list[str]:
    """The movement files that the ini names, in the order of the nodes; raises UserError."""
    given = [node for node in keys.nodes if MANAGERS[keys.value(MANAGER, node)] is GivenWay]
    return list(dict.fromkeys(keys.value(MOVEMENT_FILE, node) for node in given))


class Movements:
    """The ways of a scenario's nodes; `places` says where files lie that do not lie in `folder`."""

    def __init__(self, keys: Lookup, folder: Path, places: Mapping[str, Path]) -> None:
        self._keys = keys
        self._folder = folder
        self._places = places
        self._read: dict[str, Ways] = {}

    def way(self, node: NodeId) -> GivenWay:
        """The way of a node; raises UserError if there is none, or OSError."""
        name: str = self._keys.value(MOVEMENT_FILE, node)
        path = self._places.get(name, self._folder / name)
        if name not in self._read:
            self._read[name] = self._ways(node, path)
        if node not in self._read[name]:
            raise self._keys.error(MOVEMENT_FILE.path, f"node {node} does not move in {path}", node)
        return self._keys.build(GivenWay, node, points=self._read[name][node])

    def _ways(self, node: NodeId, path: Path) -> Ways:
        if not path.is_file():
            raise self._keys.error(MOVEMENT_FILE.path, f"there is no file {path}", node)
        field_m = self._keys.network.field_x_m, self._keys.network.field_y_m
        return read_movement(path, Extent(len(self._keys.nodes), field_m, self._keys.build(RunSettings).time_limit))
