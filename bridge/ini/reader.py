"""Puts a Scenario together from a rendered ini; everything unknown or not supported is a UserError with its line.

The keys of the ini are checked first, all of them; then the parts of the scenario are read: `radio` reads radio and
MAC, `nodes` the nodes, `links` who is linked to whom, and `workload` what the applications do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from roambus.bridge.ini.links import read_faults, read_ideal, read_measured, read_sites, read_temporal, read_tree
from roambus.bridge.ini.lookup import Lookup
from roambus.bridge.ini.nodes import NodeReader, movement_file_names
from roambus.bridge.ini.radio import RadioReader
from roambus.bridge.ini.syntax import parse_ini
from roambus.bridge.ini.workload import read_absences, read_workload
from roambus.bridge.scenario.application import AgentParameters, AgentSettings
from roambus.bridge.scenario.channel import TEMPORAL_FILE, ChannelSettings
from roambus.bridge.scenario.measured import LINKS_FILE
from roambus.bridge.scenario.network import RunSettings
from roambus.bridge.scenario.node import NodeSettings
from roambus.bridge.scenario.radio import FILE
from roambus.bridge.scenario.scenario import Scenario
from roambus.bridge.texts import read_text


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
