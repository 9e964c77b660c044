"""Nodes' places over the wire, for agents that need their positions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.backends.castalia.simulators import StartedSimulator
from roambus.bridge.backends.ideal.backend import IdealFactory
from roambus.bridge.host.event_loop import Host
from roambus.bridge.mobility.given_way import GivenWay
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.system.errors import ProtocolError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.simtime import SECOND
from tests.bridge.host.test_positions import Located, places

WAYS = (
    (WayPoint(0, 10, 20), WayPoint(2, 10, 20), WayPoint(4.5, 14, 20), WayPoint(9, 1, 7)),
    (WayPoint(0, 90, 20), WayPoint(3.25, 50, 50)),
)
SCENARIO = places(
    *(
        NodeSettings(way[0][1:], GivenWay(way), position_noise_m=2.0, start_spread=0, clock_drift_sigma=0)
        for way in WAYS
    )
)


def looks(backend: object, scenario: Scenario = SCENARIO) -> list[tuple[float, int, str]]:
    """What the agents noted."""
    trace = TraceWriter()
    Host(scenario, Located, backend, trace).run()  # type: ignore[arg-type]
    return [(row["time_s"], row["node"], row["detail"]) for row in trace.table().to_pylist() if row["event"] == "look"]


def stand_in_with(folder: Path, program: Path, moves: bool, **saving: bool) -> CastaliaBackend:
    """The stand-in, which tells all ways or none."""
    lines = [f"nodes {len(WAYS)}", f"time_limit {SCENARIO.time_limit}", f"seed {SCENARIO.seed}", "link 0 1"]
    for node, way in enumerate(WAYS if moves else ()):
        lines += [f"move {node} {round(time * SECOND)} {x} {y}" for time, x, y in way]
    (folder / "script").write_text("\n".join(lines) + "\n")
    simulator = StartedSimulator(folder, Program((str(program), "script")), 20)
    return CastaliaBackend(SCENARIO, Located.messages, simulator, moves=True, **saving)


@pytest.mark.parametrize("saving", [{}, {"batching": False, "lookahead": False}], ids=["ahead", "singly"])
def test_the_host_computes_fixes_from_the_places_that_the_simulator_tells(
    stand_in: Path, tmp_path: Path, saving: dict[str, bool]
) -> None:
    """They are those of ideal links, noise included, although the ini has other ways."""
    expected = looks(IdealFactory().make(SCENARIO, Located, tmp_path))
    static = replace(SCENARIO, nodes=tuple(replace(node, mobility=NodeSettings().mobility) for node in SCENARIO.nodes))
    backend = stand_in_with(tmp_path, stand_in, moves=True, **saving)
    assert looks(backend, static) == expected


def test_a_simulator_that_tells_no_places_is_refused(stand_in: Path, tmp_path: Path) -> None:
    """With two ways out."""
    missing = (
        r"does not tell where node 0 is, and the agent needs positions: give SN\.node\[\*\]\.MobilityManager\.file"
    )
    with pytest.raises(ProtocolError, match=missing):
        looks(stand_in_with(tmp_path, stand_in, moves=False))
