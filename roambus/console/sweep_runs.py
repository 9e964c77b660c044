"""Makes the runs of a sweep, and shows how far they are: for commands, and for Python.

Local processes or an extension's executors make the runs; results on a store are published run by run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from roambus.bridge.system.code import EXECUTORS, RECORDERS, brought
from roambus.bridge.system.errors import InterruptionError, UserError
from roambus.console.options import STORES
from roambus.console.output import command_output, console, detail, progress, remark, summary

if TYPE_CHECKING:
    from roambus.bridge.backend import BackendFactory
    from roambus.bridge.runs.run import Recorder, RunPlan
    from roambus.experiments.sweeps.runner import Executor, Summary
    from roambus.experiments.sweeps.stores import Store
    from roambus.experiments.sweeps.sweep import Sweep


class RunOptions(NamedTuple):
    """Options for making a sweep's runs; `part` selects some."""

    level: str = "app"
    retry_failed: bool = False
    check: bool = False
    record: bool = False
    part: str = "0/1"
    replace: bool = False
    """Whether complete runs of other code make way."""


def run_sweep(
    sweep: Sweep, out: Path, executor: Executor, run_options: RunOptions, backend: BackendFactory
) -> list[str]:
    """Make a sweep's runs, showing progress; return a line for each failed run, already reported."""
    from rich.progress import track

    from roambus.bridge.runs.layout import LOG_FILE
    from roambus.bridge.runs.log import NOTHING_PUBLISHED
    from roambus.bridge.trace.parquet import TraceLevel
    from roambus.experiments.sweeps.attempts import is_shared
    from roambus.experiments.sweeps.request_file import Making, opened_results
    from roambus.experiments.sweeps.runner import SweepPart, plan_runs, refuse_replacing, run_plans

    shown = console()
    watched = partial(track, description="planning", console=shown, transient=True, disable=not shown.is_terminal)
    part = SweepPart.read(run_options.part)
    detail(f"{out}: planning")
    planned = plan_runs(sweep, out, TraceLevel(run_options.level), watched, backend)
    chosen = part.of_all(planned)
    plans = [replace(plan, check=run_options.check, record=recorder(run_options.record)) for plan in chosen]
    announce_compilation(backend, plans)
    if run_options.part == RunOptions().part and is_shared(out):
        remark(f"another roambus command is writing to {out}; stop one, or shared runs are made twice")
    try:
        making = Making(backend.name, run_options.level, run_options.record)
        allowed = partial(refuse_replacing, plans, backend, run_options.replace)
        with opened_results(sweep, out, making, allowed, run_options.replace):
            made = run_plans(plans, backend, _publishing(executor, out), run_options.retry_failed, progress())
    except KeyboardInterrupt:
        raise InterruptionError(f"interrupted; the same command makes the missing runs in {out}") from None
    counts = {"done": made.complete, "already_there": made.skipped, "failed": len(made.failures)}
    words = f"runs done {made.complete}, already there {made.skipped}, failed {len(made.failures)}"
    silent = [plan for plan in plans if NOTHING_PUBLISHED in _remarks_of(plan.folder / LOG_FILE)]
    if silent:
        remark(f"note: {NOTHING_PUBLISHED} in {len(silent)} of {len(plans)} runs, such as {silent[0].place}")
    summary(f"{out}: {words}", sweeps=[{"results": out, **counts}])
    return _failures(made)


def _remarks_of(log: Path) -> list[str]:
    from roambus.bridge.runs.log import remarks_in

    return remarks_in(log.read_text(encoding="utf-8", errors="replace")) if log.is_file() else []


def _failures(made: Summary) -> list[str]:
    if not command_output().is_quiet:
        command_output().problems |= {
            f"{place}: {error}" for place, error in made.failures if place not in made.earlier
        }
    return [f"{place}: {error}" for place, error in made.failures]


def make_executor(workers: int, spark: str | None) -> Executor:
    """Return the executor: local processes, or a Spark cluster's executors."""
    if spark is None:
        from roambus.experiments.sweeps.processes import Processes

        return Processes(workers)
    made: Executor = extension("--spark", EXECUTORS, "spark")(spark, remark)
    return made


def extension(option: str, group: str, name: str) -> Callable[..., Any]:
    """Return an entry point's function, for an option that needs it; raise UserError if it is not installed."""
    found: Callable[..., Any] | None = brought(group, name)
    if found is None:
        raise UserError(f"{option}: this installation has no extension for it: leave it out")
    return found


def _publishing(executor: Executor, results: Path) -> Executor:
    """Return the executor; for results on a store it publishes each run as it ends.

    Raise UserError for cluster executors, whose machines lack the store's folder.
    """
    from roambus.experiments.sweeps.processes import Processes

    context = click.get_current_context(silent=True)
    stores = context.meta.get(STORES, []) if context is not None else []
    store: Store | None = next((store for store in stores if results.is_relative_to(store.folder)), None)
    if store is None:
        return executor
    if not isinstance(executor, Processes):
        raise UserError(f"--spark: executors cannot write to {store.url}: give a folder that all of them reach")
    return store.publishing(executor)


def announce_compilation(factory: BackendFactory, plans: Sequence[RunPlan]) -> None:
    """Announce the first compilation of the radio for the first run's modules, which is silent for a while."""
    if factory.name != "radio" or not plans:
        return
    from roambus.bridge.backends.radio.kernel import Parts, is_compiled
    from roambus.experiments.sweeps.runner import scenario_of

    known = is_compiled(Parts.of(scenario_of(plans[0], factory)))
    if known is None:
        remark("each run compiles the radio, some 20 s, for no cache can be written: let NUMBA_CACHE_DIR name a folder")
    elif not known:
        remark("the radio is compiled, once after each installation; that takes some 20 s")


def recorder(is_kept: bool) -> Recorder | None:
    """Return an extension's recorder of frames, or None; raise UserError without such an extension."""
    if not is_kept:
        return None
    return extension("--record", RECORDERS, "frames")
