"""What a user asks for is one object, whichever way it comes, and becomes one sweep."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

from roambus.commands.sweeps import sweep_request
from roambus.experiments.sweeps.request import Request
from roambus.experiments.sweeps.request_file import describe
from roambus.experiments.sweeps.sweep import EVERY_AGENT, expand
from roambus.notebook import Settings, _request


def test_commands_and_python_ask_for_the_same() -> None:
    """Settings with a dot are parameters; several values have commas between."""
    by_command = sweep_request("field", ["nodes=10,20", "speed=2"], "mft,aodv", "3", ["mft.sticky_parent=true"])
    settings: Settings = {"nodes": [10, 20], "speed": 2, "mft.sticky_parent": True}
    by_python = _request("field", ["mft", "aodv"], settings, 3, Path("unused"))
    assert describe(by_command.sweep()) == describe(by_python.sweep())
    assert len(expand(by_command.sweep())) == 2 * 2 * 3


def test_a_template_without_agents_says_which_one_runs() -> None:
    """A sweep of a template has no agents of its own, and beacon delivers nothing that could be compared."""
    remarks: list[str] = []
    assert [agent.label for agent in Request("field", seeds=1, remark=remarks.append).sweep().agents] == ["beacon"]
    assert [remark.partition(":")[0] for remark in remarks] == ["no agent is named"]
    flooding = Request("field", agents="flooding", seeds=1, remark=remarks.append)
    assert [agent.label for agent in flooding.sweep().agents] == ["flooding"]
    assert len(remarks) == 1


def test_a_request_for_a_template_sets_axes_and_parameters() -> None:
    """Each setting is an axis of the template's sweep, and each parameter one of the agents that have it."""
    request = Request("field", {"nodes": "10,20"}, ["mft"], parameters={"sticky_parent": "true"})
    nodes, parameter = request.sweep().axes
    assert (nodes.name, list(nodes.values), nodes.owner) == ("nodes", ["10", "20"], "")
    assert (parameter.name, list(parameter.values), parameter.owner) == ("sticky_parent", ["true"], EVERY_AGENT)


@pytest.mark.parametrize(
    ("own", "asked", "count", "seeds"),
    [
        (range(10, 20), None, 2, [10, 11]),
        (range(10, 20), None, None, [*range(10, 20)]),
        (range(10, 20), "3..4", 2, [3, 4]),
        ([5], None, 2, [0, 1]),
    ],
)
def test_a_small_request_has_the_first_of_a_sweeps_seeds(
    own: Sequence[int], asked: str | None, count: int | None, seeds: list[int]
) -> None:
    """Others would be no part of it. A sweep of too few has those from 0 up."""
    sweep = dataclasses.replace(Request("field", agents=["flooding"]).sweep(), seeds=tuple(own))
    assert list(Request("field", seeds=asked).of(sweep, {}, count).seeds) == seeds


@pytest.mark.parametrize(("name", "stem"), [("thesis", "thesis"), ("a/mine.toml", "mine"), ("a/mine.ini.j2", "mine")])
def test_results_are_named_after_the_sweep_or_template(name: str, stem: str) -> None:
    """Without its folder and suffix."""
    assert Request(name).stem == stem


def test_a_single_run_is_a_sweep_of_one_whose_agent_has_a_name_for_folders() -> None:
    """Its parameters are the agent's own, not axes."""
    sweep = Request("field", {"nodes": "10"}, parameters={"room": "4"}).single("roambus run", "./my agent.py", 7)
    (point,) = expand(sweep)
    assert (point.agent.label, point.agent.parameters, point.seed) == (".-my-agent.py", (("room", "4"),), 7)
    assert [axis.name for axis in sweep.axes] == ["nodes"]
