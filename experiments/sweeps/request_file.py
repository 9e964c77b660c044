"""The request of a results folder, `sweep.json`: study, sweep, template, values, axes, agents, seeds, and back-end.

Readers find figures and claims by it. A second sweep must fit (same template, fixed values, axis names, and `Making`);
its agents, values and seeds are added. A sweep locks its folder, checks the fit, writes the new file beside the old,
renames it, and unlocks, so simultaneous sweeps see each other and readers know all runs to come. If the first sweep
makes no run, its request is removed.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from roambus.bridge.agents import load_agent
from roambus.bridge.runs.layout import (
    AGENTS,
    AXES,
    AXIS_TITLES,
    BACKEND,
    INPUTS_FOLDER,
    LEVEL,
    MEASURE,
    MORE_SEEDS,
    ORACLE,
    PARAMETERS,
    PRECISION,
    RECORD,
    RECORD_FILE,
    SEEDS,
    SET,
    STUDY,
    SWEEP,
    SWEEP_FILE,
    TEMPLATE,
    TEMPLATE_HASH,
    TITLES,
    TRACES,
    VALUES,
    files_of_runs,
    find_traces,
    read_asked,
    unlinked,
)
from roambus.bridge.runs.run import errors_named
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import UnfinishedFile, locked, remove_unfinished, user_cache
from roambus.bridge.trace.parquet import TraceLevel, read_about
from roambus.experiments.inventory import SWEEP_SUFFIX, TEMPLATE_SUFFIX, shipped_files
from roambus.experiments.sweeps.inputs import keep_inputs
from roambus.experiments.sweeps.sweep import Sweep, are_first, seeds_text
from roambus.python_protocol.settings import parameter_settings, plain

_NEEDED = {STUDY, SWEEP, TEMPLATE, SET, AXES, AGENTS, SEEDS}
_OPTIONAL = {
    MORE_SEEDS, PARAMETERS, PRECISION, MEASURE, ORACLE, TITLES, AXIS_TITLES, BACKEND, LEVEL, RECORD, VALUES,
    TEMPLATE_HASH,
}  # fmt: skip


class Making(NamedTuple):
    """How runs are made: what is in their keys or folders beside the sweep, the same in all runs of a folder."""

    backend: str
    level: str = TraceLevel.APP.value
    record: bool = False

    def described(self) -> dict[str, Any]:
        """It as in `sweep.json`."""
        return {BACKEND: self.backend, LEVEL: self.level, RECORD: self.record}


def describe(sweep: Sweep, making: Making | None = None) -> dict[str, Any]:
    """The sweep as in `sweep.json`, without rare fields at their defaults."""
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
        **({ORACLE: oracle} if (oracle := _oracle(sweep)) else {}),
        **({TITLES: titles} if (titles := {agent.label: agent.title for agent in sweep.agents if agent.title}) else {}),
        **({AXIS_TITLES: axes} if (axes := dict(_axis_titles(sweep))) else {}),
        **({VALUES: values} if (values := _values(sweep)) else {}),
        **(making.described() if making else {}),
    }


def _values(sweep: Sweep) -> dict[str, dict[str, str]]:
    """The values of plain axes that folders have other names for."""
    plain_axes = (axis for axis in sweep.axes if not axis.zipped)
    found = {
        axis.name: {label: plain(*values.values()) for label, values in axis.values.items()} for axis in plain_axes
    }
    renamed = {name: {key: text for key, text in values.items() if key != text} for name, values in found.items()}
    return {name: values for name, values in renamed.items() if values}


def _axis_titles(sweep: Sweep) -> Iterator[tuple[str, str]]:
    """Each axis' own title, or its name and the unit of its numbers."""
    parameters = [parameter_settings(load_agent(choice.agent).parameters_type) for choice in sweep.agents]
    for axis in sweep.axes:
        known = [settings.get(axis.name) for settings in (parameters if axis.owner else [sweep.template.variables])]
        unit = next(("s" if setting.kind.is_time else setting.measure for setting in known if setting), "")
        values = {type(value) for values in axis.values.values() for value in values.values()}
        if axis.title or (unit not in ("", axis.name) and not axis.zipped and values <= {int, float}):
            yield axis.name, axis.title or f"{axis.name.replace('_', ' ')} ({unit})"


def _oracle(sweep: Sweep) -> list[str]:
    return [choice.label for choice in sweep.agents if load_agent(choice.agent).oracle_subscribers]


def _owners(sweep: Sweep) -> dict[str, list[str]]:
    return {
        axis.name: [choice.label for choice in sweep.agents if axis.concerns(choice)]
        for axis in sweep.axes
        if axis.owner
    }


def command_again(results: Path) -> str:
    """The command for all requested runs of a folder; a user's sweep file is NAME.toml."""
    return command_of(read_asked(results), str(results), *_made_as(results))


def command_of(asked: Mapping[str, Any], out: str, *options: str) -> str:
    """The command for a request's runs, which names every value: the sweep's file may have changed since."""
    if not asked.keys() >= _NEEDED:
        return "the same sweep"
    name = _source_again(asked.get(SWEEP) or "", str(asked[TEMPLATE]))
    named = asked.get(VALUES, {})
    axes = {
        axis: ",".join(named.get(axis, {}).get(str(value), str(value)) for value in values)
        for axis, values in asked[AXES].items()
    }
    owners = asked.get(PARAMETERS, {})
    settings = (_option(key, plain(value), owners.get(key)) for key, value in {**axes, **asked[SET]}.items())
    words = ["roambus", "sweep", name, *(word for pair in settings for word in pair)]
    agents = [agent if agent.endswith(".py") or ":" in agent else own for own, (agent, _) in asked[AGENTS].items()]
    seeds = sorted({*asked[SEEDS], *range(max(asked.get(MORE_SEEDS, {}).values(), default=0))})
    # A precision makes its first seeds everywhere, and more where it needs them. It would leave out any others that
    # were asked for beside it: then every point gets all.
    precision = str(asked.get(PRECISION, "")).split()
    if not are_first(asked[SEEDS]) or precision[-2:] != ["--first-seeds", str(len(asked[SEEDS]))]:
        precision = []
    how = [*precision, *options, "--out", out]
    return shlex.join([*words, "--agents", ",".join(agents), "--seeds", seeds_text(seeds), *how])


def _source_again(sweep: str, template: str) -> str:
    stem = template.removesuffix(TEMPLATE_SUFFIX)
    if (sweep or stem) in {**shipped_files(TEMPLATE_SUFFIX), **shipped_files(SWEEP_SUFFIX)}:
        return sweep or stem
    file = f"{sweep}{SWEEP_SUFFIX}"
    return template if sweep in {"", stem} and not Path(file).is_file() and Path(template).is_file() else file


def _made_as(results: Path) -> Iterator[str]:
    if making := made_before(results, read_asked(results)):
        yield from ("--backend", making.backend)
        yield from ("--level", making.level) if making.level != TraceLevel.APP.value else ()
        yield from ("--record",) if making.record else ()


def made_before(results: Path | None, asked: Mapping[str, Any]) -> Making | None:
    """How the folder's runs were made: by its request, or by its first trace if an earlier version made them."""
    if BACKEND in asked:
        return Making(*(asked[key] for key in (BACKEND, LEVEL, RECORD) if key in asked))
    for trace in find_traces(results) if results else ():
        with suppress(UserError):
            if about := read_about(trace):
                return Making(about.backend, about.level, bool(results and files_of_runs(results, RECORD_FILE)))
    return None


def _option(name: str, value: str, owners: Sequence[str] | None) -> tuple[str, str]:
    if owners is None:
        return "--set", f"{name}={value}"
    return "--param", f"{owners[0]}.{name}={value}" if len(owners) == 1 else f"{name}={value}"


def _anything() -> None:
    """Allow it."""


@contextmanager
def opened_results(
    sweep: Sweep,
    results: Path,
    making: Making | None = None,
    check: Callable[[], None] = _anything,
    replacing: bool = False,
) -> Iterator[None]:
    """Write the request, which must fit the present one, and pass `check`; raises UserError, OSError.

    Only if it is `replacing` runs, the template may have another text than the present request's.
    """
    file = results / SWEEP_FILE
    created, is_first = not results.exists(), not file.exists()
    results.mkdir(parents=True, exist_ok=True)
    with locked(results):
        remove_unfinished(file)  # of a command that was killed: nobody else writes it now
        description = {**describe(sweep, making), TEMPLATE_HASH: _text_hash(sweep)}
        known = description[TEMPLATE_HASH]
        if file.is_file():
            old = read_asked(results)
            if not is_whole(old):
                raise UserError(f"{file}: not written by roambus, or damaged: remove it, or choose another --out")
            _check_fit(old, description, results)
            known = old.get(TEMPLATE_HASH, known)
            description = united(old, description)
        with (
            _removed_if_empty(results, is_first, created),
            errors_named(file),
            UnfinishedFile(file) as unfinished,
        ):
            check()
            if known != description[TEMPLATE_HASH] and not replacing:
                text = f"of another text of {description[TEMPLATE]} or its parts"
                raise UserError(f"{results} holds runs {text}: choose another --out, or make them again with --replace")
            keep_inputs(sweep, results)
            unfinished.file.write(f"{json.dumps(description, indent=2)}\n".encode())
            unfinished.finish()
        remember(results, sweep.measure)
    with _removed_if_empty(results, is_first, created):
        yield


def _text_hash(sweep: Sweep) -> str:
    """A digest of the template and its parts: agents that are added later run in the same scenario."""
    files = sorted((file.name, file.read_bytes()) for file in sweep.template.files)
    return sha256(b"".join(sha256(part).digest() for name, text in files for part in (name.encode(), text))).hexdigest()


@contextmanager
def _removed_if_empty(results: Path, is_first: bool, created: bool) -> Iterator[None]:
    """On an error remove a first sweep's request without runs; an earlier request stays."""
    try:
        yield
    except BaseException:
        if is_first and not (results / TRACES).exists():
            with suppress(OSError):
                (results / SWEEP_FILE).unlink(missing_ok=True)
                shutil.rmtree(unlinked(results / INPUTS_FOLDER), ignore_errors=True)
                if created:
                    results.rmdir()
        raise


def is_whole(request: Mapping[str, Any]) -> bool:
    """Whether it has what every request has, and nothing unknown."""
    return request.keys() - _OPTIONAL == _NEEDED


def _check_fit(old: dict[str, Any], new: dict[str, Any], results: Path) -> None:
    """Raise UserError for another template, fixed value, axis or making: runs would share places."""
    for kind, there, asked in differences(old, new, results):
        raise UserError(f"{results} holds runs with {kind} {there}, not {asked}: choose another --out")


def differences(
    old: Mapping[str, Any], new: Mapping[str, Any], results: Path, others: Path | None = None
) -> Iterator[tuple[str, str, str]]:
    """What makes two requests different experiments: its kind and both values.

    The folders say how runs were made if the requests do not; without `others` there are no runs yet.
    """
    names, wanted = (", ".join(request[AXES]) or "none" for request in (old, new))
    before, now = made_before(results, old), made_before(others, new) if others or BACKEND in new else None
    made = zip((BACKEND, LEVEL, RECORD), map(_word, before), map(_word, now), strict=True) if before and now else ()
    kinds = (
        (TEMPLATE, old[TEMPLATE], new[TEMPLATE]),
        (SET, _settings(old[SET]), _settings(new[SET])),
        (AXES, names, wanted),
        *made,
    )
    yield from ((kind, there, asked) for kind, there, asked in kinds if there != asked)


def _word(value: object) -> str:
    return value if isinstance(value, str) else "yes" if value else "no"


def _settings(fixed: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={plain(value)}" for name, value in fixed.items()) or "none"


def united(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The union of both requests, named like the first; new values come last."""
    # Earlier requests stay: their runs are there, and would otherwise count as foreign.
    before, asked = old.get(MORE_SEEDS, {}), new.get(MORE_SEEDS, {})
    more_seeds = {point: max(before.get(point, 0), asked.get(point, 0)) for point in before | asked}
    precision = new.get(PRECISION, old.get(PRECISION))
    earlier, owners = old.get(PARAMETERS, {}), new.get(PARAMETERS, {})
    owners = {axis: list(dict.fromkeys([*earlier.get(axis, ()), *labels])) for axis, labels in owners.items()}
    titles = {key: {**old.get(key, {}), **new.get(key, {})} for key in (TITLES, AXIS_TITLES)}
    both = old.get(VALUES, {}), new.get(VALUES, {})
    titles[VALUES] = {axis: both[0].get(axis, {}) | both[1].get(axis, {}) for axis in both[0] | both[1]}
    measure, oracle = (list(dict.fromkeys([*old.get(key, []), *new.get(key, [])])) for key in (MEASURE, ORACLE))
    making = {key: request[key] for request in (old, new) for key in (BACKEND, LEVEL, RECORD) if key in request}
    return {
        **new,
        **making,
        STUDY: old[STUDY],
        SWEEP: old[SWEEP],
        AXES: {name: list(dict.fromkeys([*values, *new[AXES][name]])) for name, values in old[AXES].items()},
        AGENTS: {**old[AGENTS], **new[AGENTS]},
        SEEDS: sorted({*old[SEEDS], *new[SEEDS]}),
        **({PARAMETERS: owners} if owners else {}),
        **({MORE_SEEDS: more_seeds} if more_seeds else {}),
        **({PRECISION: precision} if precision else {}),
        **({MEASURE: measure} if measure else {}),
        **({ORACLE: oracle} if oracle else {}),
        **{key: names for key, names in titles.items() if names},
    }


# The metric files of the user's own sweeps
#
# Results can come from anybody, so a file named in `sweep.json` is not run for that reason. A user's sweep leaves a
# mark in the user's cache, for this folder and file.


def remember(results: Path, measure: Iterable[str]) -> None:
    """Mark the files that a sweep into these results names; without a cache mark nothing."""
    for file in (name for name in measure if name.endswith(".py")):
        with suppress(OSError):
            mark = _mark(results, file)
            mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            mark.touch()


def is_chosen(results: Path, reference: str) -> bool:
    """Whether a package, or an existing file that the user's own sweep into these results named."""
    return not reference.endswith(".py") or (Path(reference).is_file() and _mark(results, reference).is_file())


def _mark(results: Path, file: str) -> Path:
    digest = sha256(f"{results.resolve()}\0{Path(file).resolve()}".encode(errors="surrogateescape")).hexdigest()
    return user_cache() / "measure" / digest
