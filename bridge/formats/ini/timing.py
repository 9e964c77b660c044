"""Refuses times at or after the end of a run: what would happen then never does, and nobody would know.

A plan is refused if all of it is after the end, as a file of contacts or movements is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from roambus.bridge.formats.ini.lookup import Lookup
from roambus.bridge.keys import path_of
from roambus.bridge.scenario.definition import NetworkSettings, RunSettings
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.nodes import FAULTS, ApplicationSettings, NodeSettings
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.settings import settings_of
from roambus.python_protocol.simtime import SimTime, format_time

_APPLICATION, _RUN = settings_of(ApplicationSettings), settings_of(RunSettings)

First = tuple[str, SimTime, NodeId | None]
"""A key, the first time in its value, and the node if it is one of a node."""


def check_times(keys: Lookup, nodes: Sequence[NodeSettings]) -> None:
    """Raise UserError for a time, or for the first of a plan, that is not before the end."""
    limit: SimTime = keys.value(_RUN["time_limit"])
    of_nodes = chain.from_iterable(_of_node(keys, nodes, node) for node in keys.nodes)
    for path, at, node in chain(_of_all(keys), of_nodes):
        # 0s is the default of most, and a run of 0 s is one that only starts.
        if at and at >= limit > 0:
            problem = f"{format_time(at)} is not before the end of the run, {format_time(limit)}"
            raise keys.error(path, f"{problem}: set an earlier time, or a longer sim-time-limit", node)


def _of_all(keys: Lookup) -> Iterator[First]:
    yield _RUN["warm_up"].name, keys.value(_RUN["warm_up"]), None
    ideal = keys.build(IdealLinks)
    plans: dict[str, Sequence[Any]] = {
        path_of(NetworkSettings, "commands"): keys.network.commands,
        path_of(IdealLinks, "changes"): ideal.changes,
        path_of(IdealLinks, "partitions"): ideal.partitions,
    }
    yield from ((path, plan[0].at, None) for path, plan in plans.items() if plan)


def _of_node(keys: Lookup, nodes: Sequence[NodeSettings], node: NodeId) -> Iterator[First]:
    roles = nodes[node].roles
    names = ["subscribe_at"] if Role.SUBSCRIBER in roles or keys.value(_APPLICATION["unicast"], node) else []
    names += ["publish_start"] if Role.PUBLISHER in roles and keys.value(_APPLICATION["publish_interval"], node) else []
    yield from ((_APPLICATION[name].name, keys.value(_APPLICATION[name], node), node) for name in names)
    plans = {FAULTS: keys.value(FAULTS, node), _APPLICATION["absences"]: keys.value(_APPLICATION["absences"], node)}
    yield from ((key.name, plan[0][0], node) for key, plan in plans.items() if plan)
