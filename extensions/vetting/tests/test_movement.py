"""Agents that move their nodes are vetted on a field; all others run as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.agents import load_agent
from roambus.bridge.mobility.static import Static
from roambus.bridge.mobility.steered import Steered
from roambus.extensions.vetting.isolation import play_isolated
from roambus.extensions.vetting.movement import let_move
from roambus.extensions.vetting.scenes import SCENES, Job, Scene, play
from roambus.extensions.vetting.watching import Calls
from roambus.extensions.vetting.workload import NETWORKS, distances, scenario_of

AGENT = """\
from roambus import BROADCAST, U32, Agent, Arrived, Message, Started, on

class Here(Message, tag=1):
    times: U32

class Patrol(Agent):
    @on(Started, Arrived)
    def turn(self, event, now):
        self.go_to(self.random.uniform(0, {farthest}), 50, speed=10)
        self.send(BROADCAST, Here(now // 1000000000))

    @on(Here)
    def hear(self, here, sender, now):
        self.note("here", peer=sender)
"""


def patrol(folder: Path, farthest: int) -> str:
    file = folder / "patrol.py"
    file.write_text(AGENT.format(farthest=farthest))
    return str(file)


@pytest.mark.parametrize("scene", SCENES[:2], ids=lambda scene: scene.name)
@pytest.mark.parametrize(("farthest", "problems"), [(200, 0), (9000, 1)])
def test_an_agent_that_moves_is_vetted_on_a_field(scene: Scene, farthest: int, problems: int, tmp_path: Path) -> None:
    """Movement is no mistake, and a place outside the field is one."""
    agent = patrol(tmp_path, farthest)
    job, agent_class, calls = Job(agent, "", tmp_path), load_agent(agent), Calls()
    play_isolated(job.isolated(), scene, agent_class, calls)
    found = list(play(job, scene, agent_class, calls))
    assert len(found) == problems
    assert all("out of the field" in str(finding) for finding in found)


def test_links_that_deliveries_are_judged_by_stay_as_they_are(tmp_path: Path) -> None:
    """Wherever the nodes go."""
    agent_class = load_agent(patrol(tmp_path, 200))
    for network in NETWORKS:
        scenario = scenario_of(Job("flooding", "", tmp_path), network, (), 1)
        moving = let_move(scenario, agent_class)
        assert distances(moving) == distances(scenario)
        assert moving.ideal.range_m == 0
        assert all(isinstance(node.mobility, Steered) for node in moving.nodes)


def test_an_agent_that_does_not_move_runs_as_it_did(tmp_path: Path) -> None:
    """Its nodes stay, and its field is as small as before."""
    scenario = Job("mft", "", tmp_path).scenario(SCENES[0])
    assert let_move(scenario, load_agent("mft")) is scenario
    assert all(isinstance(node.mobility, Static) for node in scenario.nodes)
