"""Runs with a simulator that are hit at some moment: a process killed or frozen, the socket closed, Ctrl-C.

Each is a real `roambus run` in processes of its own. Host and simulator must both end in time, the survivor with the
right exit code and message, and no process, socket or unfinished result may be left.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from benchmarks.trials.harness import PROMISED, Outcome
from benchmarks.trials.kills import is_before_main
from benchmarks.trials.processes import cut_connections, describe, wait_for
from roambus.bridge.backends.castalia.simulators import START_DEADLINES
from roambus.bridge.runs.layout import FAILED_FILE
from roambus.bridge.system.errors import BackendError, InterruptionError
from tests.support.simulated_runs import (
    LONGEST_RUN_S,
    Stage,
    Trial,
    unfinished,
)

WENT_ON = "went on whole"
"""The blow hit nothing that the run still needed; its results are whole."""
FINISHED = "finished before"
AT_ONCE = "at once"
SECONDS = 200
"""How long the runs are, in simulated time: about as long as they take to start, in wall time."""
SWEPT = 42
"""So many of the runs, of all kinds in turns, are in the sweep that follows the trials."""
LAST_CHARACTERS = 900
"""Of the outputs of a run that broke its promise."""
ALLOWANCE_S = 3.0
"""On top of a kind's deadlines: for starting, cleaning up and ending on a machine that has other things to do."""
ADOPTED_S = 1.0
"""How long it may take until a process that has ended is known to have."""

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


Strike = Callable[[Trial], float | None]
"""Deals the blow and returns when; None if the run had ended before there was anything to hit."""
Judge = Callable[[Trial], list[str]]
"""What is wrong with the end of a run that was hit before its trace was written."""


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
        if trial.simulator is None and (trial.host.returncode == -number or is_before_main(trial.errors())):
            return complaints
        if trial.host.returncode != InterruptionError.exit_code or not re.fullmatch(
            INTERRUPTED, trial.errors().strip()
        ):
            complaints.append(f"exit code {trial.host.returncode}, not {InterruptionError.exit_code} and one message")
        return complaints

    return judge


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


# Trials


def conduct(kind: Kind, stage: Stage, seed: int, moment_s: float, subject: str = "stand-in") -> Outcome:
    """A run, hit once; nothing of it is left."""
    with Trial(stage, seed) as trial:
        struck = kind.strike(trial) if trial.wait_until(moment_s) else None
        late = trial.has_trace()
        wait_for(lambda: not trial.left(), LONGEST_RUN_S)
        took = 0.0 if struck is None else time.monotonic() - struck
        complaints = [*trial.complaints, *_still_there(trial, kind)]
        end = FINISHED if struck is None or late else _judge(trial, kind, took, complaints)
        if end != PROMISED and not (late or (trial.host.returncode == 0 and trial.has_trace())):
            complaints.append(f"exit code {trial.host.returncode} without a whole trace")
        said = f"seed {seed}, hit at {moment_s:.3f} s\n{_said(trial)}" if complaints else ""
        felt = end == PROMISED or bool(complaints)
        return Outcome(subject, kind.name, end, complaints, said, took if end == PROMISED else 0.0, felt)


def _judge(trial: Trial, kind: Kind, took: float, complaints: list[str]) -> str:
    """Of a run that was hit before its trace was written; adds to the complaints."""
    if trial.host.returncode == 0 and kind.may_go_on:
        return WENT_ON
    started = "before the start" not in trial.errors()
    limit = kind.limit_s(trial.stage.deadline_s, started=started)
    if took > limit:
        complaints.append(f"took {took:.1f} s, more than {limit:g} s")
    if trial.has_trace():
        complaints.append("a run that failed has a trace")
    complaints += kind.judge(trial)
    return PROMISED


def _still_there(trial: Trial, kind: Kind) -> list[str]:
    """Processes, sockets and files that should not be there any more."""
    complaints = [f"process {describe(process)} is left" for process in trial.left()]
    if kind.host_cleans_up:
        complaints += [f"{path} is left" for path in unfinished(trial.folder)]
    if not kind.host_cleans_up and trial.simulator is None:
        trial.stage.abandoned.update(trial.sockets())
    return complaints + [f"{path} is left" for path in trial.sockets()]


def _said(trial: Trial) -> str:
    outputs = (("host", trial.errors()), ("simulator", trial.log()))
    return "\n".join(f"the {who} said: ...{text[-LAST_CHARACTERS:].strip()}" for who, text in outputs)
