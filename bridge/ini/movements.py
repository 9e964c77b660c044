"""SN.node[*].MobilityManager.file: the ways of nodes from movement files, each file read once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from roambus.bridge.ini.keys import MOVEMENT_FILE, MOVEMENT_FILE_MANAGER
from roambus.bridge.ini.lookup import Lookup
from roambus.bridge.movement import Extent, Ways, read_movement
from roambus.bridge.scenario.scenario import GivenWay
from roambus.python_protocol.roles import NodeId


def movement_file_names(keys: Lookup) -> list[str]:
    """The movement files that the ini names, in the order of the nodes; raises UserError."""
    return list(dict.fromkeys(keys.node(node, MOVEMENT_FILE) for node in keys.nodes if is_given(keys, node)))


def is_given(keys: Lookup, node: NodeId) -> bool:
    """Whether the node's way is in a file; raises UserError."""
    return bool(keys.node(node, "MobilityManagerName") == MOVEMENT_FILE_MANAGER)


class Movements:
    """The ways of a scenario's nodes; `places` says where files lie that do not lie in `folder`."""

    def __init__(self, keys: Lookup, folder: Path, places: Mapping[str, Path]) -> None:
        self._keys = keys
        self._folder = folder
        self._places = places
        self._read: dict[str, Ways] = {}

    def way(self, node: NodeId) -> GivenWay:
        """The way of a node; raises UserError if there is none, OSError."""
        name: str = self._keys.node(node, MOVEMENT_FILE)
        path = self._places.get(name, self._folder / name)
        if name not in self._read:
            self._read[name] = self._ways(node, path)
        if node not in self._read[name]:
            raise self._keys.error(f"SN.node[{node}].{MOVEMENT_FILE}", f"node {node} does not move in {path}")
        return GivenWay(self._read[name][node], self._keys.node(node, "MobilityManager.updateInterval"))

    def _ways(self, node: NodeId, path: Path) -> Ways:
        if not path.is_file():
            raise self._keys.error(f"SN.node[{node}].{MOVEMENT_FILE}", f"there is no file {path}")
        field_m = self._keys.network("field_x"), self._keys.network("field_y")
        return read_movement(path, Extent(len(self._keys.nodes), field_m, self._keys.option("sim-time-limit")))
