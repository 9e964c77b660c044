"""The kinds of blows, and what was promised for each: how soon everything ends, with which exit code and message."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from benchmarks.failures.processes import cut_connections, wait_for
from benchmarks.failures.trial import LONGEST_RUN_S, Trial
from roambus.bridge.backends.castalia.simulators import START_DEADLINES
from roambus.bridge.errors import BackendError, InterruptionError
from roambus.bridge.runs.layout import FAILED_FILE

ALLOWANCE_S = 3.0
"""On top of a kind's deadlines: for starting, cleaning up and ending on a machine that has other things to do."""

ADOPTED_S = 1.0
"""How long it may take until a process that has ended is known to have."""

Strike = Callable[[Trial], float | None]
"""Deals the blow and returns when; None if the run had ended before there was anything to hit."""
Judge = Callable[[Trial], list[str]]
"""What is wrong with the end of a run that was hit before its trace was written."""

PLACE = r"error: run \S+seed=\d+, (before the start|after simulation time [\d.]+\w+|after the end of the run): "
SIMULATOR_SAW = (
    "the host at .* is gone",
    "the host at .* is alive, but has not answered",
    "the host at .* is frozen, or at work for longer",
    "cannot send to the host at",
    "no host listens at",
    "cannot read .*/session",
    "what listens at .* is no host of this session",
)
INTERRUPTED = r"error: interrupted(: agent [^\n]+)?"
"""Where a handler was running, the message says which."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One way in which a run can be hit."""

    name: str
    strike: Strike
    judge: Judge
    deadlines: int = 1
    """How many deadlines everything may take to end, beside ALLOWANCE_S."""
    deadlines_at_start: int = 1
    """The same for a run whose simulator has not said hello."""
    may_go_on: bool = False
    """Whether there are moments at which the blow need not disturb the run."""
    host_cleans_up: bool = True
    """Whether the host lives to remove its files; else the simulator removes the socket, and the next run the rest."""

    def limit_s(self, deadline_s: float, *, started: bool) -> float:
        """Within which time everything must have ended."""
        return (self.deadlines if started else self.deadlines_at_start) * deadline_s + ALLOWANCE_S


# Blows


def to_host(number: signal.Signals) -> Strike:
    """A signal to the host."""

    def strike(trial: Trial) -> float:
        trial.find_simulator()
        trial.host.send_signal(number)
        return time.monotonic()

    return strike


def to_simulator(number: signal.Signals) -> Strike:
    """A signal to the simulator, as soon as there is one."""

    def strike(trial: Trial) -> float | None:
        while (simulator := trial.wait_for_simulator()) is not None:
            with suppress(ProcessLookupError):
                os.kill(simulator, number)
                return time.monotonic()
        return None

    return strike


def freeze_host(trial: Trial) -> float:
    """SIGSTOP for the command, which forks no more then, and for its run; SIGCONT when the simulator has ended."""
    trial.host.send_signal(signal.SIGSTOP)
    hosts = trial.hosts()
    _to_all(hosts, signal.SIGSTOP)
    struck = time.monotonic()
    if trial.find_simulator():
        limit = trial.stage.deadline_s + ALLOWANCE_S
        if not wait_for(lambda: set(trial.left()) <= set(hosts), limit):
            trial.complaints.append(f"the simulator of a frozen host still runs after {limit:g} s")
    _to_all(hosts, signal.SIGCONT)
    return struck


def _to_all(processes: list[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def cut_socket(trial: Trial) -> float | None:
    """Both directions, as soon as there is a connection."""

    def cut_any() -> bool:
        return any(cut_connections(process, trial.stage.temporary) for process in trial.hosts())

    cut = wait_for(lambda: cut_any() or trial.host.poll() is not None, LONGEST_RUN_S)
    return time.monotonic() if cut and trial.host.poll() is None else None


# What was promised


def simulator_gave_up(trial: Trial) -> list[str]:
    """Its host was killed: it ends with an error and says why, unless it had said goodbye before."""
    complaints = [] if trial.host.returncode == -signal.SIGKILL else [f"the host ended with {trial.host.returncode}"]
    wait_for(lambda: trial.left() == [] and trial.simulator_status is not None, ADOPTED_S)
    if trial.simulator is None or trial.simulator_status == 0:
        return complaints
    if trial.simulator_status is None or trial.simulator_status < 0:
        complaints.append(f"the simulator did not end by itself: {trial.simulator_status}")
    if not any(re.search(text, trial.log()) for text in SIMULATOR_SAW):
        complaints.append("the simulator's log does not say why it ended")
    return complaints


def host_names(*causes: str) -> Judge:
    """The host ends with exit code 3; its message names the run, the simulation time, and one of the causes."""

    def judge(trial: Trial) -> list[str]:
        complaints, errors = [], trial.errors()
        if trial.host.returncode != BackendError.exit_code:
            complaints.append(f"exit code {trial.host.returncode}, not {BackendError.exit_code}")
        if not re.search(PLACE + f"({'|'.join(causes)})", errors):
            complaints.append("the message does not name run, simulation time and cause")
        if not re.search(r"its log (ends:\n|is empty)", errors):
            complaints.append("the message does not show how the simulator's log ends")
        if not (trial.folder / FAILED_FILE).is_file():
            complaints.append(f"there is no file {FAILED_FILE}")
        return complaints

    return judge


def interrupted_by(number: signal.Signals) -> Judge:
    """Exit code 130 and nothing of the run left; before there is a command line, what the signal does by itself."""

    def judge(trial: Trial) -> list[str]:
        complaints = [f"{trial.folder} is left"] if trial.folder.exists() else []
        if trial.simulator is None and (trial.host.returncode == -number or _hit_an_import(trial.errors())):
            return complaints
        if trial.host.returncode != InterruptionError.exit_code or not re.fullmatch(
            INTERRUPTED, trial.errors().strip()
        ):
            complaints.append(f"exit code {trial.host.returncode}, not {InterruptionError.exit_code} and one message")
        return complaints

    return judge


def _hit_an_import(errors: str) -> bool:
    """Whether Ctrl-C came before `main`: Python wraps the exception if it comes while a class is made."""
    return "KeyboardInterrupt" in errors and "in main\n" not in errors


KINDS = (
    Kind("host killed", to_host(signal.SIGKILL), simulator_gave_up, host_cleans_up=False),
    Kind("simulator killed", to_simulator(signal.SIGKILL), host_names("the simulator was killed by SIGKILL")),
    Kind("host frozen", freeze_host, host_names("the simulator ended with exit status 1"), 2, 2, may_go_on=True),
    Kind(
        "simulator frozen",
        to_simulator(signal.SIGSTOP),
        host_names(
            "the connection to the simulator is lost",
            "the simulator did not answer within",
            "no simulator said hello within",
            "the simulator did not end within",
        ),
        deadlines_at_start=START_DEADLINES,
    ),
    Kind(
        "socket closed",
        cut_socket,
        host_names("the connection to the simulator is lost", "the simulator ended with exit status 1"),
        may_go_on=True,
    ),
    Kind("Ctrl-C", to_host(signal.SIGINT), interrupted_by(signal.SIGINT)),
    Kind("SIGTERM", to_host(signal.SIGTERM), interrupted_by(signal.SIGTERM)),
)
