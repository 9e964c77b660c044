"""Flights over the wire: by commands of an agent, and by the way that these commands made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from roambus.bridge.backend import Backend, Course, Hello, Step, Totals, Transmission
from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.backends.castalia.simulators import StartedSimulator
from roambus.bridge.formats.ini import read_scenario
from roambus.bridge.mobility.given_way import GivenWay
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.mobility.paths import Path as Way
from roambus.bridge.mobility.paths import paths_of, steered, turn
from roambus.bridge.runs.layout import INI_FILE
from roambus.bridge.scenario.definition import Scenario
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.integration.castalia_runs import Variables, write_run
from tests.support.flights import Command, Flyer, Row, Speaker, rows_of
from tests.support.omnet import stand_in

DEADLINE_S = 20
LIMIT = 9 * SECOND
SCRIPT = (
    Command(303 * MILLISECOND + 17, (80, 20)),
    Command(1500 * MILLISECOND, (30, 90), 7.0),
    Command(3050 * MILLISECOND),
    Command(4 * SECOND, (60, 12), 20.0),
    Command(8 * SECOND, (61, 12), 20.0),
    Command(8500 * MILLISECOND, (61, 12), 20.0),
)
"""Turns and a halt, at an update of the channel and between two; then arrivals, and a way to the same place."""
FLYING: type[Agent] = type("Flying", (Flyer,), {"scripts": (SCRIPT,)})
REACH_M = 40


@dataclass(slots=True)
class Watched:
    """Passes everything on to a back-end, and keeps the courses."""

    backend: Backend
    courses: list[Course] = field(default_factory=list)

    def open(self) -> Hello:
        """Open it."""
        hello = self.backend.open()
        assert hello.steer is not None
        return replace(hello, steer=partial(self._steer, hello.steer))

    def _steer(self, steer: Callable[[Course], None], course: Course) -> None:
        self.courses.append(course)
        steer(course)

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Advance it."""
        return self.backend.advance(transmissions, wake_up)

    def fail(self, error: BaseException) -> None:
        """Let it fail."""
        self.backend.fail(error)

    def close(self) -> Totals:
        """Close it."""
        return self.backend.close()


def flown(scenario: Scenario, backend: Backend) -> tuple[list[Row], list[tuple[WayPoint, ...]]]:
    """The trace of a flight by commands, and the way of each node."""
    watched, ways = Watched(backend), [[path[0]] for path in paths_of(scenario)]
    rows = rows_of(scenario, FLYING, watched)
    for course in watched.courses:
        turn(ways[course.node], course)
    assert sum(row["event"] == "hear" for row in rows) > 50
    assert len(watched.courses) == len(SCRIPT)
    return rows, [tuple(way) for way in ways]


def by_way(scenario: Scenario, ways: Sequence[tuple[WayPoint, ...]]) -> Scenario:
    """The scenario with movement files in place of agents that move their nodes."""
    nodes = [replace(node, mobility=GivenWay(way)) for node, way in zip(scenario.nodes, ways, strict=True)]
    return replace(scenario, nodes=tuple(nodes))


def rounded(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows with six digits: a velocity's last bit depends on whether a way-point's time is in ns or in s."""
    short = partial(re.sub, r"-?\d+\.\d+(?:e-?\d+)?", lambda number: f"{float(number[0]) + 0:.6f}")
    return [{**row, "detail": row["detail"] and short(row["detail"])} for row in rows]


# The stand-in


def over_stand_in(
    folder: Path, scenario: Scenario, messages: MessageSet = Speaker.messages, **options: bool
) -> CastaliaBackend:
    """The stand-in with nodes in reach of each other; it has the ways of those that their agents do not move."""
    own = steered(scenario)
    lines = [
        f"nodes {len(scenario.nodes)}",
        f"time_limit {scenario.time_limit}",
        f"seed {scenario.seed}",
        f"processing_delay {scenario.processing_delay}",
        f"reach {REACH_M}",
        *(line for node, way in enumerate(paths_of(scenario)) for line in _lines_of(node, way, is_steered=node in own)),
    ]
    (folder / "script").write_text("\n".join(lines) + "\n")
    simulator = StartedSimulator(folder, Program((str(stand_in()), "script")), DEADLINE_S)
    return CastaliaBackend(scenario, messages, simulator, **options)


def _lines_of(node: NodeId, way: Way, *, is_steered: bool) -> Iterator[str]:
    if is_steered:
        yield f"start {node} {way[0].x!r} {way[0].y!r}"
        return
    for point in way:
        yield f"move {node} {round(point.time_s * SECOND)} {point.x!r} {point.y!r}"


# Inis


WALK: Variables = {
    "nodes": 5,
    "side": 100,
    "mobility": "file",
    "movements": "walk",
    "publish_interval": 0,
    "time_limit": LIMIT // SECOND,
}
BY_AGENTS = {
    '"MovementFileMobilityManager"': '"AgentMobilityManager"',
    'SN.node[*].MobilityManager.file = "walk"\n': "",
}
EXACT = {"startupRandomization = 0.05": "startupRandomization = 0", "ClockDrift = 0.00003": "ClockDrift = 0"}


def write_flight(
    folder: Path, delay: SimTime = 0, ways: Sequence[Way] | None = None, changes: dict[str, str] | None = None
) -> Scenario:
    """Write the ini of five nodes in a field whose agents move them, or that go these ways by a file."""
    folder.mkdir()
    walk = ways or [[WayPoint(0, 1, 1)]] * 5
    (folder / "walk").write_text("".join(_bonnmotion(way) for way in walk))
    (folder / "walk.ini.j2").write_text('{% include "field.ini.j2" %}')
    more = [f"SN.node[*].Application.processingDelay = {delay // MILLISECOND}ms"] if delay else []
    changes = {**(changes or {}), **({} if ways else BY_AGENTS)}
    write_run(folder, WALK, changes, more, template=str(folder / "walk.ini.j2"))
    return read_scenario(folder / INI_FILE)


def _bonnmotion(way: Way) -> str:
    assert all(before.time_s < after.time_s for before, after in pairwise(way))
    return " ".join(f"{point.time_s!r} {point.x!r} {point.y!r}" for point in way) + "\n"


def node_moves(rows: Sequence[Row], node: NodeId) -> list[tuple[float, str]]:
    """Where the node was, by its rows."""
    return [(row["time_s"], row["detail"]) for row in rows if row["event"] == "move" and row["node"] == node]
