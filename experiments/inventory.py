"""Agents, templates, sweeps, studies and metrics of roambus and installed packages, with their settings.

A name is looked up among all kinds: `thesis` is a template, a sweep and a study. Text and JSON come from a thing's own
declarations (`Setting`). Rows are mappings of texts, so the output knows no kind. A broken agent is shown with the
reason. `listing` has names and summaries without imports.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from roambus.bridge.agents import load_agent
from roambus.bridge.system.errors import UserError
from roambus.experiments.listing import (
    KINDS,
    SINGULAR,
    first_sentence,
    heading,
    names,
    own_study,
    study_metrics,
    study_summary,
)
from roambus.experiments.shipped import (
    SWEEP_SUFFIX,
    TEMPLATE_SUFFIX,
    near_names,
    shipped_files,
    shipped_studies,
    shipped_study,
)
from roambus.experiments.studies.study import load_study
from roambus.experiments.sweeps.sweep import Axis, count_points
from roambus.experiments.sweeps.sweep_file import named_settings, read_sweep
from roambus.experiments.templates.render import find_template, template_variables
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.settings import Setting, parameter_settings, plain
from roambus.spark.metrics.catalogue import METRICS, Metric

Row = Mapping[str, str]
"""A table row by column name; the first column names its subject."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An agent, template, sweep, study or metric; `kind` is in the singular."""

    kind: str
    name: str
    summary: str
    """One sentence."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Facts as texts, by a word for each."""
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    """Tables, such as an agent's parameters, by their headings."""
    example: str = ""
    """A command that uses it."""

    def as_json(self) -> dict[str, Any]:
        """All of it, for `--json`."""
        rows = {title: [dict(row) for row in table] for title, table in self.tables.items()}
        return {"kind": self.kind, "name": self.name, "summary": self.summary, **self.facts, **rows}

    def lines(self) -> Iterator[str]:
        """All of it, for people."""
        yield f"{self.kind} {self.name}: {self.summary}"
        yield from (f"  {word}: {value}" for word, value in self.facts.items())
        for title, table in self.tables.items():
            if table:
                yield f"{title}:"
                yield from (f"  {_line(row)}" for row in table)
        if self.example:
            yield f"example: {self.example}"


def _line(row: Row) -> str:
    name, *rest = (value for column, value in row.items() if column not in ("default", "unit"))
    head = f"{name} = {default}" if (default := row.get("default")) else name
    return "  ".join([head, "; ".join(filter(None, (sentence.rstrip(".") for sentence in rest)))]).rstrip()


def find(name: str, kind: str | None = None) -> list[Entry]:
    """Find everything of that name, file or class; runs a Python file.

    Raises UserError with near names.
    """
    if is_python(name):
        return [_study(name) if Path(name).is_file() and own_study(Path(name)) else _agent(name)]
    if Path(name).is_file():
        return [_template(name) if name.endswith(TEMPLATE_SUFFIX) else _sweep(name)]
    asked = KINDS if kind is None else (kind,)
    known = {given_kind: dict.fromkeys(names(given_kind)) for given_kind in asked}
    found = [_ENTRIES[given_kind](name) for given_kind in asked if name in known[given_kind]]
    if not found:
        near = ", ".join(f"{SINGULAR[near_kind]} {close!r}" for near_kind, close in near_names(name, known).items())
        guess = f"did you mean {near}? " if near else ""
        raise UserError(f"there is no agent, template, sweep, study or metric {name!r}: {guess}see roambus list")
    return found


def is_python(name: str) -> bool:
    """Whether the name is a Python file, file.py:Class or module:Class."""
    return ":" in name or (name.endswith(".py") and Path(name).is_file())


def everything(kind: str) -> list[Entry]:
    """All things of a kind by name; raises UserError for a broken one."""
    return [_ENTRIES[kind](name) for name in names(kind)]


# Agents


def _agent(name: str) -> Entry:
    try:
        agent = load_agent(name)
    except UserError as error:
        hint = f"; if it has metrics, see roambus list metrics --measure {name}" if name.endswith(".py") else ""
        return Entry("agent", name, f"It cannot be loaded: {error}{hint}")
    oracle = {"told by the scenario": "who the subscribers are"} if agent.oracle_subscribers else {}
    declared = parameter_settings(agent.parameters_type)
    parameters = [
        {**_row(name, setting), "unit": setting.unit, "source": setting.source} for name, setting in declared.items()
    ]
    messages = [
        {"name": _type_of(message), "tag": str(message.tag), "fields": _fields(message)} for message in agent.messages
    ]
    return Entry(
        "agent",
        name,
        first_sentence(agent.__doc__ or ""),
        {"class": f"{agent.__module__}:{agent.__qualname__}", **oracle},
        {"parameters": parameters, "messages": messages},
        f"roambus run field --agent {name}",
    )


def _type_of(message: type[Message]) -> str:
    """The type as in transcripts; a message with its content's type is named by its class."""
    declared: object = message.message_type
    return declared if isinstance(declared, str) else message.__name__.upper()


def _fields(message: type[Message]) -> str:
    return ", ".join(
        f"{message_field.name}: {getattr(message_field.type, '__name__', message_field.type)}"
        for message_field in fields(message)
    )


# Templates and sweeps


def _template(name: str) -> Entry:
    file = find_template(name)
    variables = [_row(variable, declared) for variable, declared in sorted(template_variables(file).items())]
    return Entry(
        "template",
        name,
        heading(file),
        _study_of(file),
        {"variables": variables, "named settings": list(_axes(named_settings(file)))},
        f"roambus run {name}",
    )


def _row(name: str, declared: Setting | None) -> Row:
    """A parameter or variable; None for one that a user's template declares nowhere."""
    if declared is None:
        return {"name": name, "default": "", "meaning": "", "takes": "anything"}
    default = "" if declared.default is None else plain(declared.default)
    return {"name": name, "default": default, "meaning": declared.meaning, "takes": declared.takes}


def _sweep(name: str) -> Entry:
    sweep = read_sweep(name)
    facts = {"template": sweep.template.name.removesuffix(TEMPLATE_SUFFIX), "runs": str(count_points(sweep))}
    return Entry(
        "sweep",
        name,
        heading(Path(sweep.source)),
        {**facts, "seeds": str(len(sweep.seeds)), "back-end": sweep.backend, **_study_of(Path(sweep.source))},
        {
            "agents": [
                {"name": agent.label, "agent": agent.agent, "parameters": " ".join(map("=".join, agent.parameters))}
                for agent in sweep.agents
            ],
            "axes": list(_axes(sweep.axes)),
            "fixed": [{"name": _setting(*setting)} for setting in sweep.fixed.items()],
        },
        f"roambus sweep {name}",
    )


def _axes(axes: Iterable[Axis]) -> Iterator[Row]:
    for axis in axes:
        if not axis.zipped:
            yield {"name": axis.name, "values": ", ".join(axis.values)}
            continue
        for label, settings in axis.values.items():
            yield {"name": f"{axis.name}={label}", "sets": " ".join(_setting(*setting) for setting in settings.items())}


def _setting(name: str, value: Scalar) -> str:
    return f"{name}={plain(value)}"


def _study_of(file: Path) -> dict[str, str]:
    return {"study": study} if (study := shipped_study(file)) else {}


# Studies and metrics


def _study(name: str) -> Entry:
    study = load_study(name)
    facts = {"source of its claims": study.source, "claims": str(sum(len(sweep.claims) for sweep in study.sweeps))}
    sweeps = [{"name": sweep.name, "runs": f"{count_points(sweep.asked)} runs"} for sweep in study.sweeps]
    summary = own_study(Path(name)).get(name) if name.endswith(".py") else study_summary(name)
    tables: dict[str, Sequence[Row]] = {
        "sweeps": sweeps,
        "further sweeps": _further_sweeps(name, {row["name"] for row in sweeps}),
    }
    return Entry("study", name, summary or "", facts, tables, f"roambus reproduce {name} --quick")


def _further_sweeps(study: str, made: Container[str]) -> list[Row]:
    """The sweeps of its folder that `roambus reproduce` does not make."""
    files = {name: file for name, file in sorted(shipped_files(SWEEP_SUFFIX).items()) if shipped_study(file) == study}
    return [{"name": name, "summary": heading(file)} for name, file in files.items() if name not in made]


def _metric(name: str) -> Entry:
    metric, study = next((metric, study) for metric, study in _metrics(name) if metric.column == name)
    facts = {"title": metric.title, "unit": metric.unit, "scale": metric.scale.value, "study": study}
    known = {word: text for word, text in facts.items() if text}
    return Entry("metric", name, metric.meaning, known, example=f"roambus compare RESULTS --metric {name}")


def _metrics(name: str) -> Iterator[tuple[Metric, str]]:
    yield from ((metric, "") for metric in METRICS)
    if name in study_metrics():
        for study in shipped_studies():
            yield from ((metric, study) for sweep in load_study(study).sweeps for metric in sweep.extra.metrics)


_ENTRIES: Mapping[str, Callable[[str], Entry]] = {
    "agents": _agent,
    "templates": _template,
    "sweeps": _sweep,
    "studies": _study,
    "metrics": _metric,
}
