"""`roambus list` names all that there is, and `roambus show` describes an entry of the list.

A list reads sources (`experiments/inventory.py`). A description loads the entry, and has what it declares of itself
(`Setting`). A name is looked up among all kinds: `thesis` is a template, a sweep and a study. Rows of tables are
mappings of texts, so that pages and terminals show every kind alike. A broken agent is shown with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from roambus.bridge.system.errors import UserError
from roambus.console.options import ENTRY_NAME, MEASURE
from roambus.console.output import answer_whole, remark
from roambus.experiments import inventory
from roambus.experiments.inventory import KINDS, SWEEP_SUFFIX, first_sentence, heading
from roambus.python_protocol.settings import plain

if TYPE_CHECKING:
    from roambus.experiments.sweeps.sweep import Axis
    from roambus.experiments.templates.variables import Scalar
    from roambus.python_protocol.messages.message import Message
    from roambus.python_protocol.settings import Setting
    from roambus.spark.metrics.metric import Metric


@click.command("list")
@click.argument("kind", type=click.Choice(list(KINDS)), required=False)
@MEASURE
def list_entries(kind: str | None, measure: Sequence[str]) -> None:
    """Lists agents, templates, sweeps, studies or metrics.

    Without KIND it lists all of them. Each has a line with its name and a summary; roambus show has the details. The
    sweeps behind a study are named with their study. Files in the working folder come last, by their paths; none of
    them is run.

    Example: roambus list sweeps
    """
    if measure and kind not in (None, "metrics"):
        raise UserError(f"--measure brings metrics, and {kind} are listed: leave it out, or list metrics")
    found = {each: inventory.summaries(each) | inventory.own_entries(each) for each in ((kind,) if kind else KINDS)}
    if measure and "metrics" in found:
        from roambus.spark.metrics.extra import all_own_metrics

        found["metrics"] |= {metric.column: metric.meaning for metric in all_own_metrics(measure).metrics}
    document = [
        {"kind": KINDS[each].singular, "name": name, "summary": summary}
        for each, entries in found.items()
        for name, summary in entries.items()
    ]
    answer_whole("\n".join(_listed(found)), document)


def _listed(found: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """The lines of the list; sweeps behind a study are not summarised, and its metrics stand apart."""
    for kind, entries in found.items():
        behind = inventory.sweeps_of_studies() if kind == "sweeps" else {}
        added = inventory.metrics_by_study() if kind == "metrics" else {}
        hidden = {name for names in (*behind.values(), *added.values()) for name in names}
        tables = {
            kind: {name: summary for name, summary in entries.items() if name not in hidden},
            "sweeps behind a study": {study: ", ".join(names) for study, names in behind.items()},
            **{f"metrics of the study {study} only": metrics for study, metrics in added.items()},
        }
        for head, rows in tables.items():
            is_headed = len(found) > 1 or head != kind
            yield from _lines(head if is_headed else "", rows)


def _lines(head: str, rows: Mapping[str, str]) -> Iterator[str]:
    if head and rows:
        yield f"{head}:"
    width = max(map(len, rows), default=0)
    yield from (f"{'  ' if head else ''}{name:{width}}  {summary}" for name, summary in rows.items())


@click.command()
@click.argument("name", type=ENTRY_NAME)
@click.option("--kind", type=click.Choice(list(KINDS)), help="Shows only this kind, if several things have the name.")
def show(name: str, kind: str | None) -> None:
    """Shows what NAME is, and what you can set.

    NAME is that of an agent, a template, a sweep, a study or a metric, from roambus list. It can also be a file of
    your own: a template, a sweep, a study or an agent, which may be file.py:Class. The command runs a Python file
    to read it.

    An agent has parameters, which --param sets; a template has variables, which --set sets; a sweep has axes; a metric
    has a definition. If several things have the name, all of them are shown, each with its kind.

    Example: roambus show thesis
    """
    from roambus.bridge.agents import announce_code

    if is_python(name):
        announce_code(name, remark)
    found = find(name, kind)
    text = "\n\n".join("\n".join(lines_of(entry)) for entry in found)
    answer_whole(text, [document_of(entry) for entry in found])


def document_of(entry: Entry) -> dict[str, Any]:
    """All of an entry, for `--json`."""
    rows = {title: [dict(row) for row in table] for title, table in entry.tables.items()}
    return {"kind": entry.kind, "name": entry.name, "summary": entry.summary, **entry.facts, **rows}


def lines_of(entry: Entry) -> Iterator[str]:
    """All of an entry, for people."""
    yield f"{entry.kind} {entry.name}: {entry.summary}"
    yield from (f"  {word}: {value}" for word, value in entry.facts.items())
    for title, table in entry.tables.items():
        if table:
            yield f"{title}:"
            yield from (f"  {_line(row)}" for row in table)
    if entry.example:
        yield f"example: {entry.example}"


def _line(row: Row) -> str:
    name, *rest = (value for column, value in row.items() if column not in ("default", "unit"))
    head = f"{name} = {default}" if (default := row.get("default")) else name
    return "  ".join([head, "; ".join(filter(None, (sentence.rstrip(".") for sentence in rest)))]).rstrip()


# Entries

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


def find(name: str, kind: str | None = None) -> list[Entry]:
    """Find everything of that name, file or class; runs a Python file.

    Raises UserError with near names.
    """
    if is_python(name):
        return [_study(name) if Path(name).is_file() and inventory.own_study(Path(name)) else _agent(name)]
    if Path(name).is_file():
        return [_sweep(name) if name.endswith(SWEEP_SUFFIX) else _template(name)]
    asked = list(KINDS) if kind is None else [kind]
    found = [_ENTRIES[each](name) for each in asked if name in KINDS[each].sources()]
    if not found:
        close = inventory.near_names(name, asked)
        near = ", ".join(f"{KINDS[other].singular} {other_name!r}" for other, other_name in close.items())
        guess = f"did you mean {near}? " if near else ""
        raise UserError(f"there is no agent, template, sweep, study or metric {name!r}: {guess}see roambus list")
    return found


def is_python(name: str) -> bool:
    """Whether the name is a Python file, file.py:Class or module:Class."""
    return ":" in name or (name.endswith(".py") and Path(name).is_file())


def everything(kind: str) -> list[Entry]:
    """All entries of a kind by name; raises UserError for a broken one."""
    return [_ENTRIES[kind](name) for name in inventory.names(kind)]


def _entry(
    kind: str,
    name: str,
    summary: str,
    facts: Mapping[str, str] | None = None,
    tables: Mapping[str, Sequence[Row]] | None = None,
) -> Entry:
    about = KINDS[kind]
    return Entry(about.singular, name, summary, facts or {}, tables or {}, about.use(name))


# Agents


def _agent(name: str) -> Entry:
    from roambus.bridge.agents import load_agent
    from roambus.python_protocol.settings import parameter_settings

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
    facts = {"class": f"{agent.__module__}:{agent.__qualname__}", **oracle}
    tables: dict[str, Sequence[Row]] = {"parameters": parameters, "messages": messages}
    return _entry("agents", name, first_sentence(agent.__doc__ or ""), facts, tables)


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
    from roambus.experiments.sweeps.sweep_file import named_settings
    from roambus.experiments.templates.template import find_template

    template = find_template(name)
    variables = [_row(variable, declared) for variable, declared in sorted(template.variables.items())]
    tables: dict[str, Sequence[Row]] = {
        "variables": variables,
        "named settings": list(_axes(named_settings(template))),
    }
    return _entry("templates", name, heading(template.file), _study_of(template.file), tables)


def _row(name: str, declared: Setting | None) -> Row:
    """A parameter or variable; None for one that a user's template declares nowhere."""
    if declared is None:
        return {"name": name, "default": "", "meaning": "", "takes": "anything"}
    default = "" if declared.default is None else plain(declared.default)
    return {"name": name, "default": default, "meaning": declared.meaning, "takes": declared.takes}


def _sweep(name: str) -> Entry:
    from roambus.experiments.sweeps.sweep import count_points, seeds_text
    from roambus.experiments.sweeps.sweep_file import read_sweep

    sweep = read_sweep(name)
    file = Path(sweep.source)
    facts = {"template": sweep.template.stem, "runs": str(count_points(sweep)), "seeds": seeds_text(sweep.seeds)}
    agents = [
        {"name": agent.label, "agent": agent.agent, "parameters": " ".join(map("=".join, agent.parameters))}
        for agent in sweep.agents
    ]
    fixed = [{"name": _setting(*setting)} for setting in sweep.fixed.items()]
    tables: dict[str, Sequence[Row]] = {"agents": agents, "axes": list(_axes(sweep.axes)), "fixed": fixed}
    return _entry("sweeps", name, heading(file), {**facts, "back-end": sweep.backend, **_study_of(file)}, tables)


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
    return {"study": study} if (study := inventory.shipped_study(file)) else {}


# Studies and metrics


def _study(name: str) -> Entry:
    from roambus.experiments.studies.study import load_study
    from roambus.experiments.sweeps.sweep import count_points

    study = load_study(name)
    facts = {"source of its claims": study.source, "claims": str(sum(len(sweep.claims) for sweep in study.sweeps))}
    sweeps = [{"name": sweep.name, "runs": f"{count_points(sweep.asked)} runs"} for sweep in study.sweeps]
    summary = inventory.own_study(Path(name)).get(name) if name.endswith(".py") else inventory.study_summary(name)
    tables: dict[str, Sequence[Row]] = {
        "sweeps": sweeps,
        "further sweeps": _further_sweeps(name, {row["name"] for row in sweeps}),
    }
    return _entry("studies", name, summary or "", facts, tables)


def _further_sweeps(study: str, made: Container[str]) -> list[Row]:
    """The sweeps of its folder that `roambus reproduce` does not make."""
    summaries = inventory.summaries("sweeps")
    behind = inventory.sweeps_of_studies().get(study, ())
    return [{"name": name, "summary": summaries[name]} for name in behind if name not in made]


def _metric(name: str) -> Entry:
    metric, study = next((metric, study) for metric, study in _metrics(name) if metric.column == name)
    facts = {"title": metric.title, "unit": metric.unit, "scale": metric.scale.value, "study": study}
    known = {word: text for word, text in facts.items() if text}
    return _entry("metrics", name, metric.meaning, known)


def _metrics(name: str) -> Iterator[tuple[Metric, str]]:
    from roambus.experiments.studies.study import load_study
    from roambus.spark.metrics.catalogue import METRICS

    yield from ((metric, "") for metric in METRICS)
    if name in inventory.study_metrics():
        for study in inventory.shipped_studies():
            yield from ((metric, study) for sweep in load_study(study).sweeps for metric in sweep.extra.metrics)


_ENTRIES: Mapping[str, Callable[[str], Entry]] = {
    "agents": _agent,
    "templates": _template,
    "sweeps": _sweep,
    "studies": _study,
    "metrics": _metric,
}
