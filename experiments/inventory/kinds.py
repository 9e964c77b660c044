"""Finds all things of a kind, and the things of a name.

Nothing is listed twice: agents are entry points of what is installed, the others lie where `experiments.shipped` finds
them, and metrics are those that every run has, and those that the studies add.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from roambus.bridge.agents.registry import agent_names, load_agent
from roambus.bridge.errors import UserError
from roambus.experiments.inventory.thing import Row, Thing
from roambus.experiments.shipped import shipped_files, shipped_studies, shipped_study
from roambus.experiments.studies.registry import load_study
from roambus.experiments.sweeps import sweep_file
from roambus.experiments.sweeps.named_settings import named_settings
from roambus.experiments.sweeps.sweep import Axis, Sweep, count_points, text_of
from roambus.experiments.templates import render
from roambus.experiments.templates.render import template_variables
from roambus.experiments.templates.variables import Scalar, Variable
from roambus.python_protocol.parameters import describe_parameters
from roambus.spark.metrics.catalogue import METRICS, Metric


def find(name: str, kind: str | None = None) -> list[Thing]:
    """Everything of that name, of one kind or of all; raises UserError that says what there is."""
    found = [thing for one in _asked(kind) for thing in KINDS[one](name)]
    if not found:
        names = {thing.name for one in _asked(kind) for thing in KINDS[one](None)}
        near = get_close_matches(name, names, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        raise UserError(f"nothing is called {name!r}: {guess}roambus list says what there is")
    return found


def everything(kind: str) -> list[Thing]:
    """All things of a kind, in the order of their names; raises UserError for one that is broken."""
    return sorted(KINDS[kind](None), key=lambda thing: thing.name)


def _asked(kind: str | None) -> Iterable[str]:
    return KINDS if kind is None else (kind,)


# Agents


def _agents(name: str | None) -> Iterator[Thing]:
    for one in agent_names():
        if name in (None, one):
            yield _agent(one)


def _agent(name: str) -> Thing:
    try:
        agent = load_agent(name)
    except UserError as error:
        return Thing("agent", name, f"It cannot be loaded: {error}")
    columns = ("name", "default", "unit", "source", "meaning")
    rows = [dict(zip(columns, one, strict=True)) for one in describe_parameters(agent.parameters_type)]
    parameters = [{key: row[key] for key in ("name", "default", "meaning", "unit", "source")} for row in rows]
    return Thing(
        "agent",
        name,
        first_sentence(agent.__doc__ or ""),
        {"class": f"{agent.__module__}:{agent.__qualname__}"},
        {"parameters": parameters},
        f"roambus run field --agent {name}",
    )


# Templates and sweeps


def _templates(name: str | None) -> Iterator[Thing]:
    for one, file in shipped_files(render.SUFFIX).items():
        if name in (None, one):
            yield _template(one, file)


def _template(name: str, file: Path) -> Thing:
    variables = [_variable(one, declared) for one, declared in sorted(template_variables(file).items())]
    return Thing(
        "template",
        name,
        _heading(file),
        _study_of(file),
        {"variables": variables, "named settings": list(_axes(named_settings(file)))},
        f"roambus run {name}",
    )


def _variable(name: str, declared: Variable | None) -> Row:
    if declared is None:
        return {"name": name, "default": "", "meaning": "", "takes": "anything"}
    default = "" if declared.default is None else text_of(declared.default)
    return {"name": name, "default": default, "meaning": declared.meaning, "takes": declared.takes}


def _sweeps(name: str | None) -> Iterator[Thing]:
    for one, file in shipped_files(sweep_file.SUFFIX).items():
        if name in (None, one):
            yield _sweep(one, file)


def _sweep(name: str, file: Path) -> Thing:
    sweep = sweep_file.read_sweep(str(file))
    facts = {"template": sweep.template.name.removesuffix(render.SUFFIX), "runs": str(count_points(sweep))}
    return Thing(
        "sweep",
        name,
        _heading(file),
        {**facts, "seeds": str(len(sweep.seeds)), "back-end": sweep.backend, **_study_of(file)},
        {"agents": _choices(sweep), "axes": list(_axes(sweep.axes)), "fixed": list(_settings(sweep.fixed))},
        f"roambus sweep {name}",
    )


def _choices(sweep: Sweep) -> list[Row]:
    return [
        {
            "name": one.label,
            "agent": one.agent,
            "parameters": " ".join(map("=".join, one.parameters)),
        }
        for one in sweep.agents
    ]


def _axes(axes: Iterable[Axis]) -> Iterator[Row]:
    for axis in axes:
        if axis.zipped:
            yield from (_point(axis.name, label, settings) for label, settings in axis.values.items())
        else:
            yield {"name": axis.name, "values": ", ".join(axis.values)}


def _point(axis: str, label: str, settings: Mapping[str, Scalar]) -> Row:
    return {"name": f"{axis}={label}", "sets": " ".join(f"{key}={text_of(value)}" for key, value in settings.items())}


def _settings(fixed: Mapping[str, Scalar]) -> Iterator[Row]:
    return ({"name": f"{name}={text_of(value)}"} for name, value in fixed.items())


def _study_of(file: Path) -> dict[str, str]:
    study = shipped_study(file)
    return {"study": study} if study else {}


# Studies and metrics


def _studies(name: str | None) -> Iterator[Thing]:
    for one, folder in shipped_studies().items():
        if name in (None, one):
            yield _study(one, folder)


def _study(name: str, folder: Path) -> Thing:
    study = load_study(name)
    facts = {"source of its claims": study.source, "claims": str(sum(len(sweep.claims) for sweep in study.sweeps))}
    sweeps = [{"name": sweep.name, "runs": f"{count_points(sweep.asked)} runs"} for sweep in study.sweeps]
    told = ast.get_docstring(ast.parse((folder / "study.py").read_text(encoding="utf-8"))) or ""
    example = f"roambus reproduce {name} --quick"
    return Thing("study", name, first_sentence(told), facts, {"sweeps": sweeps}, example)


def _metrics(name: str | None) -> Iterator[Thing]:
    found = {metric.column: _metric(metric, "") for metric in METRICS}
    for study in shipped_studies():
        for sweep in load_study(study).sweeps:
            found |= {one.column: _metric(one, study) for one in sweep.extra.catalogue if one.column not in found}
    return (thing for column, thing in found.items() if name in (None, column))


def _metric(metric: Metric, study: str) -> Thing:
    facts = {"title": metric.title, "unit": metric.unit, "scale": metric.scale.value, "study": study}
    known = {word: value for word, value in facts.items() if value}
    example = f"roambus compare RESULTS --metric {metric.column}"
    return Thing("metric", metric.column, metric.meaning, known, example=example)


# Helpers


def first_sentence(text: str) -> str:
    """The first sentence of a docstring or a comment, on one line."""
    line = " ".join(text.strip().partition("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", line, maxsplit=1)[0]


def _heading(file: Path) -> str:
    """The first sentence of the comment with which a template or a sweep begins; a command in it is not part of it."""
    lines = file.read_text(encoding="utf-8").splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith("# ")), len(lines))
    comment = []
    for line in lines[start:]:
        if not line.startswith("#") or line.startswith("#  "):
            break
        comment.append(line.lstrip("# "))
    return re.sub(r":$", ".", first_sentence("\n".join(comment)))


KINDS: Mapping[str, Callable[[str | None], Iterator[Thing]]] = {
    "agents": _agents,
    "templates": _templates,
    "sweeps": _sweeps,
    "studies": _studies,
    "metrics": _metrics,
}
"""What can be listed, by the word for it: each gives the things of a name, or all of them."""
