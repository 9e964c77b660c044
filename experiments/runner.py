"""Runs a sweep on local processes: skips what is complete, reports what fails, and can be stopped at any moment."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path

from bridge.backends.castalia.files import INI_FILE
from bridge.backends.factory import BackendFactory
from bridge.errors import BackendError, UserError
from bridge.host import make_agents
from bridge.ini import parse_scenario, radio_file_name
from bridge.interrupts import termination_interrupts
from bridge.registry import load_agent
from bridge.run import (
    FAILED_FILE,
    LOG_FILE,
    TRACE_FILE,
    RunPlan,
    discard,
    errors_named,
    execute,
    has_failed,
    is_complete,
    run_key,
)
from bridge.trace import TraceLevel
from experiments.progress import Progress
from experiments.render import find_beside, render
from experiments.sweep import Point, Scalar, Sweep, expand


@dataclass(slots=True)
class Summary:
    """What became of a sweep's runs; `failures` are (place, error)."""

    complete: int = 0
    skipped: int = 0
    failures: list[tuple[Path, str]] = field(default_factory=list)


def plan_runs(sweep: Sweep, results: Path, level: TraceLevel = TraceLevel.APP) -> list[RunPlan]:
    """Renders every run of the sweep, and checks each point's first seed as a whole; raises UserError."""
    plans = [plan_run(sweep.template, point, results, level) for point in expand(sweep)]
    for plan in plans:
        if plan.seed == sweep.seeds[0]:
            _check(sweep.template, plan)
    return plans


def render_point(template: Path, point: Point) -> str:
    """The ini of one run; raises UserError."""
    parameters = " ".join(f"{name}={value}" for name, value in point.agent.parameters)
    run: dict[str, Scalar] = {"seed": point.seed, "agent": point.agent.agent, "agent_parameters": parameters}
    return render(template, {**point.variables, **run})


def plan_run(template: Path, point: Point, results: Path, level: TraceLevel = TraceLevel.APP) -> RunPlan:
    """One run, rendered and not checked; raises UserError."""
    ini = render_point(template, point)
    radio_file = find_beside(template, radio_file_name(ini, _rendered(template)))
    return RunPlan(results, point.place, ini, radio_file, point.agent.agent, point.seed, level)


def _check(template: Path, plan: RunPlan) -> None:
    scenario = parse_scenario(plan.ini, _rendered(template), plan.radio_file.parent)
    if scenario.seed != plan.seed:
        raise UserError(f"{template}: the run's seed is missing: write seed-set = {{{{ seed }}}}")
    if scenario.agent != plan.agent:
        raise UserError(f"{template}: the run's agent is missing: write ...agent = {{{{ agent | quoted }}}}")
    make_agents(scenario, load_agent(plan.agent))


def _rendered(template: Path) -> Path:
    return template.with_name(f"{template.name} (rendered)")


def prepare(plan: RunPlan, backend: BackendFactory) -> None:
    """Lets the back-end get ready for runs like this one; raises UserError."""
    backend.prepare(parse_scenario(plan.ini, plan.folder / INI_FILE, plan.radio_file.parent))


def run_plans(
    plans: Sequence[RunPlan], backend: BackendFactory, workers: int, retry_failed: bool, progress: Progress
) -> Summary:
    """Executes what is not complete yet. Raises OSError if results cannot be written, BackendError if a worker dies.

    After KeyboardInterrupt, or any other exception, no worker is left and no unfinished run either.
    """
    summary = Summary()
    waiting = [plan for plan in plans if not _is_settled(plan, backend, retry_failed, summary)]
    if waiting:
        prepare(waiting[0], backend)
        with progress.show(len(waiting)):
            _run_waiting(waiting, backend, min(workers, len(waiting)), summary, progress)
    return summary


def _is_settled(plan: RunPlan, backend: BackendFactory, retry_failed: bool, summary: Summary) -> bool:
    key = run_key(plan, backend)
    if is_complete(plan.folder, key):
        summary.skipped += 1
        return True
    if has_failed(plan.folder, key) and not retry_failed:
        summary.failures.append((plan.place, "failed earlier; see its run.log, or run it again with --retry-failed"))
        return True
    return False


def _run_waiting(
    plans: Sequence[RunPlan], backend: BackendFactory, workers: int, summary: Summary, progress: Progress
) -> None:
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _end_with_parent)
    others = set(multiprocessing.active_children())
    try:
        with _interrupts_ignored():
            futures = {pool.submit(_work, plan, backend): plan for plan in plans}
        for future in as_completed(futures):
            _collect(futures[future], future, summary, progress)
    except BaseException as error:
        _stop(pool, others)
        _discard_unfinished(plans)
        if isinstance(error, BrokenProcessPool):
            raise BackendError(
                "a worker process was killed; run again with fewer --workers if memory ran out"
            ) from None
        raise
    pool.shutdown()


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Processes started in here ignore Ctrl-C for ever: their parent ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end_with_parent() -> None:
    """A worker whose parent was killed ends at once, whatever it is doing."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_after, args=(parent.sentinel,), daemon=True).start()


def _exit_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


def _work(plan: RunPlan, backend: BackendFactory) -> str | None:
    """Runs in a worker: the error's first line, or None. What an agent prints goes to the run's log."""
    printed = io.StringIO()
    failure = None
    try:
        with redirect_stdout(printed), termination_interrupts():
            execute(plan, backend)
    except OSError:
        raise
    except KeyboardInterrupt:  # the pool would go on with the next run
        os._exit(1)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}".splitlines()[0]
    log = plan.folder / LOG_FILE
    with errors_named(log), log.open("a", encoding="utf-8") as file:
        file.write(printed.getvalue())
    return failure


def _collect(plan: RunPlan, future: Future[str | None], summary: Summary, progress: Progress) -> None:
    error = future.result()
    if error is None:
        summary.complete += 1
    else:
        summary.failures.append((plan.place, error))
    progress.finished(plan.place, error)


def _stop(pool: ProcessPoolExecutor, others: set[multiprocessing.process.BaseProcess]) -> None:
    for process in set(multiprocessing.active_children()) - others:
        process.terminate()
    pool.shutdown(cancel_futures=True)


def _discard_unfinished(plans: Sequence[RunPlan]) -> None:
    for plan in plans:
        if not any((plan.folder / name).exists() for name in (TRACE_FILE, FAILED_FILE)):
            discard(plan)
