"""Makes the runs of sweeps for commands, shows the progress, and says which of them failed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from roambus.bridge.errors import InterruptionError, UserError
from roambus.commands.backend import announce_compilation
from roambus.commands.mirrors import publishing
from roambus.commands.telling import console, detail, progress, remark, summary, telling

if TYPE_CHECKING:
    from roambus.bridge.backends.factory import BackendFactory
    from roambus.experiments.sweeps.job_array import Part
    from roambus.experiments.sweeps.runner import Crew, Summary
    from roambus.experiments.sweeps.sweep import Sweep

EXIT_FAILED_RUNS = 1


class Making(NamedTuple):
    """How the runs of a sweep are made, as options have it; `part` is which of them, all if it is None."""

    level: str = "app"
    retry_failed: bool = False
    check: bool = False
    record: bool = False
    part: Part | None = None


def run_sweep(sweep: Sweep, out: Path, crew: Crew, making: Making, backend: BackendFactory) -> list[str]:
    """Makes the runs of a sweep, showing the progress; returns a line for each run that failed.

    Whoever saw the progress was told of the runs that have failed now.
    """
    from rich.progress import track

    from roambus.bridge.trace.writer import TraceLevel
    from roambus.experiments.sweeps.description import opened_results
    from roambus.experiments.sweeps.runner import plan_runs, run_plans

    shown = console()
    watched = partial(track, description="planning", console=shown, transient=True, disable=not shown.is_terminal)
    detail(f"{out}: planning")
    planned = plan_runs(sweep, out, TraceLevel(making.level), watched)
    chosen = planned if making.part is None else making.part.of_all(planned)
    plans = [replace(plan, check=making.check, record=making.record) for plan in chosen]
    announce_compilation(backend)
    try:
        with opened_results(sweep, out):
            made = run_plans(plans, backend, publishing(crew, out), making.retry_failed, progress())
    except KeyboardInterrupt:
        raise InterruptionError(f"interrupted; the same command goes on with what is missing in {out}") from None
    counts = {"done": made.complete, "already_there": made.skipped, "failed": len(made.failures)}
    words = f"runs done {made.complete}, already there {made.skipped}, failed {len(made.failures)}"
    summary(f"{out}: {words}", sweeps=[{"results": out, **counts}])
    return _failures(made)


def _failures(made: Summary) -> list[str]:
    """A line for each run that failed; those that the progress has told are kept for `report_problems`."""
    if not telling().is_quiet:
        telling().problems |= {f"{place}: {error}" for place, error in made.failures if place not in made.earlier}
    return [f"{place}: {error}" for place, error in made.failures]


def make_crew(workers: int, spark: str | None) -> Crew:
    """Returns what makes the runs: processes of this machine, or the executors of a Spark cluster."""
    if spark is None:
        from roambus.experiments.sweeps.workers import Processes

        _check_workers(workers)
        return Processes(workers)
    from roambus.experiments.sweeps.cluster.crew import Cluster

    return Cluster(spark, remark)


def _check_workers(workers: int) -> None:
    from roambus.bridge.limits import WORKERS

    try:
        WORKERS.check(workers)
    except ValueError as error:
        raise UserError(f"--workers: {error}") from None


def report_problems(problems: Sequence[str]) -> None:
    """Says what is wrong with single runs, once everything else is done, and ends the command."""
    told = telling()
    told.add({"problems": list(problems)})
    for problem in problems:
        if problem not in told.problems and not told.as_json:
            click.echo(f"  {problem}", err=True)
    if problems:
        sys.exit(EXIT_FAILED_RUNS)
