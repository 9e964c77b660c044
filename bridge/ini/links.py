"""Who is linked to whom, and who is up: given tree, sites, ideal links, faults, and links that were measured or vary.

Each part is checked for itself and with the others, for only one thing can say what the graph is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from roambus.bridge.ini.lookup import Lookup
from roambus.bridge.k7.choice import choose
from roambus.bridge.k7.reader import read_k7
from roambus.bridge.keys import path_of
from roambus.bridge.scenario.absences import Absence, AbsenceError, with_absences
from roambus.bridge.scenario.application import ApplicationSettings
from roambus.bridge.scenario.channel import TEMPORAL_FILE
from roambus.bridge.scenario.faults import check_sequence
from roambus.bridge.scenario.given_sites import check_roles
from roambus.bridge.scenario.given_tree import check_tree
from roambus.bridge.scenario.happenings import Fault, ParentChange
from roambus.bridge.scenario.ideal import COMPLETE, IdealLinks
from roambus.bridge.scenario.measured import LINKS_FILE, MeasuredLinks
from roambus.bridge.scenario.mobility import Static
from roambus.bridge.scenario.network import NetworkSettings
from roambus.bridge.scenario.node import FAULTS, NodeSettings
from roambus.bridge.temporal.model import TemporalModel
from roambus.bridge.temporal.reader import read_temporal_model
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import settings_of
from roambus.python_protocol.sites import Sites

_TREE, _SITES = path_of(NetworkSettings, "tree"), path_of(NetworkSettings, "sites")
_ABSENCES = path_of(ApplicationSettings, "absences")
_DEPARTURE = settings_of(NetworkSettings)["departure"]
_LINKS, _CHANGES, _DELAYS, _PARTITIONS, _RANGE = (
    path_of(IdealLinks, name) for name in ("links", "changes", "delays", "partitions", "range_m")
)
_BY_KIND = {_LINKS: "links", _CHANGES: "changes", _RANGE: "range_m"}
_BESIDE_SITES = (_LINKS, _RANGE)


def read_tree(keys: Lookup, nodes: Sequence[NodeSettings], absences: Sequence[Absence]) -> tuple[ParentChange, ...]:
    """The tree of SN.tree, which clients leave and come back to; raises UserError."""
    tree = _read_tree(keys, nodes)
    in_order = sorted(absences, key=lambda one: one.node)
    try:
        return with_absences(tree, in_order, [node.roles for node in nodes], keys.value(_DEPARTURE))
    except AbsenceError as error:
        raise keys.error(_ABSENCES, str(error), error.node) from None


def _read_tree(keys: Lookup, nodes: Sequence[NodeSettings]) -> tuple[ParentChange, ...]:
    tree = keys.network.tree
    _check_nodes(keys, _TREE, (node for one in tree for node in (one.node, one.parent) if node is not None))
    with keys.told(_TREE):
        check_tree(tree, [node.roles for node in nodes])
    return tree


def read_sites(keys: Lookup, nodes: Sequence[NodeSettings]) -> Sites | None:
    """The sites of SN.sites, if there are any; raises UserError."""
    sites = keys.network.sites
    if sites is None:
        return None
    if keys.network.tree:
        raise keys.error(_SITES, f"{_TREE} gives a tree without sites: leave one of the two out")
    _check_nodes(keys, _SITES, sites.of_node)
    with keys.told(_SITES):
        check_roles(sites, [node.roles for node in nodes])
    return sites


def read_faults(keys: Lookup) -> tuple[Fault, ...]:
    """The faults of all nodes, in the order of time; raises UserError."""
    found: list[Fault] = []
    for node in keys.nodes:
        own = [Fault(at, node, kind) for at, kind in keys.value(FAULTS, node)]
        with keys.told(FAULTS.name, node):
            check_sequence(own)
        found += own
    return tuple(sorted(found, key=lambda fault: fault.at))


def read_ideal(keys: Lookup) -> IdealLinks:
    """The links of SN.ideal.*; raises UserError."""
    ideal = _with_all_links(keys, keys.build(IdealLinks))
    _check_nodes(keys, _LINKS, (node for link in ideal.links for node in link))
    _check_nodes(keys, _CHANGES, (node for one in ideal.changes for node in (one.a, one.b)))
    _check_nodes(keys, _DELAYS, (node for one in ideal.delays for node in (one.a, one.b)))
    members = (node for one in ideal.partitions for group in one.groups for node in group)
    _check_nodes(keys, _PARTITIONS, members)
    _check_kind(keys, ideal)
    return ideal


def _with_all_links(keys: Lookup, ideal: IdealLinks) -> IdealLinks:
    """The links as they are given, or those between all pairs of nodes if the ini wants them."""
    if not keys.value(COMPLETE):
        return ideal
    if ideal.links or keys.network.tree or keys.network.sites:
        raise keys.error(COMPLETE.name, "other links are given too: leave one of the two out")
    return replace(ideal, links=tuple(combinations(keys.nodes, 2)))


def _check_nodes(keys: Lookup, path: str, nodes: Iterable[NodeId]) -> None:
    for node in nodes:
        if node not in keys.nodes:
            raise keys.error(path, f"there is no node {node}; they are 0 to {keys.nodes[-1]}")


def _check_kind(keys: Lookup, ideal: IdealLinks) -> None:
    """Raises UserError unless one thing alone says what the graph is."""
    tree = keys.network.tree
    if tree and ideal.partitions:
        raise keys.error(_PARTITIONS, f"with {_TREE} write what becomes of the tree there")
    for path, name in _BY_KIND.items():
        if tree and getattr(ideal, name):
            raise keys.error(path, f"the edges of {_TREE} are the links: leave one of the two out")
        if keys.network.sites is not None and path in _BESIDE_SITES and getattr(ideal, name):
            raise keys.error(path, f"{_SITES} says who is linked to whom: leave one of the two out")
    if ideal.range_m and (ideal.links or ideal.changes):
        raise keys.error(_RANGE, "the links are given, so there is no range: leave one of the two out")


def read_measured(keys: Lookup, nodes: Sequence[NodeSettings]) -> MeasuredLinks | None:
    """The measured links, if the ini names a file of them; raises UserError, OSError."""
    if not keys.value(LINKS_FILE):
        return None
    path = keys.file(LINKS_FILE)
    links: MeasuredLinks = keys.build(MeasuredLinks, recording=read_k7(path))
    _check_recorded(keys, links, nodes)
    try:
        choose(links.recording, links.channel, len(nodes))
    except ValueError as error:
        raise keys.error(path_of(MeasuredLinks, "channel"), f"{path}: {error}") from None
    if links.start > links.recording.lasting:
        lasting = f"{links.recording.lasting / 1e9:g} s"
        raise keys.error(path_of(MeasuredLinks, "start"), f"{path} ends after {lasting}")
    return links


def read_temporal(keys: Lookup, measured: MeasuredLinks | None) -> TemporalModel | None:
    """The temporal model, if the ini names its file; raises UserError, OSError."""
    if not keys.value(TEMPORAL_FILE):
        return None
    if measured is not None:
        problem = f"{LINKS_FILE.name} says how links change in time: leave one of the two out"
        raise keys.error(TEMPORAL_FILE.name, problem)
    return read_temporal_model(keys.file(TEMPORAL_FILE))


def _check_recorded(keys: Lookup, links: MeasuredLinks, nodes: Sequence[NodeSettings]) -> None:
    power = links.recording.power_dbm
    for node, settings in enumerate(nodes):
        if not isinstance(settings.mobility, Static):
            raise keys.error(LINKS_FILE.name, f"node {node} moves, and recorded nodes stand still: let nothing move")
        if settings.tx_power_dbm != power:
            problem = f"node {node} sends with {settings.tx_power_dbm:g} dBm, and {power:g} dBm were recorded"
            raise keys.error(LINKS_FILE.name, problem)
