"""Assembles a Scenario from a rendered ini; unknown entries are UserErrors with their line.

All keys are checked first; then `radio` reads radio and MAC, `network` nodes and links, and this module the workload.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from roambus.bridge.formats.ini.lookup import KEYS, Lookup, SimulatorKeys
from roambus.bridge.formats.ini.network import (
    NodeReader,
    movement_file_names,
    read_faults,
    read_ideal,
    read_measured,
    read_temporal,
    read_tree,
)
from roambus.bridge.formats.ini.radio import RadioReader
from roambus.bridge.formats.ini.syntax import parse_ini
from roambus.bridge.formats.ini.timing import check_times
from roambus.bridge.keys import path_of
from roambus.bridge.scenario.definition import (
    Command,
    NetworkSettings,
    Publication,
    Publications,
    RunSettings,
    Scenario,
    Subscription,
    Workload,
)
from roambus.bridge.scenario.ideal import CONTACTS_FILE, LINKS_FILE
from roambus.bridge.scenario.models import KINDS
from roambus.bridge.scenario.nodes import AgentParameters, AgentSettings, ApplicationSettings, NodeSettings
from roambus.bridge.scenario.plans import Order, away
from roambus.bridge.scenario.radio import (
    FILE,
    LOSSES_FILE,
    TEMPORAL_FILE,
    ChannelSettings,
    InterferenceSettings,
    Ns3Settings,
)
from roambus.bridge.scenario.tree import Absence, absence_commands
from roambus.bridge.system.files import read_text
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.filters import addressed_to
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.settings import settings_of

_COMMANDS = path_of(NetworkSettings, "commands")
_ABSENCES = settings_of(ApplicationSettings)["absences"]
_ROLES_KEY = settings_of(NodeSettings)["roles"]
_FILTERS: dict[str, type[Subscribe | Unsubscribe]] = {"subscribe": Subscribe, "unsubscribe": Unsubscribe}
_ROLES = {"subscribe": Role.SUBSCRIBER, "publish": Role.PUBLISHER}
"""The role that an order requires."""


def read_workload(keys: Lookup, nodes: Sequence[NodeSettings]) -> Workload:
    """The applications' commands, by their nodes' roles; raises UserError."""
    applications = {node: keys.build(ApplicationSettings, node) for node in keys.nodes}
    orders = _orders(keys)
    ordered = {order.node for order in orders if order.words[0] == "subscribe"}
    subscriptions = [
        Subscription(node, application.subscribe_at, wanted)
        for node, application in applications.items()
        if Role.SUBSCRIBER in nodes[node].roles and node not in ordered
        for wanted in application.filters
    ]
    subscriptions += [
        Subscription(node, application.subscribe_at, addressed_to(node))
        for node, application in applications.items()
        if application.unicast
    ]
    publications = tuple(
        Publications(
            node,
            application.publish_start,
            application.publish_until,
            application.publish_interval,
            application.attributes,
            application.payload,
            application.topics,
            application.popularity,
            application.burst,
            application.placed,
        )
        for node, application in applications.items()
        if Role.PUBLISHER in nodes[node].roles and application.publish_interval
    )
    done = cache(partial(_done, keys))  # a few nodes publish over and over
    commands = [Command(order.at, order.node, what) for order in orders for what in done(order.node, order.words[0])]
    return Workload(tuple(subscriptions), publications, (*commands, *absence_commands(read_absences(keys))))


def read_absences(keys: Lookup) -> list[Absence]:
    """All nodes' absences, each node's in the order of time; raises UserError."""
    own = [Absence(node, *away) for node in keys.nodes for away in keys.value(_ABSENCES, node)]
    ordered = _ordered_absences(keys)
    if both := {absence.node for absence in own} & {absence.node for absence in ordered}:
        raise keys.error(_COMMANDS, f"node {min(both)} has {_ABSENCES.name} too: say in one place when it is away")
    return [*own, *ordered]


def _ordered_absences(keys: Lookup) -> list[Absence]:
    """The absences in SN.commands, each node's in the order of time; raises UserError."""
    moving = [order for order in _orders(keys) if order.words[0] in ("detach", "attach")]
    found: list[Absence] = []
    for node, own in groupby(sorted(moving, key=attrgetter("node")), key=attrgetter("node")):
        try:
            found += [Absence(node, *interval) for interval in away((order.at, order.words) for order in own)]
        except ValueError as error:
            raise keys.error(_COMMANDS, f"node {node}: {error}") from None
    return found


def _orders(keys: Lookup) -> tuple[Order, ...]:
    for node, verb in dict.fromkeys((order.node, order.words[0]) for order in keys.network.commands):
        keys.refuse(node not in keys.nodes, _COMMANDS, f"node {node} is not one of the {len(keys.nodes)} nodes")
        role = _ROLES.get(verb, Role.NONE)
        lacks = role not in keys.value(_ROLES_KEY, node)
        keys.refuse(lacks, _COMMANDS, f"node {node} is not a {(role.name or '').lower()}: give it that role")
    return keys.network.commands


def _done(keys: Lookup, node: NodeId, verb: str) -> tuple[Subscribe | Unsubscribe | Publication, ...]:
    """The command of an order's verb, with the node's filters, attributes and payload."""
    application = keys.build(ApplicationSettings, node)
    if verb == "publish":
        return (Publication(application.attributes, application.payload),)
    return tuple(map(_FILTERS[verb], application.filters)) if verb in _FILTERS else ()


def read_scenario(path: Path, beyond: SimulatorKeys | None = None) -> Scenario:
    """Read `path` and its radio parameters file; raises UserError, or OSError.

    `beyond` has keys that the embedded radio lacks.
    """
    return parse_scenario(read_text(path), path, path.parent, beyond=beyond)


def check_files(text: str, path: Path, unused: Sequence[str], backend: str) -> None:
    """Raise UserError if the ini `path` with this text names a file that the back-end does not read.

    `unused` are prefixes of such keys.
    """
    Lookup(parse_ini(text, path), path.parent).check_files(unused, backend)


def parse_scenario(
    text: str, path: Path, folder: Path, files: Mapping[str, Path] | None = None, beyond: SimulatorKeys | None = None
) -> Scenario:
    """Read an ini's text and its files in `folder`; raises UserError, OSError.

    `files` places those elsewhere, except for the radio parameters file.
    """
    mistakes: list[str] = []
    keys = Lookup(parse_ini(text, path, mistakes), folder, files, beyond)
    radio = RadioReader(keys)
    settings, mac, _, nodes = keys.check(mistakes, radio.radio, radio.mac, *_read_nodes(keys, radio))
    check_times(keys, nodes)
    # Measured links come before the workload: a recording that does not fit is found before plans that assume it.
    measured = read_measured(keys, nodes)
    run, agent = keys.build(RunSettings), keys.build(AgentSettings)
    parameters = [dict(keys.build(AgentParameters, node).parameters) for node in keys.nodes]
    return Scenario(
        seed=run.seed,
        time_limit=run.time_limit,
        field_m=(keys.network.field_x_m, keys.network.field_y_m),
        channel=keys.build(ChannelSettings),
        radio=settings,
        mac=mac,
        nodes=nodes,
        workload=read_workload(keys, nodes),
        processing_delay=agent.processing_delay,
        fragments=agent.fragments,
        agent=agent.agent,
        agent_parameters=parameters[0],
        other_parameters={node: own for node, own in enumerate(parameters) if own != parameters[0]},
        tree=read_tree(keys, nodes, read_absences(keys)),
        faults=read_faults(keys),
        ideal=read_ideal(keys),
        ns3=keys.build(Ns3Settings),
        interference=keys.build(InterferenceSettings),
        measured=measured,
        temporal=read_temporal(keys, measured),
        losses=radio.losses(measured is not None),
        propagation=radio.propagation(measured is not None),
        reception=radio.reception(measured is not None),
        warm_up=run.warm_up,
    )


def _read_nodes(keys: Lookup, radio: RadioReader) -> Iterator[Callable[[], Any]]:
    """Read the places, then the nodes: mistakes of both are told."""
    yield lambda: NodeReader(keys, radio).places
    yield lambda: tuple(map(NodeReader(keys, radio).node, keys.nodes))


def file_names(text: str, path: Path) -> tuple[str, list[str]]:
    """The radio parameters file, and all other files, that an ini's text names; raises UserError."""
    keys = Lookup(parse_ini(text, path), path.parent)
    of_models = (key for models in KINDS for key in models.files_of(keys.value(models.key)))
    others = filter(None, map(keys.value, (LINKS_FILE, TEMPORAL_FILE, LOSSES_FILE, CONTACTS_FILE, *of_models)))
    return keys.value(FILE), [*movement_file_names(keys), *others]


def seed_of(text: str, path: Path) -> int:
    """The seed in an ini's text; raises UserError."""
    seed: int = Lookup(parse_ini(text, path), path.parent).value(settings_of(RunSettings)["seed"])
    return seed


_DECLARED_NAMES = {declared.name.rpartition(".")[2] for declared in KEYS}


def further_values(text: str) -> dict[str, float | str]:
    """The first value of each key that only a simulator may know, numbers as such; raises UserError."""
    found: dict[str, float | str] = {}
    for entry in parse_ini(text, Path("run.ini")).entries:
        if entry.key.rpartition(".")[2] not in _DECLARED_NAMES:
            try:
                found.setdefault(entry.key, float(entry.value))
            except ValueError:
                found.setdefault(entry.key, entry.value)
    return dict(sorted(found.items()))
