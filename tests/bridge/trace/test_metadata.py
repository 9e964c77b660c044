"""A trace alone says what it is a trace of: agent and template with all values, seed, back-end, version."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from roambus.bridge.backend import BackendFactory, Hello
from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.backends.ideal.backend import IdealFactory
from roambus.bridge.backends.radio.backend import RadioFactory
from roambus.bridge.runs.log import version_of_code
from roambus.bridge.runs.run import Origin, RunPlan, execute, run_key
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import DamagedTraceError, read_about, read_footer, write_trace
from roambus.bridge.trace.schema import LONGEST, RUN_KEY, TRACE_SCHEMA, About
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep, plain_axis
from roambus.experiments.templates.template import find_template
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.baselines import GossipParameters

ABOUT = About("mine", {"ttl": "8"}, {}, "field", {"nodes": 2}, 3, "app", "ideal", "ideal", "roambus 0.1.0")


def planned(results: Path) -> RunPlan:
    """A short run of a template with two settings and a parameter."""
    axes = (plain_axis("nodes", [2]), plain_axis("time_limit", [2]))
    choice = AgentChoice("gossip", "gossip", (("ttl", "5"),))
    (plan,) = plan_runs(Sweep("test", find_template("field"), (choice,), axes, (7,)), results)
    return plan


def trace_of(plan: RunPlan, backend: BackendFactory) -> Path:
    execute(plan, backend)
    return plan.folder / "trace.parquet"


def written(folder: Path, about: About, **others: str) -> Path:
    file = folder / "trace.parquet"
    write_trace(TRACE_SCHEMA.empty_table(), file, {**about.metadata(), **others})
    return file


@pytest.mark.parametrize(
    ("backend", "simulator"), [(IdealFactory(), "ideal"), (RadioFactory(), "embedded radio")], ids=["ideal", "radio"]
)
def test_a_trace_tells_all_that_its_run_was_made_of(tmp_path: Path, backend: BackendFactory, simulator: str) -> None:
    """What was set, and what was not and has its default."""
    plan = planned(tmp_path)
    file = trace_of(plan, backend)
    about = read_about(file)
    assert about is not None
    assert (about.agent, about.parameters["ttl"], about.node_parameters) == ("gossip", "5", {})
    assert about.parameters.keys() == {field.name for field in dataclasses.fields(GossipParameters)}
    assert about.template == "field"
    assert {"nodes": 2, "time_limit": 2}.items() <= about.settings.items()
    assert len(about.settings) > 2
    assert (about.seed, about.level, about.backend, about.simulator) == (7, "app", backend.name, simulator)
    assert about.version == version_of_code()
    assert read_footer(file).metadata[RUN_KEY] == run_key(plan, backend)


@pytest.mark.parametrize("backend", [IdealFactory(), RadioFactory()], ids=["ideal", "radio"])
def test_the_same_run_has_the_same_bytes_in_another_folder(tmp_path: Path, backend: BackendFactory) -> None:
    """Neither time nor place is in them."""
    first, second = (trace_of(planned(tmp_path / name), backend) for name in ("one", "another"))
    assert first.read_bytes() == second.read_bytes()


def test_a_trace_of_an_ini_says_that_there_was_no_template(tmp_path: Path) -> None:
    """It has no settings then."""
    about = read_about(trace_of(replace(planned(tmp_path), origin=Origin()), IdealFactory()))
    assert about is not None
    assert (about.template, about.settings) == ("none: made from an ini", {})


def test_nodes_with_parameters_of_their_own_are_reported(tmp_path: Path) -> None:
    """With the values that differ, and no others."""
    plan = planned(tmp_path)
    line = "SN.node[*].Application.agentParameters = "
    assert line in plan.ini
    ini = plan.ini.replace(line, f'{line.replace("*", "1")}"ttl=9"\n{line}')
    about = read_about(trace_of(replace(plan, ini=ini), IdealFactory()))
    assert about is not None
    assert about.node_parameters == {"1": {"ttl": "9"}}


class _Versioned(IdealBackend):
    def open(self) -> Hello:
        return dataclasses.replace(super().open(), simulator="OMNeT++ 5.7.1, Castalia")


@dataclass(frozen=True)
class _VersionedFactory:
    name: str = "castalia"

    def prepare(self, scenario: Scenario) -> None: ...

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> IdealBackend:
        return _Versioned(len(scenario.nodes), [], scenario.time_limit)


def test_a_simulator_is_recorded_with_its_version(tmp_path: Path) -> None:
    """As it greets the host."""
    about = read_about(trace_of(planned(tmp_path), _VersionedFactory()))
    assert about is not None
    assert (about.backend, about.simulator) == ("castalia", "OMNeT++ 5.7.1, Castalia")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """By one function, from the file alone."""
    assert read_about(written(tmp_path, ABOUT)) == ABOUT


def test_a_value_that_is_too_long_is_left_out(tmp_path: Path) -> None:
    """Its place says so."""
    long = replace(ABOUT, settings={"links": "x" * LONGEST}, agent="y" * (LONGEST + 1))
    about = read_about(written(tmp_path, long))
    assert about is not None
    assert about.settings == {"left out": f"{len(json.dumps(long.settings))} characters"}
    assert about.agent == f"left out: {LONGEST + 1} characters"


def test_a_trace_of_an_earlier_version_says_nothing(tmp_path: Path) -> None:
    """It has its key alone."""
    file = tmp_path / "trace.parquet"
    write_trace(TRACE_SCHEMA.empty_table(), file, {RUN_KEY: "key"})
    assert read_about(file) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("seed", "one"),
        ("seed", "true"),
        ("parameters", "[]"),
        ("settings", "[" * 50_000),
        ("settings", "{"),
        ("agent", "x" * (LONGEST + 1)),
    ],
)
def test_a_strangers_metadata_are_refused(tmp_path: Path, name: str, text: str) -> None:
    """The message names the file, and which of them is wrong."""
    file = written(tmp_path, ABOUT, **{f"roambus.{name}": text})
    with pytest.raises(DamagedTraceError, match=rf"trace.parquet: damaged \(its {name} is "):
        read_about(file)


def test_a_description_has_nothing_that_drives_a_terminal() -> None:
    """Whatever a trace says."""
    text: Any = replace(ABOUT, agent="\x1b[2Jmine\n", settings={}).describe()
    assert text.splitlines() == [
        "'agent \\x1b[2Jmine\\n: ttl = 8'",
        "template field: nothing to set",
        "seed 3, level app, back-end ideal, made by roambus 0.1.0",
    ]
