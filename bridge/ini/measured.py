"""Reads which recorded testbed stands in for the channel, or by what file links vary in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from roambus.bridge.ini.lookup import Lookup
from roambus.bridge.k7.choice import choose
from roambus.bridge.k7.reader import read_k7
from roambus.bridge.keys.key import path_of
from roambus.bridge.scenario.channel import TEMPORAL_FILE
from roambus.bridge.scenario.measured import LINKS_FILE, MeasuredLinks
from roambus.bridge.scenario.mobility import Static
from roambus.bridge.scenario.node import NodeSettings
from roambus.bridge.temporal.model import TemporalModel
from roambus.bridge.temporal.reader import read_temporal_model


def read_measured(
    keys: Lookup, folder: Path, places: Mapping[str, Path], nodes: Sequence[NodeSettings]
) -> MeasuredLinks | None:
    """The measured links, if the ini names a file of them; raises UserError, OSError."""
    name: str = keys.value(LINKS_FILE)
    if not name:
        return None
    path = places.get(name, folder / name)
    if not path.is_file():
        raise keys.error(LINKS_FILE.path, f"there is no file {path}")
    links: MeasuredLinks = keys.build(MeasuredLinks, recording=read_k7(path))
    _check_nodes(keys, links, nodes)
    try:
        choose(links.recording, links.channel, len(nodes))
    except ValueError as error:
        raise keys.error(path_of(MeasuredLinks, "channel"), f"{path}: {error}") from None
    if links.start > links.recording.lasting:
        lasting = f"{links.recording.lasting / 1e9:g} s"
        raise keys.error(path_of(MeasuredLinks, "start"), f"{path} ends after {lasting}")
    return links


def read_temporal(
    keys: Lookup, folder: Path, places: Mapping[str, Path], measured: MeasuredLinks | None
) -> TemporalModel | None:
    """The temporal model, if the ini names its file; raises UserError, OSError."""
    name: str = keys.value(TEMPORAL_FILE)
    if not name:
        return None
    if measured is not None:
        problem = f"{LINKS_FILE.path} says how links change in time: leave one of the two out"
        raise keys.error(TEMPORAL_FILE.path, problem)
    path = places.get(name, folder / name)
    if not path.is_file():
        raise keys.error(TEMPORAL_FILE.path, f"there is no file {path}")
    return read_temporal_model(path)


def _check_nodes(keys: Lookup, links: MeasuredLinks, nodes: Sequence[NodeSettings]) -> None:
    power = links.recording.power_dbm
    for node, settings in enumerate(nodes):
        if not isinstance(settings.mobility, Static):
            raise keys.error(LINKS_FILE.path, f"node {node} moves, and recorded nodes stand still: let nothing move")
        if settings.tx_power_dbm != power:
            problem = f"node {node} sends with {settings.tx_power_dbm:g} dBm, and {power:g} dBm were recorded"
            raise keys.error(LINKS_FILE.path, problem)
