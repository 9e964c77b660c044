"""Makes the runs of sweeps for commands, shows the progress, and says which of them failed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.bridge.errors import InterruptionError, UserError

if TYPE_CHECKING:
    from roambus.bridge.backends.factory import BackendFactory
    from roambus.experiments.sweeps.runner import Crew
    from roambus.experiments.sweeps.sweep import Sweep

EXIT_FAILED_RUNS = 1


def run_sweep(
    sweep: Sweep, out: Path, crew: Crew, level: str, retry_failed: bool, backend: BackendFactory, *, check: bool = False
) -> list[str]:
    """Makes all runs of a sweep, showing the progress; returns a line for each run that failed.

    With `check`, all messages are compared with their bytes.
    """
    from rich.console import Console
    from rich.progress import track

    from roambus.bridge.trace.writer import TraceLevel
    from roambus.experiments.sweeps.description import opened_results
    from roambus.experiments.sweeps.progress import Progress
    from roambus.experiments.sweeps.runner import plan_runs, run_plans

    console = Console(stderr=True)
    watched = partial(track, description="planning", console=console, transient=True, disable=not console.is_terminal)
    plans = [replace(plan, check=check) for plan in plan_runs(sweep, out, TraceLevel(level), watched)]
    try:
        with opened_results(sweep, out):
            summary = run_plans(plans, backend, crew, retry_failed, Progress(console))
    except KeyboardInterrupt:
        raise InterruptionError(f"interrupted; the same command goes on with what is missing in {out}") from None
    click.echo(f"{out}: runs done {summary.complete}, already there {summary.skipped}, failed {len(summary.failures)}")
    return [f"{place}: {error}" for place, error in summary.failures]


def make_crew(workers: int, spark: str | None) -> Crew:
    """Returns what makes the runs: processes of this machine, or the executors of a Spark cluster."""
    if spark is None:
        from roambus.experiments.sweeps.workers import Processes

        _check_workers(workers)
        return Processes(workers)
    from roambus.experiments.sweeps.cluster.crew import Cluster

    return Cluster(spark, lambda line: click.echo(line, err=True))


def _check_workers(workers: int) -> None:
    from roambus.bridge.limits import WORKERS

    try:
        WORKERS.check(workers)
    except ValueError as error:
        raise UserError(f"--workers: {error}") from None


def report_problems(problems: Sequence[str]) -> None:
    """Says what is wrong with single runs, once everything else is done, and ends the command."""
    for problem in problems:
        click.echo(f"  {problem}", err=True)
    if problems:
        sys.exit(EXIT_FAILED_RUNS)
