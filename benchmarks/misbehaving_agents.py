"""Agents that misbehave, tried in runs, in sweeps beside an agent that behaves, and by `roambus vet`.

python -m benchmarks.misbehaving_agents [NAME ...]

A table says how many agents of each kind were tried, and how many came out as promised; below it is what did not. With
names, only agents whose name contains one of them are tried. The exit code is 1 if anything is not as promised.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.box import MARKDOWN
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.misbehaving.catalogue import Misbehaving
from benchmarks.misbehaving.chance import CHANCE
from benchmarks.misbehaving.messages import MESSAGES
from benchmarks.misbehaving.processes import PROCESSES
from benchmarks.misbehaving.trials import ROAMBUS, neighbour_traces, try_in_run, try_in_sweep, write
from benchmarks.misbehaving.values import VALUES

Try = Callable[[Misbehaving, Path], list[str]]
KINDS = (("wrong values", VALUES), ("messages", MESSAGES), ("the process", PROCESSES))


def try_to_vet(agent: Misbehaving, folder: Path) -> list[str]:
    """What is not as promised when it is vetted."""
    write(agent, folder, folder)
    command = [*ROAMBUS, "vet", agent.file]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    complaints = [] if done.returncode == 1 else [f"the exit code is {done.returncode}: {done.stderr[-300:]}"]
    if not agent.is_told_by(done.stdout):
        complaints.append(f"it finds {done.stdout[-600:]!r}, and not {agent.says!r} with {agent.place!r}")
    return complaints


def trials(names: Sequence[str]) -> list[tuple[str, Misbehaving, Try]]:
    """What is tried: a kind, an agent, and how."""
    with tempfile.TemporaryDirectory() as folder:
        neighbour = neighbour_traces(Path(folder))

    def in_sweep(agent: Misbehaving, folder: Path) -> list[str]:
        return try_in_sweep(agent, folder, neighbour)

    found: list[tuple[str, Misbehaving, Try]] = []
    for kind, agents in KINDS:
        for agent in agents:
            found += [(f"{kind}, in a run", agent, try_in_run), (f"{kind}, in a sweep", agent, in_sweep)]
    found += [("found by vet", agent, try_to_vet) for agent in CHANCE]
    return [one for one in found if not names or any(name in one[1].name for name in names)]


def main(names: Sequence[str]) -> int:
    """Tries them all, and prints the table."""
    console = Console(width=200)
    outcomes: dict[str, list[list[str]]] = {}
    for kind, agent, attempt in track(trials(names), "trials", console=Console(stderr=True)):
        with tempfile.TemporaryDirectory() as folder:
            complaints = [f"{kind}: {agent.name}: {one}" for one in attempt(agent, Path(folder))]
        outcomes.setdefault(kind, []).append(complaints)
    table = Table("agents", "tried", "as promised", "not", box=MARKDOWN)
    for kind, several in outcomes.items():
        wrong = sum(map(bool, several))
        table.add_row(kind, str(len(several)), str(len(several) - wrong), str(wrong))
    console.print(table)
    found = [one for several in outcomes.values() for complaints in several for one in complaints]
    for one in found:
        console.print(one, markup=False, highlight=False, soft_wrap=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
