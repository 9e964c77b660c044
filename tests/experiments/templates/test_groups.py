"""Groups of nodes with areas of their own: where they start, and where they go."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from roambus.bridge.backends.castalia.backend import CastaliaFactory
from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.mobility.paths import paths_of, positions
from roambus.bridge.runs.run import RunPlan, execute
from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.selection import sweep_of
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep, plain_axis
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.roles import Role
from roambus.spark.metrics.run import Run

GROUPS = "3-at-0-0-10x20+2-at-40-30-20x10"
BOXES = [(0, 0, 10, 20)] * 3 + [(40, 30, 60, 40)] * 2 + [(0, 0, 60, 60)]
SETTINGS: dict[str, Scalar] = {"nodes": 6, "side": 60, "groups": GROUPS, "time_limit": 60}


@pytest.mark.parametrize("mobility", ["static", "line", "waypoint"])
def test_each_node_stays_in_the_area_of_its_group(mobility: str, tmp_path: Path) -> None:
    """From its start to the end of the run; nodes that are in no group have the whole field."""
    run: dict[str, Scalar] = {"seed": 3, "agent": "beacon", "agent_parameters": ""}
    template = find_template("field")
    ini = template.render({**SETTINGS, **run, "mobility": mobility})
    scenario = parse_scenario(ini, tmp_path / "run.ini", TEMPLATES)
    for points, (left, bottom, right, top) in zip(paths_of(scenario), BOXES, strict=True):
        places = positions(points, np.arange(0, 60, 0.5))
        assert (places >= (left, bottom)).all()
        assert (places <= (right, top)).all()
        assert (len(np.unique(places, axis=0)) == 1) == (mobility == "static")


def test_shares_of_the_nodes_crash_or_stand_still(tmp_path: Path) -> None:
    """The seed draws which, and publishers can be brokers, too; without a share nothing is said of it."""
    template = find_template("thesis")
    run: dict[str, Scalar] = {"seed": 3, "agent": "beacon", "agent_parameters": ""}
    chosen: dict[str, Scalar] = {
        "crash_share": 0.5,
        "crash_at": 10,
        "still_share": 0.5,
        "roles": "publishers-are-brokers",
    }
    scenario = parse_scenario(template.render({**run, **chosen}), tmp_path / "run.ini", TEMPLATES)
    assert len({fault.node for fault in scenario.faults}) == 3
    moved = [len(np.unique(positions(path, np.arange(0, 60, 0.5)), axis=0)) > 1 for path in paths_of(scenario)]
    assert moved.count(False) == 3
    roles = [node.roles for node in scenario.nodes]
    assert roles == [Role.PUBLISHER | Role.BROKER] * 2 + [Role.SUBSCRIBER] * 2 + [Role.BROKER] * 2
    assert "faults" not in template.render(run)


@pytest.mark.parametrize(
    ("among", "nodes"), [("publishers", {0, 1}), ("subscribers", {2, 3, 4}), ("brokers", {5, 6, 7, 8})]
)
def test_shares_may_be_those_of_a_role(among: str, nodes: set[int], tmp_path: Path) -> None:
    """All of them crash, and of half of them some stand still."""
    chosen: dict[str, Scalar] = {"seed": 3, "agent": "beacon", "agent_parameters": "", "subscribers": 3, "brokers": 4}
    shares: dict[str, Scalar] = {"crash_share": 1, "crash_at": 10, "still_share": 0.5}
    roles: dict[str, Scalar] = {"crash_among": among, "still_among": among}
    ini = find_template("thesis").render({**chosen, **shares, **roles})
    scenario = parse_scenario(ini, tmp_path / "run.ini", TEMPLATES)
    assert {fault.node for fault in scenario.faults} == nodes
    paths = enumerate(paths_of(scenario))
    still = {node for node, path in paths if len(np.unique(positions(path, np.arange(0, 60, 0.5)), axis=0)) == 1}
    assert still < nodes
    assert len(still) == round(len(nodes) / 2)


def plan_of(folder: Path, **more: Scalar) -> RunPlan:
    axes = tuple(plain_axis(name, [value]) for name, value in {**SETTINGS, **more}.items())
    sweep = Sweep("test", find_template("field"), (AgentChoice("beacon", "beacon"),), axes)
    (plan,) = plan_runs(sweep, folder)
    return plan


@pytest.mark.castalia
def test_groups_on_castalia(tmp_path: Path, castalia: Program) -> None:
    """Nodes move within their areas there, too: what the trace says of the places is what Castalia had."""
    plan = plan_of(tmp_path / "out", mobility="waypoint")
    execute(plan, CastaliaFactory())
    moves = Run(plan.folder / "trace.parquet").rows("move")
    for node, (left, bottom, right, top) in enumerate(BOXES):
        words = moves[moves["node"] == node]["detail"].str.split()
        places = np.array([[float(word) for word in row[:2]] for row in words])
        assert len(places) > 3
        assert (places >= (left - 0.01, bottom - 0.01)).all()
        assert (places <= (right + 0.01, top + 0.01)).all()


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (
            {"groups": "3 in 0,0"},
            "groups: '3 in 0,0' is no group such as 10-at-0-0-20x20: NUMBER-at-X-Y-WIDTHxHEIGHT in metres",
        ),
        ({"groups": "7-at-0-0-10x10"}, "groups: 7-at-0-0-10x10: that makes 7 nodes, and there are 6"),
        ({"groups": "2-at-50-0-20x10"}, "groups: 2-at-50-0-20x10: a group has .* an area within the 60 m of the field"),
        ({"groups": "0-at-0-0-10x10"}, "a group has a node at least"),
        ({"mobility": "waypoint", "start": "steady"}, "groups have areas of their own, in which nodes start uniformly"),
    ],
)
def test_groups_that_cannot_be(settings: dict[str, Scalar], problem: str, tmp_path: Path) -> None:
    """Each is named, before anything is run."""
    with pytest.raises(UserError, match=problem):
        plan_of(tmp_path / "out", **settings)


def test_groups_are_an_axis() -> None:
    """Their text can stand in a list of values, and names a folder."""
    sweep = sweep_of("roambus sweep", find_template("field"), AgentChoice("beacon", "beacon"), {"groups": [GROUPS]})
    assert [list(axis.values) for axis in sweep.axes] == [[GROUPS]]
