"""Runs with a simulator in processes of their own, into results that trials share; sweeps over them, many at once."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.trials.processes import (
    ROAMBUS,
    Command,
    all_linked,
    describe,
    install_stand_in,
    program,
    status_of_orphan,
    surroundings,
    wait_for,
)
from roambus.bridge.backends.castalia.installation import find_installation
from roambus.bridge.runs.layout import SIMULATOR_FOLDER, SIMULATOR_LOG, TRACE_FILE
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.private_folder import BRIDGE, prefix_of

TEMPLATE, AGENT, NODES = "thesis", "mft", 6
"""With the values that the template has by itself, a run of six nodes."""
LONGEST_RUN_S = 60.0
"""No trial is waited for longer than this."""
_INTERPRETER = os.path.realpath(ROAMBUS[0])


@dataclass(frozen=True, slots=True)
class Stage:
    """What all trials share: each is a run with a seed of its own, in the same results."""

    folder: Path
    environment: dict[str, str]
    deadline_s: float
    seconds: int
    """How long the runs are, in simulated time."""
    backend: str = "castalia"
    abandoned: set[Path] = field(default_factory=set)
    """Private folders of hosts that were killed before they had a simulator: the next host but one removes them."""

    @property
    def results(self) -> Path:
        """The folder of all results."""
        return self.folder / "results"

    @property
    def temporary(self) -> Path:
        """Where hosts make their private folders."""
        return self.folder / "tmp"

    @property
    def settings(self) -> dict[str, int]:
        """What the runs set of the template."""
        return {"publish_until": self.seconds * 2 // 3, "time_limit": self.seconds}

    def place(self, seed: int) -> Path:
        """The folder of one run."""
        settings = [f"{name}={value}" for name, value in self.settings.items()]
        return self.results.joinpath("traces", f"agent={AGENT}", *settings, f"seed={seed}")

    def words(self, seed: int) -> list[str]:
        """The command of one run."""
        settings = [word for name, value in self.settings.items() for word in ("--set", f"{name}={value}")]
        options = ["--backend", self.backend, "--deadline", f"{self.deadline_s:g}", "--out", str(self.results)]
        return ["run", TEMPLATE, "--agent", AGENT, "--seed", str(seed), *settings, *options]

    def surroundings(self, mark: str) -> dict[str, str]:
        """The environment of our process, and of its children."""
        return surroundings(mark, self.temporary, self.environment)


def set_stage(folder: Path, simulator: str, deadline_s: float, seconds: int) -> Stage:
    """Makes the folders; raises UserError if the simulator is not there."""
    environment: dict[str, str] = {}
    if simulator == "stand-in":
        environment = install_stand_in(folder / "stand-in", all_linked(NODES, seconds))
    else:
        find_installation()
    stage = Stage(folder, environment, deadline_s, seconds)
    stage.temporary.mkdir(parents=True)
    return stage


class Trial(Command):
    """A run, and what can be seen of it and of its simulator."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self.stage = stage
        self.folder = stage.place(seed)
        self.complaints: list[str] = []
        self.simulator: int | None = None
        """The process that `find_simulator` has found."""
        self.simulator_status: int | None = None
        place = stage.folder / f"run-{seed}"
        super().__init__(stage.words(seed), place, temporary=stage.temporary, environment=stage.environment)

    def wait_until(self, moment_s: float) -> bool:
        """Waits until so long after the start; whether the host still runs then."""
        time.sleep(max(0.0, self.started + moment_s - time.monotonic()))
        return self.host.poll() is None

    def wait_for_simulator(self) -> int | None:
        """Waits until there is one; None if the host ends before."""
        wait_for(lambda: self.find_simulator() is not None or self.host.poll() is not None, LONGEST_RUN_S)
        return self.simulator

    def find_simulator(self) -> int | None:
        """The one that there is now."""
        others = [process for process in self.live() if process != self.host.pid]
        self.simulator = next((process for process in others if program(process) not in {None, _INTERPRETER}), None)
        return self.simulator

    def hosts(self) -> list[int]:
        """The command and the process that it has forked for the run, in which the host is."""
        return [process for process in self.live() if program(process) == _INTERPRETER]

    def left(self) -> list[int]:
        """Its live processes; how the others have ended is taken note of."""
        live = self.live()
        if self.host.pid not in live:
            self.host.wait()
        if self.simulator is not None and self.simulator not in live and self.simulator_status is None:
            self.simulator_status = status_of_orphan(self.simulator)
        return live

    def log(self) -> str:
        """What the simulator has printed; empty if there is no such file."""
        with suppress(FileNotFoundError):
            return (self.folder / SIMULATOR_LOG).read_text(encoding="utf-8", errors="replace")
        return ""

    def has_trace(self) -> bool:
        """Whether the run's trace is there."""
        return (self.folder / TRACE_FILE).is_file()

    def sockets(self) -> set[Path]:
        """Private folders of hosts that are there, and were not abandoned by an earlier one."""
        return set(self.stage.temporary.glob(f"{prefix_of(BRIDGE)}*")) - self.stage.abandoned


def unfinished(folder: Path) -> list[Path]:
    """Files that no ended run may leave in its folder."""
    return [*folder.glob(SIMULATOR_FOLDER), *folder.glob(f".{TRACE_FILE}*")]


def undisturbed_s(stage: Stage, seed: int) -> float:
    """How long a run takes, wall time; raises UserError if it fails."""
    with Trial(stage, seed) as trial:
        trial.host.wait()
        if trial.host.returncode != 0:
            raise UserError(f"a run that nothing disturbs fails: {trial.errors().strip()}")
        return time.monotonic() - trial.started


def sweep_command(stage: Stage, runs: int) -> list[str]:
    """How the runs with seeds below `runs` are swept into the stage's results."""
    file = stage.folder / "trials.toml"
    axes = "".join(f"{name} = [{value}]\n" for name, value in stage.settings.items())
    file.write_text(
        f'template = "{TEMPLATE}"\nseeds = {runs}\n[axes]\n{axes}[agents]\n{AGENT} = {{}}\n', encoding="utf-8"
    )
    return [*ROAMBUS, "sweep", str(file), "--backend", stage.backend, "--retry-failed", "--out", str(stage.results)]


def sweep(stage: Stage, runs: int, *options: str) -> list[str]:
    """Sweeps them to the end; returns what is wrong then, nothing if all is well."""
    command = [*sweep_command(stage, runs), *options]
    done = subprocess.run(command, env=stage.surroundings("sweep"), capture_output=True, text=True, check=False)
    complaints = [] if done.returncode == 0 else [f"the sweep ends with {done.returncode}: {done.stderr.strip()}"]
    return complaints + what_is_wrong(stage, runs)


def what_is_wrong(stage: Stage, runs: int) -> list[str]:
    """With the runs when all should be complete: traces that are missing, files that are left."""
    folders = [stage.place(seed) for seed in range(runs)]
    complaints = [f"{folder} has no trace" for folder in folders if not (folder / TRACE_FILE).is_file()]
    left = [path for folder in folders for path in unfinished(folder)]
    return complaints + [f"{path} is left" for path in (*left, *stage.temporary.glob(f"{prefix_of(BRIDGE)}*"))]


def run_at_once(stage: Stage, alone: Stage, runs: int) -> list[str]:
    """Starts the runs with seeds below `runs` together; what is wrong, and what differs from those made alone."""
    complaints = []
    with ExitStack() as stack:
        for trial in [stack.enter_context(Trial(stage, seed)) for seed in range(runs)]:
            if trial.host.wait() != 0:
                complaints.append(f"exit code {trial.host.returncode}: {trial.errors().strip()}")
            complaints += [f"{describe(process)} is left" for process in trial.left()]
    different = [seed for seed in range(runs) if _trace(stage, seed) != _trace(alone, seed)]
    return [*complaints, *what_is_wrong(stage, runs), *(f"seed {seed}: not the trace made alone" for seed in different)]


def run_alone(stage: Stage, runs: int) -> tuple[Stage, list[str]]:
    """The same runs one after the other, in a folder of their own; what is wrong with them."""
    alone = replace(stage, folder=stage.folder / "alone", abandoned=set())
    alone.temporary.mkdir(parents=True)
    return alone, sweep(alone, runs, "--workers", "1")


def _trace(stage: Stage, seed: int) -> bytes:
    file = stage.place(seed) / TRACE_FILE
    return file.read_bytes() if file.is_file() else b""
