"""Finds the conditions that are not the study's own: changed settings, and parts of the study that were not run.

The claims of a study are about its own settings. Its report, its captions and its commands therefore name every
setting that differs, with the study's value behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from roambus.bridge.runs.layout import AGENTS, BACKEND, LACKING, SEED, SET, TEMPLATE, count_runs
from roambus.experiments.measurements import Measurements
from roambus.experiments.studies.crashes import crashes
from roambus.experiments.studies.study import Study, StudyResults, SweepResults, origin_of
from roambus.experiments.sweeps.selection import override
from roambus.experiments.sweeps.sweep import Sweep, first_seeds, seed_ranges
from roambus.python_protocol.settings import Setting, plain

WHOLE, QUICK, PART = "The whole study.", "The study in small (--quick).", "A part of the study."
OTHER, ALONE = "The study under other conditions.", "One sweep."


class Difference(NamedTuple):
    """A condition that differs: its name, its value in these results, and the study's."""

    name: str
    here: str
    study: str
    is_part: bool = False
    """Whether the results only have fewer of the study's values, agents, seeds or runs."""


def scope(found: StudyResults) -> str:
    """Whether the results are the whole study, the quick one, a part, or under other conditions."""
    if found.study is None:
        return ALONE
    kinds = {_kind(sweep) for sweep in found.sweeps}
    if OTHER in kinds:
        return OTHER
    return PART if len(found.sweeps) < len(found.study.sweeps) or len(kinds) > 1 else kinds.pop()


def _kind(found: SweepResults) -> str:
    if found.origin is None:
        return PART
    own = found.origin.sweep
    asked = found.origin.study.asked(own)
    wanted = {WHOLE: asked, QUICK: override(asked, own.quick, first_seeds(asked, own.quick_seeds))}
    those = {kind: [*_differences(found.measured, sweep)] for kind, sweep in wanted.items()}
    whole = PART if all(difference.is_part for difference in those[WHOLE]) else OTHER
    return next((kind for kind, differing in those.items() if not differing), whole)


def differences(found: SweepResults) -> list[Difference]:
    """The conditions of a sweep that its study does not have; none without a study. Raises UserError."""
    origin = found.origin
    return [*_differences(found.measured, origin.study.asked(origin.sweep))] if origin else []


def conditions(found: SweepResults) -> str:
    """Sentences on the differences and on crashes, for captions and heads; empty if there are none."""
    differing = differences(found)
    study = found.origin.study.name if found.origin else ""
    other = "; ".join(f"{name} {here} (study: {there})" for name, here, there, is_part in differing if not is_part)
    part = "; ".join(f"{name} {here}" for name, here, _, is_part in differing if is_part)
    sentences = (
        other and f"Conditions differ from those of study {study}: {other}.",
        part and f"Only a part of study {study} was run: {part}.",
        crashes(found.measured, found.folder),
    )
    return " ".join(filter(None, sentences))


def conditions_of(measured: Measurements, folder: Path, own: Study | None = None) -> str:
    """The same sentences about the measurements of a folder. Raises UserError."""
    return conditions(SweepResults(measured, origin_of(folder, own), folder))


def heads(found: StudyResults) -> list[str]:
    """The sentences about each sweep, under its name if the study has several."""
    missing = [sweep.name for sweep in found.study.sweeps if not _is_there(sweep.name, found)] if found.study else []
    several = found.study is not None and len(found.study.sweeps) > 1
    told = [(sweep.origin.sweep.name if sweep.origin else "", conditions(sweep)) for sweep in found.sweeps]
    lines = [f"Sweep {name}: {text}" if several else text for name, text in told if text]
    return [*lines, *([f"These sweeps of the study were not run: {', '.join(missing)}."] if missing else [])]


def _is_there(name: str, found: StudyResults) -> bool:
    return any(sweep.origin and sweep.origin.sweep.name == name for sweep in found.sweeps)


def _differences(measured: Measurements, asked: Sweep) -> Iterator[Difference]:
    if not measured.sweep:
        yield Difference("settings", "not recorded", "its own")
        return
    yield from _settings(measured, asked)
    yield from _agents(measured, asked)
    yield from _axes(measured, asked)
    yield from _counts(measured, asked)


def _settings(measured: Measurements, asked: Sweep) -> Iterator[Difference]:
    """Back-end, template and fixed settings; a setting that is not given has its default."""
    for name, there in ((BACKEND, asked.backend), (TEMPLATE, asked.template.name)):
        if (recorded := measured.sweep.get(name, there)) != there:
            yield Difference(name, recorded, there)
    variables, fixed = asked.template.variables, measured.sweep.get(SET, {})
    for name in dict.fromkeys([*asked.fixed, *fixed]):
        declared = variables.get(name)
        default = declared.default if declared else None
        given, own = fixed.get(name, default), asked.fixed.get(name, default)
        if _typed(given, declared) != _typed(own, declared):
            yield Difference(_words(name), _shown(given, declared), _shown(own, declared))


def _typed(value: Any, declared: Setting | None) -> Any:
    """The value that is meant: 200, 200s and 200000ms are one time."""
    with suppress(ValueError):
        return plain(value) if declared is None or value is None else declared.read_given(value)
    return plain(value)


def _shown(value: Any, declared: Setting | None) -> str:
    if value is None:
        return "not set"
    unit = "" if declared is None else "s" if declared.kind.is_time else declared.measure
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{plain(value)} {unit}".rstrip() if is_number else plain(value)


def _agents(measured: Measurements, asked: Sweep) -> Iterator[Difference]:
    """Agents that stand for others under the same name, then those that are missing."""
    there = {choice.label: (choice.agent, dict(choice.parameters)) for choice in asked.agents}
    for label, (agent, parameters) in measured.sweep.get(AGENTS, {}).items():
        if label in there and label in measured.agents and (agent, parameters) != there[label]:
            yield Difference(f"agent {label}", _agent(agent, parameters), _agent(*there[label]))
    chosen = [label for label in there if label in measured.agents]
    if len(chosen) < len(there):
        yield Difference("agents", ", ".join(chosen) or "none", ", ".join(there), is_part=True)


def _agent(agent: str, parameters: Mapping[str, str]) -> str:
    return " ".join(["is", agent, *(f"with {name}={value}" for name, value in parameters.items())])


def _axes(measured: Measurements, asked: Sweep) -> Iterator[Difference]:
    there = {axis.name: list(axis.values) for axis in asked.axes}
    for axis in dict.fromkeys([*there, *measured.axes]):
        here = [value for value in measured.values(axis) if value != LACKING]
        own = there.get(axis, [])
        if set(here) != set(own):
            values, study = (", ".join(values) or "not varied" for values in (here, own))
            yield Difference(_words(axis), values, study, is_part=bool(here) and set(here) < set(own))


def _counts(measured: Measurements, asked: Sweep) -> Iterator[Difference]:
    """Other seeds than the study has, or fewer, at any point, and runs that are missing."""
    seeds = measured.seeds_of_points
    here, own = set(measured.runs[SEED].tolist()), set(asked.seeds)
    if here - own and own - here:
        yield Difference("seeds", seed_ranges(here), seed_ranges(own))
    elif seeds.min() < len(asked.seeds):
        yield Difference("seeds", f"{_range(sorted(set(seeds)))} of {len(asked.seeds)}", "all", is_part=True)
    wanted, there = count_runs(measured.sweep), len(measured.runs)
    if wanted is not None and there < wanted:
        yield Difference("runs", f"{there:,} of {wanted:,}", "all", is_part=True)


def _range(counts: Sequence[int]) -> str:
    return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _words(name: str) -> str:
    return name.replace("_", " ")
