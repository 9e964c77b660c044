"""The nodes of a scenario, their movement, and the graph: links and nodes that are up.

SN.deployment gives start places: "uniform", "center", "5x5", or "[0]->center;[1..9]->3x3"; a node's first part counts.
Others start at their own coordinates or their movement file's. Moving nodes require `onlyStaticNodes = false`: the
channel would draw path loss for node pairs instead of places.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

from roambus.bridge.formats.contacts import read_contacts
from roambus.bridge.formats.format import Extent, Ways
from roambus.bridge.formats.ini.lookup import Lookup
from roambus.bridge.formats.ini.radio import RadioReader
from roambus.bridge.formats.movement import read_movement
from roambus.bridge.formats.recordings import choose, read_k7
from roambus.bridge.formats.temporal_model import TemporalModel, read_temporal_model
from roambus.bridge.keys import matched, path_of
from roambus.bridge.mobility.given_way import MOVEMENT_FILE, GivenWay
from roambus.bridge.mobility.model import Mobility, WayPoint
from roambus.bridge.mobility.registry import MANAGER, MODELS
from roambus.bridge.mobility.static import Static
from roambus.bridge.scenario.definition import NetworkSettings, RunSettings
from roambus.bridge.scenario.ideal import COMPLETE, CONTACTS_FILE, LINKS_FILE, IdealLinks, MeasuredLinks
from roambus.bridge.scenario.nodes import FAULTS, ApplicationSettings, NodeSettings, X, Y
from roambus.bridge.scenario.plans import Fault, ParentChange
from roambus.bridge.scenario.radio import TEMPORAL_FILE, ChannelSettings
from roambus.bridge.scenario.tree import Absence, AbsenceError, check_sequence, check_tree, with_absences
from roambus.bridge.system.limits import IDEAL_LINKS
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import Setting, settings_of

Place = tuple[float, float] | None
"""A position in metres; None is uniform in the field."""

_PART = re.compile(r"(?:\[(?P<first>\d+)(?:\.\.(?P<last>\d+))?\]->)?(?P<how>uniform|center|\d+x\d+)")
_ONLY_STATIC = settings_of(ChannelSettings)["only_static_nodes"]


class NodeReader:
    """Reads nodes one by one; every method raises UserError."""

    def __init__(self, keys: Lookup, radio: RadioReader) -> None:
        self._keys = keys
        self._radio = radio
        self._field_m = keys.network.field_x_m, keys.network.field_y_m
        self._ways: dict[Path, Ways] = {}

    def node(self, node: NodeId) -> NodeSettings:
        """One node's settings in the ini."""
        mobility = self._mobility(node)
        if isinstance(mobility, GivenWay):
            position: Place = mobility.points[0][1:]
        else:
            position = self.places[node] if node in self.places else self.point(X, Y, node)
        power = self._radio.tx_power_dbm(node)
        return self._keys.build(NodeSettings, node, position=position, mobility=mobility, tx_power_dbm=power)

    @cached_property
    def places(self) -> dict[NodeId, Place]:
        """The places that SN.deployment gives."""
        with self._keys.mistakes_of(path_of(NetworkSettings, "deployment")):
            return place_nodes(self._keys.network.deployment, len(self._keys.nodes), self._field_m)

    def build(self, settings: type[Any], node: NodeId, **others: Any) -> Any:
        """Settings with the node's values of their keys."""
        return self._keys.build(settings, node, **others)

    def refuse(self, wrong: object, key: Setting, problem: str, node: NodeId) -> None:
        """Report a problem of the node's key if it is wrong."""
        self._keys.refuse(wrong, key.name, problem, node)

    def point(self, x: Setting, y: Setting, node: NodeId) -> tuple[float, float]:
        """The node's values of two keys, which must lie in the field."""
        for key, limit in zip((x, y), self._field_m, strict=True):
            outside = not 0 <= self._keys.value(key, node) <= limit
            self.refuse(outside, key, f"node {node} is out of the field, 0 to {limit:g} m", node)
        return self._keys.value(x, node), self._keys.value(y, node)

    def way(self, node: NodeId) -> tuple[WayPoint, ...]:
        """A node's way in its movement file, which is read once; raises OSError, too."""
        path = self._keys.file(MOVEMENT_FILE, node)
        if path not in self._ways:
            lasting = self._keys.build(RunSettings).time_limit
            self._ways[path] = read_movement(path, Extent(len(self._keys.nodes), self._field_m, lasting))
        ways = self._ways[path]
        self.refuse(node not in ways, MOVEMENT_FILE, f"node {node} does not move in {path}", node)
        return ways[node]

    def _mobility(self, node: NodeId) -> Mobility:
        model = MODELS[self._keys.value(MANAGER, node)]
        is_refused = model is not Static and self._keys.value(_ONLY_STATIC)
        self.refuse(is_refused, MANAGER, f"node {node} moves: set {_ONLY_STATIC.name} = false", node)
        return model.read(self, node)


def movement_file_names(keys: Lookup) -> list[str]:
    """The ini's movement files, in node order; raises UserError."""
    given = (node for node in keys.nodes if MODELS[keys.value(MANAGER, node)] is GivenWay)
    return list(dict.fromkeys(keys.value(MOVEMENT_FILE, node) for node in given))


def place_nodes(text: str, nodes: int, field_m: tuple[float, float]) -> dict[NodeId, Place]:
    """The places of nodes in `text`; the first part for a node counts. Raises ValueError."""
    places: dict[NodeId, Place] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        match = matched(_PART, part, 'deployment such as uniform, center, 5x5, "[0]->center;[1..9]->3x3"')
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
    """Fill a grid row by row, and again from its start."""
    width, height = field_m
    if how in ("uniform", "center"):
        return None if how == "uniform" else (width / 2, height / 2)
    columns, rows = map(int, how.split("x"))
    if columns < 2 or rows < 2:
        raise ValueError(f"the grid {how} needs at least two nodes each way")
    return index % columns * width / (columns - 1), index // columns % rows * height / (rows - 1)


# The graph

_TREE = path_of(NetworkSettings, "tree")
_ABSENCES = path_of(ApplicationSettings, "absences")
_DEPARTURE = settings_of(NetworkSettings)["departure"]
_LINKS, _CHANGES, _DELAYS, _PARTITIONS, _RANGE = (
    path_of(IdealLinks, name) for name in ("links", "changes", "delays", "partitions", "range_m")
)
_ONE_OF_TWO = "leave one of the two out"


def read_tree(keys: Lookup, nodes: Sequence[NodeSettings], absences: Sequence[Absence]) -> tuple[ParentChange, ...]:
    """The tree of SN.tree, with clients' departures and returns; raises UserError.

    Absences change the tree, so the check covers both.
    """
    tree, roles = keys.network.tree, [node.roles for node in nodes]
    _check_nodes(keys, _TREE, (node for entry in tree for node in (entry.node, entry.parent) if node is not None))
    with keys.mistakes_of(_TREE):
        check_tree(tree, roles)
    try:
        # Of several contradictions the one of the first node is told, wherever the ini says it.
        return with_absences(tree, sorted(absences, key=lambda absence: absence.node), roles, keys.value(_DEPARTURE))
    except AbsenceError as error:
        raise keys.error(_ABSENCES, str(error), error.node) from None


def read_faults(keys: Lookup) -> tuple[Fault, ...]:
    """All nodes' faults in the order of time; raises UserError."""
    found: list[Fault] = []
    for node in keys.nodes:
        own = [Fault(at, node, kind) for at, kind in keys.value(FAULTS, node)]
        with keys.mistakes_of(FAULTS.name, node):
            check_sequence(own)
        found += own
    return tuple(sorted(found, key=lambda fault: fault.at))


def read_ideal(keys: Lookup) -> IdealLinks:
    """The links of SN.ideal.*; raises UserError."""
    ideal = keys.build(IdealLinks)
    if keys.value(COMPLETE):
        others = ideal.links or keys.network.tree
        keys.refuse(others, COMPLETE.name, f"other links are given too: {_ONE_OF_TWO}")
        with keys.mistakes_of(COMPLETE.name):
            IDEAL_LINKS.check(math.comb(len(keys.nodes), 2))
        ideal = replace(ideal, links=tuple(combinations(keys.nodes, 2)))
    if keys.value(CONTACTS_FILE):
        keys.refuse(ideal.links or ideal.changes, CONTACTS_FILE.name, f"links are given too: {_ONE_OF_TWO}")
        field = keys.network.field_x_m, keys.network.field_y_m
        extent = Extent(len(keys.nodes), field, keys.build(RunSettings).time_limit)
        found = read_contacts(keys.file(CONTACTS_FILE), extent)
        ideal = replace(ideal, changes=found.changes, passing=found.passing)
    _check_nodes(keys, _LINKS, (node for link in ideal.links for node in link))
    _check_nodes(keys, _CHANGES, (node for change in ideal.changes for node in (change.a, change.b)))
    _check_nodes(keys, _DELAYS, (node for delay in ideal.delays for node in (delay.a, delay.b)))
    _check_nodes(keys, "SN.ideal.losses", (node for loss in ideal.losses for node in (loss.sender, loss.receiver)))
    members = (node for partition in ideal.partitions for group in partition.groups for node in group)
    _check_nodes(keys, _PARTITIONS, members)
    _check_kind(keys, ideal)
    _check_links(keys, ideal)
    return ideal


def _check_links(keys: Lookup, ideal: IdealLinks) -> None:
    """Raise UserError for a delay or a loss of a link that a given graph never has."""
    known = {*map(frozenset, ideal.links), *(frozenset((change.a, change.b)) for change in ideal.changes)}
    delays = ((_DELAYS, delay.a, delay.b) for delay in ideal.delays)
    for path, a, b in (*delays, *(("SN.ideal.losses", loss.sender, loss.receiver) for loss in ideal.losses)):
        keys.refuse(known and frozenset((a, b)) not in known, path, f"there is no link between {a} and {b}")


def _check_nodes(keys: Lookup, path: str, nodes: Iterable[NodeId]) -> None:
    for node in nodes:
        if node not in keys.nodes:
            raise keys.error(path, f"there is no node {node}; they are 0 to {keys.nodes[-1]}")


def _check_kind(keys: Lookup, ideal: IdealLinks) -> None:
    """Raise UserError unless one source defines the graph.

    Tree edges change by the tree's plan only.
    """
    tree = keys.network.tree
    keys.refuse(tree and ideal.partitions, _PARTITIONS, f"with {_TREE} write the changes of the tree there")
    for path, given in ((_LINKS, ideal.links), (_CHANGES, ideal.changes), (_RANGE, ideal.range_m)):
        keys.refuse(tree and given, path, f"the edges of {_TREE} are the links: {_ONE_OF_TWO}")
    both = ideal.range_m and (ideal.links or ideal.changes)
    keys.refuse(both, _RANGE, f"the links are given, so there is no range: {_ONE_OF_TWO}")


def read_measured(keys: Lookup, nodes: Sequence[NodeSettings]) -> MeasuredLinks | None:
    """The measured links of the ini's file, if any; raises UserError, OSError."""
    if not keys.value(LINKS_FILE):
        return None
    path = keys.file(LINKS_FILE)
    links: MeasuredLinks = keys.build(MeasuredLinks, recording=read_k7(path))
    _check_recorded(keys, links.recording.power_dbm, nodes)
    try:
        choose(links.recording, links.channel, len(nodes))
    except ValueError as error:
        raise keys.error(path_of(MeasuredLinks, "channel"), f"{path}: {error}") from None
    lasting = links.recording.lasting
    keys.refuse(links.start > lasting, path_of(MeasuredLinks, "start"), f"{path} ends after {lasting / 1e9:g} s")
    return links


def read_temporal(keys: Lookup, measured: MeasuredLinks | None) -> TemporalModel | None:
    """The temporal model of the ini's file, if any; raises UserError, OSError."""
    if not keys.value(TEMPORAL_FILE):
        return None
    problem = f"{LINKS_FILE.name} says how links change in time: {_ONE_OF_TWO}"
    keys.refuse(measured, TEMPORAL_FILE.name, problem)
    return read_temporal_model(keys.file(TEMPORAL_FILE))


def _check_recorded(keys: Lookup, power_dbm: float, nodes: Sequence[NodeSettings]) -> None:
    """Raise UserError for a node that moves, or sends with another power than the recording's."""
    for node, settings in enumerate(nodes):
        moves = f"node {node} moves, and recorded nodes are static: let nothing move"
        keys.refuse(not isinstance(settings.mobility, Static), LINKS_FILE.name, moves)
        own = settings.tx_power_dbm
        louder = f"node {node} sends with {own:g} dBm, and {power_dbm:g} dBm were recorded"
        keys.refuse(own != power_dbm, LINKS_FILE.name, louder)
