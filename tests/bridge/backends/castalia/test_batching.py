"""Batching and lookahead save round trips, and nothing else can tell that they were on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from roambus.bridge.agents import load_agent
from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.backends.castalia.simulators import StartedSimulator
from roambus.bridge.formats.ini import read_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.runs.layout import INI_FILE
from roambus.bridge.runs.run import write_inputs
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep, plain_axis
from roambus.experiments.templates.template import find_template
from tests.support.omnet import castalia, stand_in

AGENTS = ("beacon", "flooding", "mft", "aodv")
DELAYS = ("0s", "1ms")
DEADLINE_S = 20
SECONDS = 12


def stand_in_program(folder: Path) -> Program:
    """The scripted simulator, with a ring of links and two chords."""
    scenario = read_scenario(folder / INI_FILE)
    nodes = len(scenario.nodes)
    links = [(node, (node + 1) % nodes) for node in range(nodes)] + [(0, 5), (2, 7)]
    lines = [f"nodes {nodes}", f"time_limit {scenario.time_limit}", f"processing_delay {scenario.processing_delay}"]
    (folder / "links").write_text("\n".join([*lines, *(f"link {a} {b}" for a, b in links)]) + "\n")
    return Program((str(stand_in()), "links"))


def castalia_program(_: Path) -> Program:
    return castalia()


def write_run(folder: Path, agent: str, delay: str) -> None:
    """Ten nodes of the thesis' experiment, moving."""
    axes = (plain_axis("time_limit", [SECONDS]), plain_axis("publish_until", [SECONDS - 2]))
    settings = (plain_axis("brokers", [4]), plain_axis("subscribers", [4]), plain_axis("side", [45]))
    sweep = Sweep("test", find_template("thesis"), (AgentChoice(agent, agent),), (*axes, *settings))
    (plan,) = plan_runs(sweep, folder)
    write_inputs(plan, folder)
    with (folder / INI_FILE).open("a") as ini:
        ini.write(f"SN.node[*].Application.processingDelay = {delay}\n")


def run(folder: Path, agent: str, program: Program, *, batching: bool, lookahead: bool) -> tuple[pa.Table, int]:
    """The whole trace, and how many round trips it took."""
    scenario, agent_class = read_scenario(folder / INI_FILE), load_agent(agent)
    simulator = StartedSimulator(folder, program, DEADLINE_S)
    backend = CastaliaBackend(scenario, agent_class.messages, simulator, batching=batching, lookahead=lookahead)
    trace = TraceWriter(TraceLevel.FULL)
    Host(scenario, agent_class, backend, trace).run()
    return trace.table(), backend.round_trips


@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(stand_in_program, id="stand-in"),
        pytest.param(castalia_program, id="castalia", marks=pytest.mark.castalia),
    ],
)
def test_traces_are_equal_whatever_saves_round_trips(
    program: Callable[[Path], Program], agent: str, delay: str, tmp_path: Path
) -> None:
    """Every row, in the same order; what differs is the number of round trips."""
    write_run(tmp_path, agent, delay)
    plain, most = run(tmp_path, agent, program(tmp_path), batching=False, lookahead=False)
    assert plain.num_rows > 100
    trips = {"nothing": most}
    for batching, lookahead in ((True, False), (False, True), (True, True)):
        trace, few = run(tmp_path, agent, program(tmp_path), batching=batching, lookahead=lookahead)
        assert trace.equals(plain)
        assert few < most
        trips[" and ".join(["batching"] * batching + ["lookahead"] * lookahead)] = few
    assert trips["batching and lookahead"] < trips["batching"]
    print(f"{agent}, processing delay {delay}: round trips with {trips}")  # noqa: T201  # pytest -s
