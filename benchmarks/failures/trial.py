"""One trial: a real `roambus run` with its simulator, what can be seen of it, and nothing of it left afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.failures.processes import MARK, marked, program, status_of_orphan, wait_for
from roambus.bridge.backends.castalia.files import SIMULATOR_FOLDER, SIMULATOR_LOG
from roambus.bridge.process import BRIDGE, prefix_of
from roambus.bridge.runs.layout import TRACE_FILE

ROOT = Path(__file__).resolve().parents[2]
ROAMBUS = (sys.executable, "-c", "import sys; sys.argv[0] = 'roambus'; from roambus.command_line import main; main()")
TEMPLATE, AGENT, NODES = "thesis", "mft", 6
"""With the values that the template has by itself, a run of six nodes."""
_INTERPRETER = os.path.realpath(sys.executable)
LONGEST_RUN_S = 60.0
"""No trial is waited for longer than this."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What all trials share: each is a run with a seed of its own, in the same results."""

    folder: Path
    environment: dict[str, str]
    deadline_s: float
    seconds: int
    """How long the runs are, in simulated time."""
    transport: str = "zeromq"
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

    def command(self, seed: int) -> list[str]:
        """How one run is started."""
        settings = [word for name, value in self.settings.items() for word in ("--set", f"{name}={value}")]
        options = ["--backend", "castalia", "--deadline", f"{self.deadline_s:g}", "--out", str(self.results)]
        options += ["--transport", self.transport]
        return [*ROAMBUS, "run", TEMPLATE, "--agent", AGENT, "--seed", str(seed), *settings, *options]

    def surroundings(self, mark: str) -> dict[str, str]:
        """The environment of a process of ours, and of its children."""
        ours = {MARK: mark, "TMPDIR": str(self.temporary), "PYTHONPATH": str(ROOT)}
        return {**os.environ, **self.environment, **ours}


class Trial:
    """A run in processes of its own. As a context manager it ends all of them."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self.stage = stage
        self.folder = stage.place(seed)
        self.complaints: list[str] = []
        self.simulator: int | None = None
        """The process that `find_simulator` has found."""
        self.simulator_status: int | None = None
        self._mark = uuid.uuid4().hex
        self._errors = stage.folder / f"errors-{seed}"
        self._started = time.monotonic()
        with self._errors.open("wb") as errors:
            self.host = subprocess.Popen(
                stage.command(seed),
                env=stage.surroundings(self._mark),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in marked(self._mark):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.host.wait()

    def wait_until(self, moment_s: float) -> bool:
        """Waits until so long after the start; whether the host still runs then."""
        time.sleep(max(0.0, self._started + moment_s - time.monotonic()))
        return self.host.poll() is None

    def wait_for_simulator(self) -> int | None:
        """Waits until there is one; None if the host ends before."""
        wait_for(lambda: self.find_simulator() is not None or self.host.poll() is not None, LONGEST_RUN_S)
        return self.simulator

    def find_simulator(self) -> int | None:
        """The one that there is now."""
        others = [process for process in marked(self._mark) if process != self.host.pid]
        self.simulator = next((process for process in others if program(process) not in {None, _INTERPRETER}), None)
        return self.simulator

    def hosts(self) -> list[int]:
        """The command and the process that it has forked for the run, in which the host is."""
        return [process for process in marked(self._mark) if program(process) == _INTERPRETER]

    def left(self) -> list[int]:
        """Its live processes; how the others have ended is taken note of."""
        live = marked(self._mark)
        if self.host.pid not in live:
            self.host.wait()
        if self.simulator is not None and self.simulator not in live and self.simulator_status is None:
            self.simulator_status = status_of_orphan(self.simulator)
        return live

    def errors(self) -> str:
        """What the host has printed as errors."""
        return self._errors.read_text(encoding="utf-8", errors="replace")

    def log(self) -> str:
        """What the simulator has printed; empty if there is no such file."""
        with suppress(FileNotFoundError):
            return (self.folder / SIMULATOR_LOG).read_text(encoding="utf-8", errors="replace")
        return ""

    def has_trace(self) -> bool:
        """Whether the run's trace is there."""
        return (self.folder / TRACE_FILE).is_file()

    def leftovers(self) -> list[Path]:
        """Files that no ended run may leave in its folder."""
        return [*self.folder.glob(SIMULATOR_FOLDER), *self.folder.glob(f".{TRACE_FILE}*")]

    def sockets(self) -> set[Path]:
        """Private folders of hosts that are there, and were not abandoned by an earlier one."""
        return set(self.stage.temporary.glob(f"{prefix_of(BRIDGE)}*")) - self.stage.abandoned
