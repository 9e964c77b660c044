"""Any agent can be put into any sweep from the command line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roambus.bridge.system.errors import UserError
from roambus.experiments.sweeps.selection import override, same_labels, with_agents
from roambus.experiments.sweeps.sweep import AgentChoice, expand
from roambus.experiments.sweeps.sweep_file import read_sweep

THESIS, BARE = read_sweep("thesis"), read_sweep("thesis-bare")


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("flooding", AgentChoice("flooding", "flooding")),
        ("aodv-thesis", AgentChoice("aodv-thesis", "aodv", (("profile", "thesis"),))),
        ("./some/mine.py", AgentChoice("mine", "./some/mine.py")),
        ("./mine.py:Gossiper", AgentChoice("Gossiper", "./mine.py:Gossiper")),
        ("package.agents:Mine", AgentChoice("Mine", "package.agents:Mine")),
    ],
)
def test_an_agent_is_a_name_a_file_or_one_of_the_sweeps_own(text: str, choice: AgentChoice) -> None:
    """The label can be the name of a folder."""
    (chosen,) = with_agents(THESIS, text).agents
    assert replace(chosen, title="") == choice


def test_a_label_of_the_sweep_that_is_an_agents_name_is_pointed_out() -> None:
    """Whoever compares with "mft" sees that the sweep's own is meant, and how to name the agent itself."""
    (line,) = same_labels(BARE, with_agents(BARE, "mft,flooding"))
    assert line.startswith("--agents mft: the sweep's own mft, which is mft with link_layer=false; roam")
    agent = line.split("; ")[1].split()[0]
    assert with_agents(BARE, agent).agents[0].parameters == ()


def test_several_agents_run_at_every_point_of_the_sweep() -> None:
    """Everything else of the sweep stays."""
    chosen = with_agents(override(THESIS, {"config": "C2", "speed": "2"}, seeds=1), "mft, flooding ,./mine.py")
    assert [str(point.place) for point in expand(chosen)] == [
        f"traces/agent={label}/config=C2/speed=2/seed=0" for label in ("mft", "flooding", "mine")
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", '--agents "": write agents with commas between'),
        ("mft,,aodv", '--agents "mft,,aodv": write agents'),
        ("mft,mft", "--agents: two agents are called mft"),
        ("a/mine.py,b/mine.py", "--agents: two agents are called mine, .* rename a file"),
        ("mft tree=1:0", "--agents: mft tree=1:0: write mft, and --param mft.tree=1:0"),
        ("a/mine.py:Mine rate=2", "--agents: a/mine.py:Mine rate=2: write a/mine.py:Mine, and --param Mine.rate=2"),
    ],
)
def test_what_names_no_agents_is_refused(text: str, message: str) -> None:
    """With the option and the agent."""
    with pytest.raises(UserError, match=message):
        with_agents(THESIS, text)
