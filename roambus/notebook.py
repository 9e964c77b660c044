"""Makes runs from Python, in notebooks and scripts (docs/guide/compare.md), with `run` and `sweep`.

As with the commands, complete runs are not repeated, so executing a cell again costs nothing, and an interrupted one
goes on. An agent is a name, a file's path, or a class, also one defined in a cell. `settings` are as for --set and
--param: {"speed": [2, 8]} sets a template variable, {"agent.room": [4, 8]} a parameter of all agents that have it,
{"Ferry.room": 4} one agent's.
"""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from roambus.bridge.runs.layout import AGENTS_FOLDER, TRACE_FILE
from roambus.bridge.system.code import PAGES, brought
from roambus.bridge.system.errors import InterruptionError, RoambusError, UserError
from roambus.bridge.system.interrupts import NamedInterruption
from roambus.bridge.system.process import cores
from roambus.bridge.trace.parquet import TraceLevel, read_trace
from roambus.console.options import factory_of
from roambus.console.output import remark
from roambus.console.sweep_runs import RunOptions, make_executor, run_sweep
from roambus.dataframes import Results, Values, listed, results
from roambus.experiments.sweeps.class_files import reference_of
from roambus.experiments.sweeps.request import Request
from roambus.experiments.sweeps.sweep import Sweep, expand
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.settings import plain

AnyAgent = str | PathLike[str] | type[Agent]
"""A name; module:Class; a file's path; or a class."""
Settings = Mapping[str, Values]


_LEVELS = [level.value for level in TraceLevel]
_NONE, _PLACE = type(None), (str, PathLike)
_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "template": (_PLACE, "a template's name or path"),
    "name": (_PLACE, "a sweep's or template's name or path"),
    "agents": ((Iterable, _NONE), "a list of agents"),
    "settings": ((Mapping, _NONE), "a dictionary of settings"),
    "seed": ((Integral,), "a whole number from 0 on"),
    "seeds": ((Integral, str, _NONE), "how many seeds, a whole number from 1 on, or a range such as '3..12'"),
    "workers": ((Integral, _NONE), "a whole number from 1 on"),
    "out": (_PLACE, "a folder's path"),
    "backend": ((str, _NONE), "a back-end's name"),
    "level": ((str,), f"one of {' or '.join(_LEVELS)}"),
}
"""The types of arguments, and what they are."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A complete run: its folder, and its results' folder."""

    folder: Path
    results_folder: Path

    @property
    def trace(self) -> pd.DataFrame:
        """Return its trace's rows (see roambus docs trace); raise DamagedTraceError."""
        rows: pd.DataFrame = read_trace(self.folder / TRACE_FILE).to_pandas()
        return rows

    def results(self) -> Results:
        """Return all runs' metrics in the folder; Spark computes missing ones."""
        return results(self.results_folder)

    def film(self) -> Film:
        """Return the film of `roambus replay`, which a notebook shows; raise UserError without the viewer."""
        if (make := brought(PAGES, "film")) is None:
            raise UserError("this installation has no viewer, which makes films")
        return Film(make(self.folder))


@dataclass(frozen=True, slots=True)
class Film:
    """A page of its own, which a notebook shows in a frame."""

    page: str

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.page)}" style="width: 100%; height: 42rem; border: 0"></iframe>'


def run(  # noqa: PLR0913  # each is one thing that the command has an option for
    template: str | PathLike[str],
    agent: AnyAgent,
    *,
    settings: Settings | None = None,
    seed: int = 0,
    out: str | PathLike[str] = "results/run",
    backend: str | None = None,
    level: str = "app",
    record: bool = False,
    replace: bool = False,
) -> FinishedRun:
    """Make one run of a template, unless it is complete; raise RoambusError if it fails.

    With `replace` a complete run of other code or another template makes way.
    """
    _check(template=template, seed=seed, settings=settings, out=out, backend=backend, level=level)
    if swept := [setting for setting, values in _listed(settings).items() if len(values) != 1]:
        raise UserError(f"settings: a run has one value of {swept[0]!r}: give one, or use roambus.sweep")
    run_options = RunOptions(level, retry_failed=True, record=record, replace=replace)
    (folder,) = make_runs(
        template, agent, settings, seeds=[seed], out=Path(out), backend=backend, workers=1, run_options=run_options
    )
    return FinishedRun(folder, Path(out))


def make_runs(  # noqa: PLR0913  # as for `run`
    template: str | PathLike[str],
    agent: AnyAgent,
    settings: Settings | None,
    *,
    seeds: Sequence[int],
    out: Path,
    backend: str | None,
    workers: int,
    run_options: RunOptions,
) -> list[Path]:
    """Make a point's missing runs; return each run's folder. Raise RoambusError."""
    asked = one_point(template, agent, settings, seeds, out)
    for problem in _made(asked, out, workers, backend, run_options):
        raise RoambusError(problem)
    return [Path(out, point.place) for point in expand(asked)]


def one_point(
    template: str | PathLike[str], agent: AnyAgent, settings: Settings | None, seeds: Sequence[int], out: Path
) -> Sweep:
    """Return the sweep of a point's runs; raise UserError."""
    request = _request(template, [agent], settings, None, out)
    return dataclasses.replace(request.of_template("roambus.run"), seeds=tuple(seeds))


def sweep(  # noqa: PLR0913  # as for `run`
    name: str | PathLike[str],
    agents: Sequence[AnyAgent] | None = None,
    *,
    settings: Settings | None = None,
    seeds: int | str | None = None,
    out: str | PathLike[str] | None = None,
    backend: str | None = None,
    workers: int | None = None,
    retry_failed: bool = False,
    replace: bool = False,
) -> Results:
    """Make a sweep's incomplete runs, and compute their metrics.

    `name` is a sweep or template, by name or path, as for `roambus sweep`. Without `agents` a sweep has its own, and a
    template `beacon`. Each setting is a value, or a list of values to compare. `seeds` is 10 for seeds
    0 to 9, or a range, "3..12". Failed runs are left out with a warning, which names the first. With `replace` complete
    runs of other code or another template make way. Raise UserError.
    """
    _check(name=name, agents=agents, seeds=seeds, settings=settings, backend=backend, workers=workers)
    if out is None:
        out = Path("results", Request(os.fspath(name)).stem)
    _check(out=out)
    folder = Path(out)
    asked = _request(name, agents, settings, seeds, folder).sweep()
    at_once = workers or cores()
    problems = _made(asked, folder, at_once, backend, RunOptions(retry_failed=retry_failed, replace=replace))
    if problems:
        warnings.warn(f"{len(problems)} runs failed; the first: {problems[0]}", stacklevel=2)
    return results(folder)


def _check(**arguments: object) -> None:
    """Raise UserError for an argument of another kind."""
    for name, value in arguments.items():
        kinds, words = _KINDS[name]
        is_below = isinstance(value, int) and value < (name != "seed")
        is_other = isinstance(value, str) and (name == "agents" or (name == "level" and value not in _LEVELS))
        if not isinstance(value, kinds) or is_below or is_other:
            raise UserError(f"{name}={value!r}: expected {words}")


def _listed(settings: Settings | None) -> dict[str, list[Any]]:
    """Return each setting's values; raise UserError for none."""
    try:
        return {name: listed(values) for name, values in (settings or {}).items()}
    except TypeError as error:
        raise UserError(f"settings={settings!r}: each is a value or a list of values: {error}") from None


def _made(asked: Sweep, out: Path, workers: int, backend: str | None, run_options: RunOptions) -> list[str]:
    factory = factory_of(backend or asked.backend)
    try:
        return run_sweep(asked, out, make_executor(workers, None), run_options, factory)
    except InterruptionError as error:  # no error that a script may handle: Ctrl-C ends it
        raise NamedInterruption(str(error)) from None


def _request(
    name: str | PathLike[str],
    agents: Iterable[AnyAgent] | None,
    settings: Settings | None,
    seeds: int | str | None,
    out: Path,
) -> Request:
    """Return the request that the arguments are: a setting with a dot is a parameter's. Raise UserError."""
    names = None if agents is None else [_name(agent, out) for agent in agents]
    texts = {setting: ",".join(map(plain, values)) for setting, values in _listed(settings).items()}
    variables = {setting: text for setting, text in texts.items() if "." not in setting}
    parameters = {setting: text for setting, text in texts.items() if "." in setting}
    return Request(os.fspath(name), variables, names, seeds, parameters, remark)


def _name(agent: object, out: Path) -> str:
    """Return the agent as --agents takes it; raise UserError for anything else, and a parameter behind its name."""
    if isinstance(agent, type) and issubclass(agent, Agent):
        return reference_of(agent, out / AGENTS_FOLDER)
    if not isinstance(agent, str | PathLike):
        raise UserError(f"agent={agent!r}: expected an agent's name, file or class")
    name, *parameters = agent.split(maxsplit=1) if isinstance(agent, str) else [os.fspath(agent)]
    if parameters:
        setting, _, value = parameters[0].partition("=")
        raise UserError(f'{agent}: write {name!r}, and settings={{"{name}.{setting}": {value!r}}}')
    return name
