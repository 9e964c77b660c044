"""Sweeps in files: reads them from TOML, and keeps the request in the results.

template = "thesis"              a template's name, or a path beside the sweep
seeds = 10                       seeds 0 to 9
backend = "ideal"                unless the command line names another one; left out: radio
[set]                            variables of the template that stay the same
[axes]
speed = [2, 4]                   a variable and its values
config.C2 = { brokers = 2, side = 35 }     a zipped axis: each name sets several variables
agent.buffer = [5, 10]           a parameter of every agent that has it; mft.buffer, of the agent mft
[agents]
mft = {}                         an agent by its name
as_published = { use = "mft", parameters = { sticky_parent = false } }

Every mistake is a UserError that names file and key. A sweep can come from anybody, so what would take long to read, or
what no ini could hold, is refused. The names of a zipped axis, such as C8, are known beyond the sweep: a single run of
the same template can be asked for by them.

Whatever `--set` asks for becomes an axis: a single run has one value on each, and a template that is swept as it is has
several.

`sweep.json` in a results folder names study and sweep, so that whoever reads the results knows which figures and claims
are theirs, and has the template, the fixed values, the axes, the agents and the seeds. A second sweep into the folder
must fit what is there, so that no two sweeps are mixed by mistake; then it adds its agents, values and seeds.

In this order a sweep takes possession of its folder:

1. The folder is locked, so that two sweeps that start at once do not both take themselves for the first.
2. What is there is read, and must fit. Nothing but the folder has been made until then.
3. The new `sweep.json` is written whole beside the old one and takes its place, and the lock is given back. From then
   on whoever reads the folder knows of all runs that are to come, and calls none of them a stranger's.
4. If the sweep ends without a single run, what it wrote as the first one goes again, so that a mistake in an option
   leaves no folder.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from roambus.bridge.agents import load_agent
from roambus.bridge.backends.registry import DEFAULT, backend_names
from roambus.bridge.errors import UserError
from roambus.bridge.files import UnfinishedFile, read_text, remove_unfinished
from roambus.bridge.runs.layout import (
    AGENTS,
    AXES,
    MEASURE,
    MORE_SEEDS,
    ORACLE,
    PARAMETERS,
    PRECISION,
    SEEDS,
    SET,
    STUDY,
    SWEEP,
    SWEEP_FILE,
    TEMPLATE,
    TRACES,
    find_traces,
    read_asked,
)
from roambus.bridge.runs.run import errors_named
from roambus.bridge.trace.parquet import TraceLevel, read_about
from roambus.experiments.shipped import SWEEP_SUFFIX, TEMPLATE_SUFFIX, find_file, shipped_files, shipped_study
from roambus.experiments.sweeps.attempts import locked
from roambus.experiments.sweeps.sweep import (
    AgentChoice,
    Axis,
    Sweep,
    label_part,
    narrow,
    plain_axis,
    read_axis,
    seed_range,
    validate,
)
from roambus.experiments.templates.render import find_template, find_variable
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.settings import plain, unknown

_MOST_DOTS = 50
_DEEP_KEY = re.compile(rf"(?:[\w-]+\s?\.\s?){{{_MOST_DOTS + 1}}}")
"""More dots than in any sweep, which has keys of three; the time to read one grows with the square of its dots."""
_MOST_BITS = 64
"""An ini has no larger whole numbers."""


def read_sweep(name: str) -> Sweep:
    """The sweep of that path, or of that name among ours; raises UserError naming file and key."""
    path = find_file("sweep", SWEEP_SUFFIX, name)
    text = read_text(path)
    # Before it is parsed: parsing is what takes the time.
    if _DEEP_KEY.search(text):
        raise UserError(f"{path}: a key of more than {_MOST_DOTS} dots goes too deep")
    try:
        content = tomllib.loads(text)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    except RecursionError:
        raise UserError(f"{path}: brackets in brackets go too deep") from None
    sweep = _build(path, content)
    validate(sweep)
    return sweep


# What is misspelt would be left out silently, and the sweep would be another one: so every other key is refused.
_KEYS = ("template", "seeds", "backend", "measure", "set", "axes", "agents")


def _build(path: Path, content: Mapping[str, Any]) -> Sweep:
    _check_words(str(path), "key", content, _KEYS)
    backend = str(content.get("backend", DEFAULT))
    _check_words(str(path), "backend", [backend], backend_names())
    return Sweep(
        source=str(path),
        template=_template(path, content.get("template")),
        agents=tuple(_agent(path, *item) for item in _table(path, "agents", content).items()),
        axes=tuple(axis for item in _table(path, "axes", content).items() for axis in _axes(path, *item)),
        seeds=seed_range(str(path), content.get("seeds", 1)),
        backend=backend,
        fixed={name: _scalar(path, f"set.{name}", value) for name, value in _table(path, "set", content).items()},
        name=path.stem,
        study=shipped_study(path),
        measure=tuple(_measure(path, content.get("measure", []))),
    )


def _measure(path: Path, named: object) -> Iterator[str]:
    """Packages by their names, and files by their paths; those beside the sweep's file come first."""
    if not isinstance(named, list) or not all(isinstance(one, str) for one in named):
        raise UserError(f"{path}: measure: give a list of files and packages of metrics")
    for one in named:
        beside = path.parent / one
        yield str(beside) if one.endswith(".py") and beside.is_file() else one


def _check_words(where: str, kind: str, words: Iterable[str], known: Sequence[str]) -> None:
    for word in words:
        if word not in known:
            raise UserError(f"{where}: {unknown(kind, word, dict.fromkeys(known))}")


def _template(path: Path, name: object) -> Path:
    """The template beside the sweep, or else ours of that name: a sweep and its template can lie in any folder."""
    if not isinstance(name, str):
        raise UserError(f"{path}: template: give the name or the path of a template")
    beside = path.parent / name
    return beside if beside.is_file() else find_template(name)


_TABLES = {
    "set": "[set] above lines such as brokers = 8",
    "axes": "[axes] above lines such as speed = [2, 4]",
    "agents": "[agents] above a line such as mft = {} for each agent",
    "parameters": "parameters = { rate = 2 }",
}
"""How each table is written."""


def _table(path: Path, key: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    table = content.get(key, {})
    if not isinstance(table, dict):
        raise UserError(f"{path}: {key} is not a table: write {_TABLES[key]}")
    return table


def _scalar(path: Path, key: str, value: object) -> Scalar:
    """The value itself, if an ini can hold it; a TOML file can hold dates, lists and numbers of any length, too."""
    if not isinstance(value, int | float | str):
        raise UserError(f"{path}: {key}: {_shown(value)} is neither number, text nor truth value")
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise UserError(f"{path}: {key}: a number of more than {_MOST_BITS} bits is too large")
    return value


def _shown(value: object) -> str:
    """A value as people write it, and not as Python shows it."""
    if isinstance(value, list):
        return "a list"
    return "a table" if isinstance(value, dict) else str(value)[:60]


def _agent(path: Path, label: str, options: object) -> AgentChoice:
    """An agent of the sweep. Its parameters are sorted, so that their order in the file changes no run."""
    if not isinstance(options, dict):
        raise UserError(f"{path}: agents.{label}: write {label} = {{}}, or with use and parameters in the braces")
    _check_words(f"{path}: agents.{label}", "key", options, ("use", "parameters"))
    where = f"agents.{label}.parameters"
    parameters = _table(path, "parameters", options).items()
    texts = sorted((name, plain(_scalar(path, f"{where}.{name}", value))) for name, value in parameters)
    use = str(options.get("use", label))
    beside = str(path.parent / use)  # an agent's file may lie beside the sweep
    is_file = Path(beside.partition(".py:")[0].removesuffix(".py") + ".py").is_file()
    return AgentChoice(label, beside if is_file else use, tuple(texts))


def _axes(path: Path, name: str, values: object) -> Iterator[Axis]:
    """One axis, or one for each parameter of an agent: a table of lists, where a zipped axis is a table of tables."""
    if isinstance(values, dict) and any(isinstance(one, list) for one in values.values()):
        for parameter, listed in values.items():
            axis = _axis(path, parameter, listed, f"axes.{name}.{parameter}")
            yield replace(axis, owner=name)
    else:
        yield _axis(path, name, values, f"axes.{name}")


def _axis(path: Path, name: str, values: object, key: str) -> Axis:
    """A plain axis from a list, a zipped one from a table of tables."""
    if isinstance(values, list) and values:
        return plain_axis(name, [_scalar(path, key, value) for value in values])
    if not isinstance(values, dict) or not values:
        raise UserError(f"{path}: {key}: give a list of values, or names with the variables that each sets")
    zipped = {}
    for label, variables in values.items():
        if not isinstance(variables, dict):
            raise UserError(f"{path}: {key}.{label}: give the variables that it sets, in braces")
        zipped[label] = {one: _scalar(path, f"{key}.{label}.{one}", value) for one, value in variables.items()}
    # Else a variable would have the template's default at one point, and at another the axis' value, unseen.
    if len({frozenset(variables) for variables in zipped.values()}) > 1:
        raise UserError(f"{path}: {key}: every name must set the same variables")
    return Axis(name, zipped, zipped=True)


def named_settings(template: Path) -> list[Axis]:
    """The zipped axes of the sweeps beside a template that are of it, each name once.

    The sweep that is called like the template comes first. A sweep that cannot be read has none.
    """
    values: dict[str, dict[str, Mapping[str, Scalar]]] = {}
    for axis in _zipped_axes(template):
        values[axis.name] = {**axis.values, **values.get(axis.name, {})}
    return [Axis(name, found, zipped=True) for name, found in values.items()]


def is_template(name: str) -> bool:
    """Whether the path is a template's, or a template has the name and no sweep has."""
    if name.endswith(TEMPLATE_SUFFIX) or Path(name).is_file():
        return name.endswith(TEMPLATE_SUFFIX)
    return name not in shipped_files(SWEEP_SUFFIX) and name in shipped_files(TEMPLATE_SUFFIX)


def sweep_of(
    source: str, template: Path, agent: AgentChoice, settings: Mapping[str, Sequence[str]], seed: int = 0
) -> Sweep:
    """The sweep of a template by what is set alone, for one agent and seed; raises UserError."""
    axes = tuple(axis_of(template, name, *texts) for name, texts in sorted(settings.items()))
    sweep = Sweep(source, template, (agent,), axes, (seed,))
    validate(sweep)
    return sweep


def axis_of(template: Path, name: str, *texts: str) -> Axis:
    """The axis that `--set` asks for by a name and values: of a variable, or of settings that have a name.

    Raises UserError for what is neither.
    """
    try:
        variable = find_variable(template, name, "--set")
    except UserError:
        named = next((axis for axis in named_settings(template) if axis.name == name), None)
        if named is None:
            raise
        return narrow(named, ",".join(texts), "--set")
    return read_axis(template, name, variable, texts, "--set")


def _zipped_axes(template: Path) -> Iterator[Axis]:
    """The zipped axes of each sweep beside the template, as they are wanted: the template's namesake first."""
    own = template.name.removesuffix(TEMPLATE_SUFFIX)
    for file in sorted(template.parent.glob(f"*{SWEEP_SUFFIX}"), key=lambda file: (file.stem != own, file.name)):
        with suppress(UserError):
            sweep = read_sweep(str(file))
            if sweep.template.resolve() == template.resolve():
                yield from (axis for axis in sweep.axes if axis.zipped)


_NEEDED = {TEMPLATE, SET, AXES, AGENTS, SEEDS}
"""What every `sweep.json` has, also those of earlier versions."""
_OPTIONAL = {STUDY, SWEEP, MORE_SEEDS, PARAMETERS, PRECISION, MEASURE, ORACLE}


def describe(sweep: Sweep) -> dict[str, Any]:
    """The sweep as it is written to `sweep.json`: what few sweeps have is left out where it is not so."""
    return {
        STUDY: sweep.study,
        SWEEP: sweep.name,
        TEMPLATE: sweep.template.name,
        SET: dict(sweep.fixed),
        AXES: {axis.name: list(axis.values) for axis in sweep.axes},
        AGENTS: {choice.label: [choice.agent, dict(choice.parameters)] for choice in sweep.agents},
        SEEDS: list(sweep.seeds),
        **({PARAMETERS: owners} if (owners := _owners(sweep)) else {}),
        **({MORE_SEEDS: dict(sweep.more_seeds)} if sweep.more_seeds else {}),
        **({PRECISION: sweep.precision} if sweep.precision else {}),
        **({MEASURE: list(sweep.measure)} if sweep.measure else {}),
        **({ORACLE: told} if (told := _told(sweep)) else {}),
    }


def _told(sweep: Sweep) -> list[str]:
    """The agents that the scenario tells who the subscribers are: results say so of agents in users' files, too."""
    return [choice.label for choice in sweep.agents if load_agent(choice.agent).oracle_subscribers]


def _owners(sweep: Sweep) -> dict[str, list[str]]:
    """The agents that have the parameter of each axis which is about one."""
    return {
        axis.name: [choice.label for choice in sweep.agents if axis.concerns(choice)]
        for axis in sweep.axes
        if axis.owner
    }


def command_again(results: Path) -> str:
    """The command that makes all runs requested in a folder, and no others; complete runs stay.

    A sweep in a file of the user's own is called NAME.toml: where the file lies is not in the results.
    """
    asked = read_asked(results)
    if not asked.keys() >= _NEEDED:
        return "the same sweep"
    name = _source_again(asked.get(SWEEP) or "", str(asked[TEMPLATE]))
    axes = {axis: ",".join(values) for axis, values in asked[AXES].items()}
    options = dict.fromkeys(asked.get(PARAMETERS, {}), "--param")
    settings = ((options.get(key, "--set"), f"{key}={plain(value)}") for key, value in {**axes, **asked[SET]}.items())
    words = ["roambus", "sweep", name, *(word for pair in settings for word in pair)]
    agents = ",".join(_agent_text(label, *agent) for label, agent in asked[AGENTS].items())
    seeds = max(len(asked[SEEDS]), *asked.get(MORE_SEEDS, {}).values(), 0)
    precision = str(asked.get(PRECISION, "")).split()
    how = [*precision, *_made_as(results), "--out", str(results)]
    return shlex.join([*words, "--agents", agents, "--seeds", str(seeds), *how])


def _source_again(sweep: str, template: str) -> str:
    """What `sweep` takes for the sweep of this name; runs that were made one by one are of a template alone."""
    stem = template.removesuffix(TEMPLATE_SUFFIX)
    if (sweep or stem) in {**shipped_files(TEMPLATE_SUFFIX), **shipped_files(SWEEP_SUFFIX)}:
        return sweep or stem
    file = f"{sweep}{SWEEP_SUFFIX}"
    return template if sweep in {"", stem} and not Path(file).is_file() and Path(template).is_file() else file


def _made_as(results: Path) -> Iterator[str]:
    """The options with which a run was made: with others, the runs that are there would be made again."""
    for trace in find_traces(results):
        with suppress(UserError):
            if about := read_about(trace):
                yield from ("--backend", about.backend)
                yield from ("--level", about.level) if about.level != TraceLevel.APP.value else ()
                return


def _agent_text(label: str, agent: str, parameters: Mapping[str, str]) -> str:
    """The agent as `--agents` takes it: by its label if the sweep has it, else by agent and parameters."""
    own, *given = label.split("+")
    chosen = [f"{key}={value}" for key, value in parameters.items() if label_part(key, value) in given]
    return " ".join([agent if agent.endswith(".py") or ":" in agent else own, *chosen])


@contextmanager
def opened_results(sweep: Sweep, results: Path) -> Iterator[None]:
    """Makes the folder, or checks that what it holds fits the sweep; raises UserError, OSError.

    It fits if template, fixed values and names of the axes are the same: then more agents, values or seeds are added.
    If everything fails, nothing of it is left.
    """
    file = results / SWEEP_FILE
    created, is_first = not results.exists(), not file.exists()
    results.mkdir(parents=True, exist_ok=True)
    with locked(results):
        remove_unfinished(file)  # of a command that was killed: nobody else writes it now
        description = describe(sweep)
        if file.is_file():
            old = read_asked(results)
            if old.keys() - _OPTIONAL != _NEEDED:
                raise UserError(f"{file}: not written by roambus, or damaged: remove it, or choose another --out")
            _check_fit(old, description, results)
            description = _merge(old, description)
        with (
            _removed_if_empty(results, is_first, created),
            errors_named(file),
            UnfinishedFile(file) as unfinished,
        ):
            unfinished.file.write(f"{json.dumps(description, indent=2)}\n".encode())
            unfinished.finish()
    with _removed_if_empty(results, is_first, created):
        yield


@contextmanager
def _removed_if_empty(results: Path, is_first: bool, created: bool) -> Iterator[None]:
    """Takes away again what is written for the first sweep in the folder; others may rely on what was there before."""
    try:
        yield
    except BaseException:
        if is_first and not (results / TRACES).exists():
            with suppress(OSError):
                (results / SWEEP_FILE).unlink(missing_ok=True)
                if created:
                    results.rmdir()
        raise


def _check_fit(old: dict[str, Any], new: dict[str, Any], results: Path) -> None:
    """Raises UserError for another template, other fixed values or other axes: its runs would share places."""
    names, wanted = (", ".join(one[AXES]) or "none" for one in (old, new))
    for kind, there, asked in (
        (TEMPLATE, old[TEMPLATE], new[TEMPLATE]),
        (SET, _settings(old[SET]), _settings(new[SET])),
        (AXES, names, wanted),
    ):
        if there != asked:
            raise UserError(f"{results} holds runs with {kind} {there}, not {asked}: choose another --out")


def _settings(fixed: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={plain(value)}" for name, value in fixed.items()) or "none"


def _merge(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """What both ask for. The first sweep gives the folder its name and study, and new values come after old ones."""
    # Earlier requests stay: their runs are there, and would otherwise count as foreign.
    before, asked = old.get(MORE_SEEDS, {}), new.get(MORE_SEEDS, {})
    more_seeds = {point: max(before.get(point, 0), asked.get(point, 0)) for point in before | asked}
    precision = new.get(PRECISION, old.get(PRECISION))
    earlier, owners = old.get(PARAMETERS, {}), new.get(PARAMETERS, {})
    owners = {axis: list(dict.fromkeys([*earlier.get(axis, ()), *labels])) for axis, labels in owners.items()}
    measure, told = (list(dict.fromkeys([*old.get(key, []), *new.get(key, [])])) for key in (MEASURE, ORACLE))
    return {
        **new,
        **{key: old.get(key, new[key]) for key in (STUDY, SWEEP)},
        AXES: {name: list(dict.fromkeys([*values, *new[AXES][name]])) for name, values in old[AXES].items()},
        AGENTS: {**old[AGENTS], **new[AGENTS]},
        SEEDS: sorted({*old[SEEDS], *new[SEEDS]}),
        **({PARAMETERS: owners} if owners else {}),
        **({MORE_SEEDS: more_seeds} if more_seeds else {}),
        **({PRECISION: precision} if precision else {}),
        **({MEASURE: measure} if measure else {}),
        **({ORACLE: told} if told else {}),
    }
