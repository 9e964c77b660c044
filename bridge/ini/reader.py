"""Puts a Scenario together from a rendered ini; everything unknown or not supported is a UserError with its line.

The keys of the ini are checked first, all of them; then the parts of the scenario are read: `radio` reads radio and
MAC, `nodes` the nodes, `links` who is linked to whom, and `workload` what the applications do.

The workload of a scenario: what the applications subscribe to, what they publish, and what they do besides.

The keys of a node say what its application does by itself, and SN.commands what single applications do at some times. A
node that is told when to subscribe does not subscribe at Application.subscribeAt too, and its absences stand in one of
the two places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from pathlib import Path

from roambus.bridge.files import read_text
from roambus.bridge.ini.lookup import Lookup
from roambus.bridge.ini.network import (
    NodeReader,
    movement_file_names,
    read_faults,
    read_ideal,
    read_measured,
    read_sites,
    read_temporal,
    read_tree,
)
from roambus.bridge.ini.radio import RadioReader
from roambus.bridge.ini.syntax import parse_ini
from roambus.bridge.keys import path_of
from roambus.bridge.scenario.definition import Command, Publication, Publications, Scenario, Subscription, Workload
from roambus.bridge.scenario.faults import Absence, absence_commands
from roambus.bridge.scenario.ideal import LINKS_FILE
from roambus.bridge.scenario.network import NetworkSettings, RunSettings
from roambus.bridge.scenario.nodes import AgentParameters, AgentSettings, ApplicationSettings, NodeSettings
from roambus.bridge.scenario.plans import Order, away
from roambus.bridge.scenario.radio import FILE, TEMPORAL_FILE, ChannelSettings
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.filters import addressed_to
from roambus.python_protocol.settings import settings_of
from roambus.python_protocol.vocabulary import NodeId, Role

Done = Subscribe | Unsubscribe | Publication

_COMMANDS = path_of(NetworkSettings, "commands")
_ABSENCES = settings_of(ApplicationSettings)["absences"]
_ROLES_KEY = settings_of(NodeSettings)["roles"]
_FILTERS: dict[str, type[Subscribe | Unsubscribe]] = {"subscribe": Subscribe, "unsubscribe": Unsubscribe}
_ROLES = {"subscribe": Role.SUBSCRIBER, "publish": Role.PUBLISHER}
"""The role that a node must have for an order, because the trace tells roles at the start."""


def read_workload(keys: Lookup, nodes: Sequence[NodeSettings]) -> Workload:
    """What the applications do, by the roles of their nodes; raises UserError."""
    applications = {node: keys.build(ApplicationSettings, node) for node in keys.nodes}
    ordered = _ordered_subscribers(keys)
    subscribing = {
        node: one for node, one in applications.items() if Role.SUBSCRIBER in nodes[node].roles and node not in ordered
    }
    publishing = {
        node: one for node, one in applications.items() if Role.PUBLISHER in nodes[node].roles and one.publish_interval
    }
    subscriptions = [
        Subscription(node, one.subscribe_at, wanted) for node, one in subscribing.items() for wanted in one.filters
    ]
    subscriptions += [
        Subscription(node, one.subscribe_at, addressed_to(node)) for node, one in applications.items() if one.unicast
    ]
    commands = (*_ordered_commands(keys), *absence_commands(read_absences(keys)))
    return Workload(tuple(subscriptions), tuple(_publications(*one) for one in publishing.items()), commands)


def _publications(node: NodeId, application: ApplicationSettings) -> Publications:
    return Publications(
        node=node,
        start=application.publish_start,
        until=application.publish_until,
        interval=application.publish_interval,
        attributes=application.attributes,
        payload=application.payload,
    )


def read_absences(keys: Lookup) -> list[Absence]:
    """The absences of all nodes, those of each in the order of time; raises UserError."""
    own = [Absence(node, *away) for node in keys.nodes for away in keys.value(_ABSENCES, node)]
    ordered = _ordered_absences(keys)
    if both := {one.node for one in own} & {one.node for one in ordered}:
        raise keys.error(_COMMANDS, f"node {min(both)} has {_ABSENCES.name} too: say in one place when it is away")
    return [*own, *ordered]


def _ordered_commands(keys: Lookup) -> list[Command]:
    """The commands of applications: filters, attributes and payload are the node's own. Raises UserError."""

    @cache  # a few nodes publish over and over
    def done(node: NodeId, verb: str) -> tuple[Done, ...]:
        return tuple(_done(keys, node, verb))

    orders = _orders(keys)
    return [Command(at, node, what) for at, node, (verb, *_) in orders for what in done(node, verb)]


def _ordered_subscribers(keys: Lookup) -> set[NodeId]:
    """The nodes that subscribe when they are told, and not at Application.subscribeAt."""
    return {order.node for order in _orders(keys) if order.words[0] == "subscribe"}


def _ordered_absences(keys: Lookup) -> list[Absence]:
    """The absences of all nodes, those of each in the order of time; raises UserError."""
    moving = [order for order in _orders(keys) if order.words[0] in ("detach", "attach")]
    found: list[Absence] = []
    for node, own in groupby(sorted(moving, key=lambda order: order.node), key=lambda order: order.node):
        try:
            found += [Absence(node, *one) for one in away((order.at, order.words) for order in own)]
        except ValueError as error:
            raise keys.error(_COMMANDS, f"node {node}: {error}") from None
    return found


def _orders(keys: Lookup) -> tuple[Order, ...]:
    orders: tuple[Order, ...] = keys.network.commands
    for node, verb in dict.fromkeys((order.node, order.words[0]) for order in orders):
        if node not in keys.nodes:
            raise keys.error(_COMMANDS, f"node {node} is none of the {len(keys.nodes)} nodes")
        role = _ROLES.get(verb, Role.NONE)
        if role not in keys.value(_ROLES_KEY, node):
            raise keys.error(_COMMANDS, f"node {node} is no {(role.name or '').lower()}: give it that role")
    return orders


def _done(keys: Lookup, node: NodeId, verb: str) -> Iterator[Done]:
    """What a verb of an order is to the application of a node."""
    application = keys.build(ApplicationSettings, node)
    if verb == "publish":
        yield Publication(application.attributes, application.payload)
    elif verb in _FILTERS:
        yield from map(_FILTERS[verb], application.filters)


def read_scenario(path: Path) -> Scenario:
    """Reads `path` and the radio parameters file that it names; raises UserError, or OSError."""
    return parse_scenario(read_text(path), path, path.parent)


def parse_scenario(text: str, path: Path, folder: Path, files: Mapping[str, Path] | None = None) -> Scenario:
    """Reads the text of the ini file `path`, and the files in `folder` that it names; raises UserError, OSError.

    `files` says where those lie that are elsewhere, but for the radio parameters file.
    """
    keys = Lookup(parse_ini(text, path), folder, files)
    keys.check_keys()
    keys.check_values()
    radio = RadioReader(keys)
    reader = NodeReader(keys, radio)
    nodes = tuple(reader.node(node) for node in keys.nodes)
    measured = read_measured(keys, nodes)
    return replace(_scenario(keys, radio, nodes), measured=measured, temporal=read_temporal(keys, measured))


def file_names(text: str, path: Path) -> list[str]:
    """The files that the text of the ini file `path` names, but for the radio parameters file; raises UserError."""
    keys = Lookup(parse_ini(text, path), path.parent)
    given = [keys.value(LINKS_FILE), keys.value(TEMPORAL_FILE)]
    return [*movement_file_names(keys), *filter(None, given)]


def radio_file_name(text: str, path: Path) -> str:
    """The radio parameters file that the text of the ini file `path` names; raises UserError."""
    name: str = Lookup(parse_ini(text, path), path.parent).value(FILE)
    return name


def _scenario(keys: Lookup, radio: RadioReader, nodes: tuple[NodeSettings, ...]) -> Scenario:
    run, agent = keys.build(RunSettings), keys.build(AgentSettings)
    parameters = [dict(keys.build(AgentParameters, node).parameters) for node in keys.nodes]
    return Scenario(
        seed=run.seed,
        time_limit=run.time_limit,
        field_m=(keys.network.field_x_m, keys.network.field_y_m),
        channel=keys.build(ChannelSettings),
        radio=radio.radio(),
        mac=radio.mac(),
        nodes=nodes,
        workload=read_workload(keys, nodes),
        processing_delay=agent.processing_delay,
        agent=agent.agent,
        agent_parameters=parameters[0],
        other_parameters={node: own for node, own in enumerate(parameters) if own != parameters[0]},
        tree=read_tree(keys, nodes, read_absences(keys)),
        sites=read_sites(keys, nodes),
        faults=read_faults(keys),
        ideal=read_ideal(keys),
        warm_up=run.warm_up,
    )
