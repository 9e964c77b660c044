"""A parameter of agents is an axis like any other, and is not multiplied for agents that lack it."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.runs.layout import axes_of, count_runs
from roambus.bridge.system.errors import UserError
from roambus.experiments.sweeps.request_file import describe
from roambus.experiments.sweeps.runner import render_point
from roambus.experiments.sweeps.selection import override, with_agents, with_parameters
from roambus.experiments.sweeps.sweep import Sweep, count_points, expand
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.spark.aggregation.traces import run_places

SWEEP = """
template = "field"
seeds = 2
[axes]
speed = [4, 2]
{axis}
[agents]
gossip = {{}}
flooding = {{}}
"""


def write(folder: Path, axis: str) -> Sweep:
    (folder / "mine.toml").write_text(SWEEP.format(axis=axis))
    return read_sweep(str(folder / "mine.toml"))


def test_agents_that_lack_it_run_once(tmp_path: Path) -> None:
    """At a value of its own, so that their runs are not taken for those of another value."""
    sweep = write(tmp_path, "agent.counter_threshold = [2, 4]")
    names = [point.name for point in expand(sweep) if point.seed == 0]
    assert sorted(names) == [
        "agent=flooding/speed=2/counter_threshold=-",
        "agent=flooding/speed=4/counter_threshold=-",
        "agent=gossip/speed=2/counter_threshold=2",
        "agent=gossip/speed=2/counter_threshold=4",
        "agent=gossip/speed=4/counter_threshold=2",
        "agent=gossip/speed=4/counter_threshold=4",
    ]
    assert count_points(sweep) == len(expand(sweep)) == 12


def test_a_sweep_can_be_narrowed_to_agents_that_lack_it(tmp_path: Path) -> None:
    """Their runs are the same ones as in the whole sweep."""
    whole = write(tmp_path, "agent.counter_threshold = [2, 4]")
    narrowed = with_parameters(override(whole, {"agent": "flooding"}), {})
    assert expand(narrowed) == [point for point in expand(whole) if point.agent.label == "flooding"]


def test_the_value_reaches_the_agent(tmp_path: Path) -> None:
    """It is set beside the agent's other parameters."""
    sweep = with_agents(write(tmp_path, "agent.counter_threshold = [2]\nagent.memory = [7]"), "gossip")
    (point, *_) = expand(with_parameters(sweep, {"counter_threshold": "4"}))
    assert 'agentParameters = "counter_threshold=4 memory=7"' in render_point(sweep.template, point)


def test_the_results_say_which_runs_there_are_to_be(tmp_path: Path) -> None:
    """What counts runs, and what looks for missing ones, asks for no other."""
    sweep = write(tmp_path, "gossip.counter_threshold = [2, 4]")
    asked = describe(sweep)
    assert asked["parameter_axes"] == {"counter_threshold": ["gossip"]}
    assert axes_of(asked, "flooding") == {"speed": ["4", "2"], "counter_threshold": ["-"]}
    assert count_runs(asked) == 12
    assert sorted(run_places(asked)) == sorted(str(point.place).removeprefix("traces/") for point in expand(sweep))


def test_the_command_line_makes_and_replaces_the_axis(tmp_path: Path) -> None:
    """`--param NAME=V1,V2`, or with the agent's name."""
    sweep = override(write(tmp_path, "agent.counter_threshold = [2]"), {"speed": "2"}, seeds=1)
    changed = with_parameters(sweep, {"gossip.counter_threshold": "3,5", "memory": "9"})
    gossip = [dict(point.agent.parameters) for point in expand(changed) if point.agent.label == "gossip"]
    assert gossip == [{"counter_threshold": "3", "memory": "9"}, {"counter_threshold": "5", "memory": "9"}]
    assert [point.agent.parameters for point in expand(changed) if point.agent.label == "flooding"] == [
        (("memory", "9"),)
    ]


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        (
            "counter_threshold = [2]",
            r"unknown variable .* a parameter of agents is an axis as agent\.counter_threshold",
        ),
        ("agent.counter_treshold = [2]", r"axes\.agent\.counter_treshold: unknown parameter.*counter_threshold"),
        ("flooding.counter_threshold = [2]", r"axes\.flooding\.counter_threshold: unknown parameter"),
        ("mft.memory = [2]", r"axes\.mft\.memory: unknown agent 'mft'"),
        ("agent.memory = [2]\ngossip.memory = [3]", r"there is another axis memory"),
        ("agent.memory = [2]\nagent.ttl = 3", r"axes\.agent\.ttl: give a list of values"),
    ],
)
def test_what_is_no_parameter_is_refused(tmp_path: Path, axis: str, message: str) -> None:
    """With the key, and the way to an axis of a parameter."""
    with pytest.raises(UserError, match=message):
        write(tmp_path, axis)
