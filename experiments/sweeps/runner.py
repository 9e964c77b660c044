"""Plans the runs of a sweep, skips complete ones, has the rest made, and reports failures.

Every run is rendered before the first starts, and each point's first seed is read as by the host, so mistakes cost
nothing. A run complete under its key is never repeated, a failed one on request only.

An executor makes the runs: processes, or a cluster's executors of an extension. A part is every n-th run, such as a
task of a job array makes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import BackendFactory, calling, simulator_keys_of, unused_keys
from roambus.bridge.formats.ini import check_files, file_names, parse_scenario
from roambus.bridge.formats.movement import with_params
from roambus.bridge.host.agents import make_agents
from roambus.bridge.runs.data import changed_data
from roambus.bridge.runs.layout import INI_FILE, TRACE_FILE, unlinked_below
from roambus.bridge.runs.run import Origin, RunPlan, TraceState, has_failed, run_key, trace_state
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.reading import reading
from roambus.bridge.trace.parquet import DamagedTraceError, TraceLevel, read_footer
from roambus.bridge.trace.schema import RUN_KEY
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.sweeps.attempts import tidy, workspace
from roambus.experiments.sweeps.settings_check import (
    AGENT_LINE,
    SEED_LINE,
    check_different,
    check_parameters,
    check_seed,
    check_used,
    meaning,
    naming_variables,
)
from roambus.experiments.sweeps.sweep import Point, Sweep, expand
from roambus.experiments.templates.template import Template, find_beside
from roambus.experiments.templates.variables import Scalar

if TYPE_CHECKING:
    from roambus.experiments.sweeps.progress import Progress

BEGUN = (-1, None)
"""Yielded by an executor when a run begins; the time left counts from the first."""


class Executor(Protocol):
    """Makes runs: processes of this machine, or executors of a cluster, which an extension brings."""

    @property
    def at_once(self) -> int:
        """How many runs go on at the same time; 0 if unknown."""

    def run(
        self, plans: Sequence[RunPlan], backend: BackendFactory, workspace: Path
    ) -> Generator[tuple[int, str | None]]:
        """Yield number and error (None: complete) of each run, or `BEGUN`; closing ends current runs."""


_READERS = 4
"""Threads that read existing traces: mostly compiled code, which does not wait for Python."""

Watched = Callable[[Sequence[Point]], Iterable[Point]]


@dataclass(slots=True)
class Summary:
    """The outcome of a sweep's runs, with `failures` and their errors.

    `earlier` failed before and were not retried; `damaged` and `changed` ones are repeated.
    """

    complete: int = 0
    skipped: int = 0
    damaged: list[Path] = field(default_factory=list)
    changed: list[Path] = field(default_factory=list)
    failures: list[tuple[Path, str]] = field(default_factory=list)
    earlier: set[Path] = field(default_factory=set)


def plan_runs(
    sweep: Sweep,
    results: Path,
    level: TraceLevel = TraceLevel.APP,
    watched: Watched = iter,
    backend: BackendFactory | None = None,
) -> list[RunPlan]:
    """Render all runs and check each point's first seed; raises UserError, also for links in results.

    `watched` may show progress. Without a `backend`, the embedded radio must be able to make the runs.
    """
    points = expand(sweep)
    firsts = [point for point in points if point.seed == sweep.seeds[0]]
    planned, meanings = [], []
    for point in watched(points):
        with _all_mistakes(sweep.template, point, backend):
            plan = plan_run(sweep.template, point, results, level)
        unlinked_below(results, plan.place / TRACE_FILE)
        if plan.seed == sweep.seeds[0]:
            with naming_variables(point, plan.ini, sweep.template.rendered, partial(render_point, sweep.template)):
                scenario = _check(sweep.template, plan, backend)
            check_parameters(sweep.template, point, scenario)
            meanings.append((point, meaning(plan, scenario, backend)))
        else:
            check_seed(sweep, point, plan)
        planned.append(plan)
    check_different(sweep, meanings)
    check_used(sweep, firsts, partial(render_point, sweep.template), backend)
    return planned


@contextmanager
def _all_mistakes(template: Template, point: Point, backend: BackendFactory | None) -> Iterator[None]:
    try:
        yield
    except UserError:
        ours = {file.name: file for file in TEMPLATES.glob("*.txt")}
        _read(template, render_point(template, point), template.file.parent, ours, backend)
        raise


NEEDED = {
    "seed-set": f"the run's seed is missing: {SEED_LINE}",
    "Application.agent": f"the run's agent is missing: {AGENT_LINE}",
}
"""The keys of every template, and what to say to one without them."""


def _read(
    template: Template, ini: str, folder: Path, files: Mapping[str, Path], backend: BackendFactory | None
) -> Scenario:
    try:
        return parse_scenario(ini, template.rendered, folder, files, simulator_keys_of(backend))
    except UserError as error:
        missing = (f"{template}: {problem}" for key, problem in NEEDED.items() if key not in ini)
        raise UserError("\n".join([*missing, str(error)])) from None


def render_point(template: Template, point: Point) -> str:
    """The ini of one run; raises UserError."""
    parameters = " ".join(map("=".join, point.agent.parameters))
    run: dict[str, Scalar] = {"seed": point.seed, "agent": point.agent.agent, "agent_parameters": parameters}
    return template.render({**point.variables, **run})


def plan_run(template: Template, point: Point, results: Path, level: TraceLevel = TraceLevel.APP) -> RunPlan:
    """One run, rendered and not checked; raises UserError."""
    ini = render_point(template, point)
    name, others = file_names(ini, template.rendered)
    ((_, folder),) = _places(template, point, [name])
    radio_file = find_beside(folder / template.name, name)
    places = _places(template, point, others)
    files = tuple(pair for name, folder in places for pair in with_params(folder, [name]))
    origin = Origin(template.stem, tuple(_settings(template, point, dict(files))))
    return RunPlan(
        results, point.place, ini, radio_file, point.agent.agent, point.seed, level, files=files, origin=origin
    )


def _settings(template: Template, point: Point, files: Mapping[str, Path]) -> Iterator[tuple[str, Scalar]]:
    for name, value in {**template.defaults, **point.variables}.items():
        yield name, Path(value).name if isinstance(value, str) and Path(value).name in files else value


def _places(template: Template, point: Point, names: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """The folder of each file in the ini: the template's, or a value's of that name."""
    given = {Path(value).name: Path(value) for value in point.variables.values() if isinstance(value, str)}
    for name in names:
        beside = template.file.parent / name
        elsewhere = given.get(name, beside)
        yield name, elsewhere.parent if elsewhere.is_file() and not beside.is_file() else template.file.parent


def _check(template: Template, plan: RunPlan, backend: BackendFactory | None) -> Scenario:
    """Read a run as the host will; raises UserError, also without the run's seed or agent."""
    scenario = _read(template, plan.ini, plan.radio_file.parent, dict(plan.files), backend)
    if backend is not None:
        check_files(plan.ini, template.rendered, unused_keys(backend), backend.name)
    if scenario.seed != plan.seed:
        raise UserError(f"{template}: seed-set = {scenario.seed} is fixed: give --seed {scenario.seed}, or {SEED_LINE}")
    if scenario.agent != plan.agent:
        raise UserError(f"{template}: agent {scenario.agent} is fixed: give --agent {scenario.agent}, or {AGENT_LINE}")
    with reading():
        make_agents(scenario, load_agent(plan.agent))
    return scenario


def scenario_of(plan: RunPlan, backend: BackendFactory) -> Scenario:
    """Read the scenario of a run; raises UserError."""
    beyond = simulator_keys_of(backend)
    return parse_scenario(plan.ini, plan.folder / INI_FILE, plan.radio_file.parent, dict(plan.files), beyond)


def prepare(plan: RunPlan, backend: BackendFactory) -> Scenario:
    """Prepare the back-end for runs like this one; return its scenario; raises UserError."""
    scenario = scenario_of(plan, backend)
    with calling(backend, "prepare"):
        backend.prepare(scenario)
    return scenario


def refuse_replacing(plans: Sequence[RunPlan], backend: BackendFactory, allowed: bool, repeatable: bool = True) -> None:
    """Raise UserError, unless `allowed`, if a place has a complete run that is not this one.

    Its agent, template, back-end or version of roambus is another one; no run that is not `repeatable` is the same.
    """
    for plan in () if allowed else plans:
        with suppress(DamagedTraceError):
            if not os.path.lexists(trace := plan.folder / TRACE_FILE):
                continue
            metadata, why = read_footer(trace).metadata, "" if repeatable else "each differs"
            if repeatable and metadata.get(RUN_KEY) != run_key(plan, backend):
                why = "its agent, template or version of roambus is another one"
            elif repeatable and (file := changed_data(plan.agent, metadata)):
                why = f"its agent has read {file}, which is another one now"
            if why:
                keeps = "--replace does so, and another --out keeps both"
                raise UserError(f"{plan.folder} holds a complete run, which this one would replace ({why}): {keeps}")


def run_plans(
    plans: Sequence[RunPlan], backend: BackendFactory, executor: Executor, retry_failed: bool, progress: Progress
) -> Summary:
    """Have the executor make incomplete runs; raises UserError, OSError. After an exception all work has ended."""
    summary = Summary()
    waiting = _unsettled(plans, backend, retry_failed, summary)
    for place in summary.damaged:
        progress.note(f"{place}: its trace was damaged, and it is made again")
    if left := _left_unchanged(plans, summary.changed):
        progress.note(
            f"{plans[0].results}: the template or an agent has changed, and runs that this command does not make may "
            f"be of the earlier one: make these again, too, or remove them: {left[0]}" + (", ..." if left[1:] else "")
        )
    if waiting:
        results = waiting[0].results
        results.mkdir(parents=True, exist_ok=True)
        with progress.show_runs(waiting, executor.at_once), workspace(results) as folder:
            _collect(waiting, executor.run(waiting, backend, folder), summary, progress)
    elif plans:
        tidy(plans[0].results)  # what killed commands have left, which a workspace would have removed
    return summary


def _unsettled(
    plans: Sequence[RunPlan], backend: BackendFactory, retry_failed: bool, summary: Summary
) -> list[RunPlan]:
    keys = [run_key(plan, backend) for plan in plans]
    with ThreadPoolExecutor(_READERS) as readers:
        states = readers.map(trace_state, (plan.folder for plan in plans), keys, (plan.agent for plan in plans))
        return [
            plan
            for plan, key, state in zip(plans, keys, states, strict=True)
            if not _is_settled(plan, key, state, retry_failed, summary)
        ]


def _left_unchanged(plans: Sequence[RunPlan], changed: Sequence[Path]) -> list[Path]:
    """The places of changed agents' runs outside these plans: metrics would mix both."""
    planned = {plan.folder for plan in plans}
    agents = {plans[0].results.joinpath(*place.parts[:2]) for place in changed}  # traces/agent=NAME
    found = (trace.parent for agent in agents for trace in agent.rglob(TRACE_FILE))
    return sorted(folder.relative_to(plans[0].results) for folder in found if folder not in planned)


def _is_settled(plan: RunPlan, key: str, state: TraceState, retry_failed: bool, summary: Summary) -> bool:
    """Whether the run need not be made; counts it if so, and damaged traces."""
    if state is TraceState.COMPLETE:
        summary.skipped += 1
        return True
    if state is TraceState.DAMAGED:
        summary.damaged.append(plan.place)
    if state is TraceState.ANOTHER:
        summary.changed.append(plan.place)
    if is_left := not retry_failed and has_failed(plan.folder, key):
        summary.earlier.add(plan.place)
        summary.failures.append((plan.place, "failed earlier; see its run.log, or run it again with --retry-failed"))
    return is_left


def _collect(
    plans: Sequence[RunPlan], ended: Generator[tuple[int, str | None]], summary: Summary, progress: Progress
) -> None:
    with closing(ended):
        for number, error in ended:
            if number == BEGUN[0]:
                progress.begun()
                continue
            if error is None:
                summary.complete += 1
            else:
                summary.failures.append((plans[number].place, error))
            progress.finished(plans[number].place, error)


T = TypeVar("T")
_PART = re.compile(r"(\d{1,9})/(\d{1,9})")


@dataclass(frozen=True, slots=True)
class SweepPart:
    """One of several equal parts of a sweep, numbered from 0."""

    number: int = 0
    of: int = 1

    @classmethod
    def read(cls, text: str) -> SweepPart:
        """Reads "3/10"; raises UserError."""
        found = _PART.fullmatch(text)
        if found is None or not int(found[1]) < int(found[2]):
            raise UserError(f"--part {text}: write NUMBER/PARTS with a number from 0 to one less than the parts")
        return cls(int(found[1]), int(found[2]))

    def of_all(self, runs: Sequence[T]) -> Sequence[T]:
        """The part's runs: every n-th, to spread long ones."""
        return runs[self.number :: self.of]
