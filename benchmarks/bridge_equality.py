"""Checks that batching and lookahead change nothing: compares whole traces of all our agents.

python -m benchmarks.bridge_equality
python -m benchmarks.bridge_equality --simulator stand-in --agent caching --agent phoenix

Each agent runs without batching and lookahead, with either, with both, and with both over a plain socket. The traces
must be equal, row by row. Castalia is found through OMNETPP_ROOT and CASTALIA_ROOT; the stand-in must be built.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from benchmarks.trials.processes import STAND_IN, all_linked
from roambus.bridge.agents import load_agent
from roambus.bridge.backends.castalia.backend import DEADLINE_S, CastaliaBackend
from roambus.bridge.backends.castalia.installation import Program, find_installation
from roambus.bridge.backends.castalia.simulators import StartedSimulator
from roambus.bridge.formats.ini import read_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.runs.layout import INI_FILE
from roambus.bridge.runs.run import write_inputs
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import RoambusError
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep, plain_axis
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.simtime import SECOND

SECONDS = 10
DELAYS = ("0s", "1ms")


class Way(NamedTuple):
    """How a run is made over the bridge."""

    batching: bool
    lookahead: bool

    def __str__(self) -> str:
        savings = [name for name, on in (("batching", self.batching), ("lookahead", self.lookahead)) if on]
        return " and ".join(savings) or "nothing saved"


PLAIN = Way(batching=False, lookahead=False)
WAYS = (
    Way(batching=True, lookahead=False),
    Way(batching=False, lookahead=True),
    Way(batching=True, lookahead=True),
)


class Case(NamedTuple):
    """An agent and what it runs in."""

    agent: str
    parameters: tuple[tuple[str, str], ...]
    template: str
    settings: dict[str, Scalar]


THESIS: dict[str, Scalar] = {"brokers": 4, "subscribers": 4, "side": 45, "publish_until": SECONDS - 3}
BROKERS = ("simple", "resubscribing", "phoenix", "first-approach", "mft", "caching")
CASES = (
    *(Case(agent, (), "thesis", THESIS) for agent in ("beacon", "flooding", "gossip", "aodv", *BROKERS)),
    Case("skip-ring", (("supervisor", "6"),), "thesis", THESIS),
    Case("replicated", (), "replicated", {"sites": 3, "publish_until": 4}),
)


def write_run(folder: Path, case: Case, delay: str) -> Scenario:
    """The ini of a run and its files."""
    axes = tuple(plain_axis(name, [value]) for name, value in {**case.settings, "time_limit": SECONDS}.items())
    choice = AgentChoice(case.agent, case.agent, case.parameters)
    (plan,) = plan_runs(Sweep("equality", find_template(case.template), (choice,), axes), folder)
    write_inputs(plan, folder)
    with (folder / INI_FILE).open("a", encoding="utf-8") as ini:
        ini.write(f"SN.node[*].Application.processingDelay = {delay}\n")
    return read_scenario(folder / INI_FILE)


def program_of(simulator: str, folder: Path, scenario: Scenario) -> Program:
    """Castalia, or the stand-in with links between all nodes."""
    if simulator == "castalia":
        return find_installation().program()
    lines = [*all_linked(len(scenario.nodes), scenario.time_limit // SECOND), f"seed {scenario.seed}"]
    lines += [f"processing_delay {scenario.processing_delay}"]
    (folder / "links").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Program((str(STAND_IN), "links"))


def trace_of(folder: Path, case: Case, scenario: Scenario, program: Program, way: Way) -> tuple[pa.Table, int]:
    """The whole trace of a run, and its exchanges."""
    agent = load_agent(case.agent)
    simulator = StartedSimulator(folder, program, DEADLINE_S)
    saving = {"batching": way.batching, "lookahead": way.lookahead}
    backend = CastaliaBackend(scenario, agent.messages, simulator, **saving)
    trace = TraceWriter(TraceLevel.FULL)
    Host(scenario, agent, backend, trace).run()
    return trace.table(), backend.round_trips


def compare(simulator: str, case: Case, delay: str, ways: Sequence[Way] = WAYS) -> bool:
    """Prints a row; returns whether all traces are equal."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scenario = write_run(folder, case, delay)
        program = program_of(simulator, folder, scenario)
        plain, most = trace_of(folder, case, scenario, program, PLAIN)
        made = [trace_of(folder, case, scenario, program, way) for way in ways]
    equal = all(trace.equals(plain) for trace, _ in made)
    exchanges = " | ".join(str(count) for _, count in made)
    verdict = "equal" if equal else "**different**"
    print(f"| {simulator} | {case.agent} | {delay} | {plain.num_rows} | {most} | {exchanges} | {verdict} |", flush=True)
    return equal


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table; 0 if all traces are equal, 1 if not, 2 without a simulator."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulator", choices=("castalia", "stand-in"), action="append", help="default: both")
    parser.add_argument("--agent", choices=[case.agent for case in CASES], action="append", help="default: all")
    parser.add_argument("--delay", choices=DELAYS, action="append", help="default: both")
    asked = parser.parse_args(arguments)
    print(f"| simulator | agent | delay | rows | {PLAIN} | {' | '.join(map(str, WAYS))} | traces |")
    print("|---" * (6 + len(WAYS)) + "|")
    cases = [case for case in CASES if case.agent in (asked.agent or [case.agent])]
    try:
        equal = [
            compare(simulator, case, delay)
            for simulator in asked.simulator or ("stand-in", "castalia")
            for case in cases
            for delay in asked.delay or DELAYS
        ]
    except RoambusError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return int(not all(equal))


if __name__ == "__main__":
    sys.exit(main())
