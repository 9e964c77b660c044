"""Many runs at once on one machine: none may disturb another."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from benchmarks.failures.processes import describe
from benchmarks.failures.sweeps import sweep, what_is_wrong
from benchmarks.failures.trial import Stage, Trial
from roambus.bridge.runs.layout import TRACE_FILE


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
