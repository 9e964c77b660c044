"""Conducts a trial and judges how it ended."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum

from benchmarks.failures.kinds import Kind
from benchmarks.failures.processes import describe, wait_for
from benchmarks.failures.trial import LONGEST_RUN_S, Stage, Trial

LAST_CHARACTERS = 1500
"""Of the outputs of a run that broke its promise."""


class End(Enum):
    """How a trial can end."""

    PROMISED = "as promised"
    WENT_ON = "went on whole"
    """The blow hit nothing that the run still needed; its results are whole."""
    FINISHED = "finished before"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One trial's end; `moment_s` is when it was to be hit, `took_s` from the blow to the end of its last process."""

    kind: str
    seed: int
    moment_s: float
    end: End
    took_s: float = 0.0
    details: str = ""


def conduct(kind: Kind, stage: Stage, seed: int, moment_s: float) -> Outcome:
    """A run, hit once; nothing of it is left."""
    with Trial(stage, seed) as trial:
        struck = kind.strike(trial) if trial.wait_until(moment_s) else None
        late = trial.has_trace()
        wait_for(lambda: not trial.left(), LONGEST_RUN_S)
        took = 0.0 if struck is None else time.monotonic() - struck
        complaints = [*trial.complaints, *_still_there(trial, kind)]
        end = End.FINISHED if struck is None or late else _judge(trial, kind, took, complaints)
        if end is not End.PROMISED and not (late or _is_whole(trial)):
            complaints.append(f"exit code {trial.host.returncode} without a whole trace")
        if complaints:
            return Outcome(kind.name, seed, moment_s, End.BROKEN, took, _details(trial, complaints))
        return Outcome(kind.name, seed, moment_s, end, took)


def _judge(trial: Trial, kind: Kind, took: float, complaints: list[str]) -> End:
    """Of a run that was hit before its trace was written; adds to the complaints."""
    if trial.host.returncode == 0 and kind.may_go_on:
        return End.WENT_ON
    started = "before the start" not in trial.errors()
    limit = kind.limit_s(trial.stage.deadline_s, started=started)
    if took > limit:
        complaints.append(f"took {took:.1f} s, more than {limit:g} s")
    if trial.has_trace():
        complaints.append("a run that failed has a trace")
    complaints += kind.judge(trial)
    return End.PROMISED


def _is_whole(trial: Trial) -> bool:
    return trial.host.returncode == 0 and trial.has_trace()


def _still_there(trial: Trial, kind: Kind) -> list[str]:
    """Processes, sockets and files that should not be there any more."""
    complaints = [f"process {describe(process)} is left" for process in trial.left()]
    if kind.host_cleans_up:
        complaints += [f"{path} is left" for path in trial.leftovers()]
    if not kind.host_cleans_up and trial.simulator is None:
        trial.stage.abandoned.update(trial.sockets())
    return complaints + [f"{path} is left" for path in trial.sockets()]


def _details(trial: Trial, complaints: list[str]) -> str:
    outputs = (("host", trial.errors()), ("simulator", trial.log()))
    said = [f"the {who} said: ...{text[-LAST_CHARACTERS:].strip()}" for who, text in outputs]
    return "\n".join([*complaints, *said])
