"""Agents that misbehave, tried in runs, in sweeps beside an agent that behaves, and by `roambus vet`.

python -m benchmarks.misbehaving_agents [NAME ...]

A table says how many agents of each kind were tried, and how many came out as promised; below it is what did not. With
names, only agents whose name contains one of them are tried. The exit code is 1 if anything is not as promised.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

from benchmarks.misbehaving.catalogue import Misbehaving
from benchmarks.misbehaving.chance import CHANCE
from benchmarks.misbehaving.messages import MESSAGES
from benchmarks.misbehaving.processes import PROCESSES
from benchmarks.misbehaving.trials import TOGETHER, neighbour_traces, roambus, try_in_run, try_in_sweep, write
from benchmarks.misbehaving.values import VALUES
from roambus.bridge.agents.registry import load_agent
from roambus.bridge.errors import UserError
from roambus.bridge.host.agents import make_agents
from roambus.bridge.trace.writer import TraceWriter
from roambus.python_protocol.roles import Role
from tests.support.scenarios import scenario

KINDS = {"wrong values": VALUES, "messages": MESSAGES, "the process": PROCESSES}
Complaints = dict[str, list[str]]
"""What is not as promised of each agent, by its name."""


def try_in_runs(agents: Sequence[Misbehaving]) -> Complaints:
    """Each alone."""
    found = {}
    for agent in agents:
        with tempfile.TemporaryDirectory() as folder:
            found[agent.name] = try_in_run(agent, Path(folder))
    return found


def try_in_sweeps(agents: Sequence[Misbehaving]) -> Complaints:
    """Several together beside one that behaves; those that a sweep refuses before it begins, each alone."""
    with tempfile.TemporaryDirectory() as folder:
        neighbour = neighbour_traces(Path(folder))
    begun = [agent for agent in agents if not is_refused(agent)]
    groups = [begun[start : start + TOGETHER] for start in range(0, len(begun), TOGETHER)]
    found: Complaints = {}
    for group in (*groups, *([agent] for agent in agents if is_refused(agent))):
        with tempfile.TemporaryDirectory() as folder:
            found |= try_in_sweep(group, Path(folder), neighbour)
    return found


def is_refused(agent: Misbehaving) -> bool:
    """Whether it cannot even be imported or made, which ends a sweep before it begins."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            make_agents(scenario([Role.NONE]), load_agent(str(write(agent, Path(folder), Path(folder)))))
        except UserError:
            return True
    return False


def try_to_vet(agents: Sequence[Misbehaving]) -> Complaints:
    """Each is found, by the right check."""
    found: Complaints = {}
    for agent in agents:
        with tempfile.TemporaryDirectory() as folder:
            write(agent, Path(folder), Path(folder))
            done = roambus(Path(folder), "vet", agent.file)
        found[agent.name] = [] if done.code == 1 else [f"the exit code is {done.code}"]
        if not agent.is_told_by(done.printed):
            found[agent.name].append(f"it finds {done.printed[-600:]!r}, and not {agent.says!r} with {agent.place!r}")
    return found


def outcomes(names: Sequence[str]) -> Iterator[tuple[str, Complaints]]:
    """What came of each kind of agents, and of each way to try them."""
    for kind, agents in KINDS.items():
        yield f"{kind}, in a run", try_in_runs(chosen(agents, names))
        yield f"{kind}, in a sweep", try_in_sweeps(chosen(agents, names))
    yield "found by vet", try_to_vet(chosen(CHANCE, names))


def chosen(agents: Sequence[Misbehaving], names: Sequence[str]) -> list[Misbehaving]:
    """The agents whose name contains one of these; all if there are none."""
    return [agent for agent in agents if not names or any(name in agent.name for name in names)]


def main(names: Sequence[str]) -> int:
    """Tries them all, and prints the table."""
    TraceWriter().table()  # what every run imports is imported once
    console, found = Console(width=200), []
    table = Table("agents", "tried", "as promised", "not", box=MARKDOWN)
    for kind, complaints in outcomes(names):
        wrong = sum(map(bool, complaints.values()))
        table.add_row(kind, str(len(complaints)), str(len(complaints) - wrong), str(wrong))
        print(f"{kind}: {len(complaints)} tried, {wrong} not as promised", file=sys.stderr, flush=True)
        found += [f"{kind}: {name}: {one}" for name, several in complaints.items() for one in several]
    console.print(table)
    for one in found:
        console.print(one, markup=False, highlight=False, soft_wrap=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
