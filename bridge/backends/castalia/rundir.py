"""The folder `.roambus` beside a run's ini: what Castalia needs to find us, and how to reach the host.

The ini names it (`load-libs`, `ned-path`), so that plain `CastaliaBin -f run.ini` works wherever things are installed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from roambus.bridge.backends.castalia.endpoint import Endpoint
from roambus.bridge.backends.castalia.files import SIMULATOR_FOLDER
from roambus.bridge.scenario.mobility import GivenWay, WayPoint
from roambus.bridge.scenario.scenario import Scenario
from roambus.python_protocol.roles import NodeId

SESSION, WAYS = "session", "ways"

Ways = Mapping[NodeId, tuple[WayPoint, ...]]
"""The ways of the nodes that move by a file."""

NO_WAYS: Ways = MappingProxyType({})


def ways_of(scenario: Scenario) -> Ways:
    """The ways that the simulator cannot know otherwise, for it does not read movement files."""
    mobilities = enumerate(settings.mobility for settings in scenario.nodes)
    return {node: mobility.points for node, mobility in mobilities if isinstance(mobility, GivenWay)}


@contextmanager
def run_directory(
    folder: Path, links: Mapping[str, Path], endpoint: Endpoint, deadline_s: float, ways: Ways = NO_WAYS
) -> Iterator[Path]:
    """Makes the linked directory, and puts the session file and the ways of nodes into it."""
    with linked_directory(folder, links) as directory:
        _write_private(directory / SESSION, session_text(endpoint, deadline_s))
        if ways:
            _write_ways(directory / WAYS, ways)
        yield directory


@contextmanager
def linked_directory(folder: Path, links: Mapping[str, Path]) -> Iterator[Path]:
    """Makes `.roambus` in a run's folder, with these links in it; removes it at the end."""
    directory = folder / SIMULATOR_FOLDER
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(mode=0o700)
    try:
        for name, target in links.items():
            (directory / name).symlink_to(target.resolve())
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def session_text(endpoint: Endpoint, deadline_s: float) -> str:
    """The text that the simulator's side reads; docs/bridge.md has the meaning of each name."""
    entries = {"endpoint": endpoint.address, "token": endpoint.token, "deadline_ms": str(round(deadline_s * 1000))}
    if endpoint.keys is not None:
        entries["server_key"] = endpoint.keys.server_public
        entries["public_key"] = endpoint.keys.client_public
        entries["secret_key"] = endpoint.keys.client_secret
    return "".join(f"{name}={value}\n" for name, value in entries.items())


def _write_ways(folder: Path, ways: Ways) -> None:
    """Writes a file for each node, with a line for each way-point: time (s), x and y (m), exactly."""
    folder.mkdir()
    for node, way in ways.items():
        lines = [f"{point.time_s!r} {point.x!r} {point.y!r}\n" for point in way]
        (folder / str(node)).write_text("".join(lines), encoding="ascii")


def _write_private(file: Path, text: str) -> None:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
        stream.write(text)
