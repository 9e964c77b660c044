"""Describes each agent, template, sweep, study and metric, and has the documentation's pages with tables of them.

`inventory` has names and summaries without imports; here a thing is loaded, and described by its own declarations
(`Setting`). A name is looked up among all kinds: `thesis` is a template, a sweep and a study. Rows are mappings of
texts, so the output knows no kind. A broken agent is shown with the reason.

A page names a table as `<!-- insert NAME -->`; `roambus docs` and the site replace it by generated Markdown. A page is
known by its file name, whatever its folder, and the page of an extension by the extension's name.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from roambus.bridge.agents import load_agent
from roambus.bridge.formats.ini.lookup import PER_MAC, PER_MANAGER, PER_NODE, SHARED
from roambus.bridge.system.errors import UserError
from roambus.experiments import inventory
from roambus.experiments.inventory import KINDS, SINGULAR, SWEEP_SUFFIX, first_sentence, heading
from roambus.experiments.measurements import markdown_table
from roambus.experiments.studies.study import load_study
from roambus.experiments.sweeps.sweep import Axis, count_points
from roambus.experiments.sweeps.sweep_file import named_settings, read_sweep
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.settings import Setting, parameter_settings, plain
from roambus.spark.metrics.catalogue import METRICS, Metric

PACKAGE = Path(__file__).parent
PARTS = ("python_protocol", "bridge", "spark", "experiments", "commands", "testing", "extensions")
"""Package folders, in the order of the module list."""
FOLDER = PACKAGE / "docs"
EXTENSIONS = PACKAGE / "extensions"
MARK = re.compile(r"^<!-- insert ([\w ]+) -->$", re.MULTILINE)


def pages() -> dict[str, Path]:
    """Return the files of the pages by their names."""
    measured = {file.stem: file for file in sorted(EXTENSIONS.glob("*/results/*.md"))}
    extensions = {file.parent.name: file for file in sorted(EXTENSIONS.glob("*/page.md"))}
    return {file.stem: file for file in sorted(FOLDER.rglob("*.md"))} | measured | extensions


def title_of(page: Path) -> str:
    """Return the heading that a page begins with."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), page.stem)


def filled(text: str) -> str:
    """Replace every mark in a page by its table."""
    return MARK.sub(lambda mark: TABLES[mark[1]]().strip(), text)


# Things

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
    asked = KINDS if kind is None else (kind,)
    known = {given_kind: dict.fromkeys(inventory.names(given_kind)) for given_kind in asked}
    found = [_ENTRIES[given_kind](name) for given_kind in asked if name in known[given_kind]]
    if not found:
        close = inventory.near_names(name, known)
        near = ", ".join(f"{SINGULAR[near_kind]} {near_name!r}" for near_kind, near_name in close.items())
        guess = f"did you mean {near}? " if near else ""
        raise UserError(f"there is no agent, template, sweep, study or metric {name!r}: {guess}see roambus list")
    return found


def is_python(name: str) -> bool:
    """Whether the name is a Python file, file.py:Class or module:Class."""
    return ":" in name or (name.endswith(".py") and Path(name).is_file())


def everything(kind: str) -> list[Entry]:
    """All things of a kind by name; raises UserError for a broken one."""
    return [_ENTRIES[kind](name) for name in inventory.names(kind)]


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
    template = find_template(name)
    variables = [_row(variable, declared) for variable, declared in sorted(template.variables.items())]
    return Entry(
        "template",
        name,
        heading(template.file),
        _study_of(template.file),
        {"variables": variables, "named settings": list(_axes(named_settings(template)))},
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
    facts = {"template": sweep.template.stem, "runs": str(count_points(sweep))}
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
    return {"study": study} if (study := inventory.shipped_study(file)) else {}


# Studies and metrics


def _study(name: str) -> Entry:
    study = load_study(name)
    facts = {"source of its claims": study.source, "claims": str(sum(len(sweep.claims) for sweep in study.sweeps))}
    sweeps = [{"name": sweep.name, "runs": f"{count_points(sweep.asked)} runs"} for sweep in study.sweeps]
    summary = inventory.own_study(Path(name)).get(name) if name.endswith(".py") else inventory.study_summary(name)
    tables: dict[str, Sequence[Row]] = {
        "sweeps": sweeps,
        "further sweeps": _further_sweeps(name, {row["name"] for row in sweeps}),
    }
    return Entry("study", name, summary or "", facts, tables, f"roambus reproduce {name} --quick")


def _further_sweeps(study: str, made: Container[str]) -> list[Row]:
    """The sweeps of its folder that `roambus reproduce` does not make."""
    files = sorted(inventory.shipped_files(SWEEP_SUFFIX).items())
    behind = {name: file for name, file in files if name not in made and inventory.shipped_study(file) == study}
    return [{"name": name, "summary": heading(file)} for name, file in behind.items()]


def _metric(name: str) -> Entry:
    metric, study = next((metric, study) for metric, study in _metrics(name) if metric.column == name)
    facts = {"title": metric.title, "unit": metric.unit, "scale": metric.scale.value, "study": study}
    known = {word: text for word, text in facts.items() if text}
    return Entry("metric", name, metric.meaning, known, example=f"roambus compare RESULTS --metric {name}")


def _metrics(name: str) -> Iterator[tuple[Metric, str]]:
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


# Tables of things


def extensions() -> str:
    """Return each extension with a link to its page and its package's first sentence."""
    found = ((page.parent.name, page.with_name("__init__.py")) for page in sorted(EXTENSIONS.glob("*/page.md")))
    heads = [(name, ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))) for name, module in found]
    rows = [(f"[{name}](../extensions/{name}/page.md)", _escaped(first_sentence(head or ""))) for name, head in heads]
    return markdown_table(("Extension", "Summary"), rows)


def agents() -> str:
    """Return the agents with a sentence for each."""
    rows = [(f"`{name}`", summary) for name, summary in inventory.summaries("agents").items()]
    return markdown_table(("Agent", "Summary"), rows)


def parameters() -> str:
    """Return the parameters of each agent."""
    columns = ("name", "default", "takes", "meaning", "source")
    return _sections("agents", "parameters", ("Parameter", "Default", "Takes", "Meaning", "Source"), columns)


def messages() -> str:
    """Return the messages of each agent with their tags and fields."""
    return _sections("agents", "messages", ("Message", "Tag", "Fields"), ("name", "tag", "fields"))


def _sections(kind: str, table: str, head: Sequence[str], columns: Sequence[str]) -> str:
    things = [entry for entry in everything(kind) if entry.tables.get(table)]
    return "\n".join(
        f"## {entry.name}\n\n{entry.summary}\n\n{_table(head, columns, entry.tables[table])}" for entry in things
    )


def templates() -> str:
    """Return each template's variables and named settings; shared variables come last."""
    found = everything("templates")
    everywhere = [row for row in _variables(found[0]) if all(row in _variables(template) for template in found)]
    sections = [part for template in found for part in _template_section(template, everywhere)]
    return "\n\n".join([*sections, "## In every template", _variable_table(everywhere)])


def _template_section(template: Entry, everywhere: Sequence[Row]) -> Iterator[str]:
    study = template.facts.get("study")
    yield f"## {template.name}"
    yield template.summary + (f" The study `{study}` uses it." if study else "")
    yield _variable_table(row for row in _variables(template) if row not in everywhere)
    if named := template.tables["named settings"]:
        yield _table(("Named setting", "Sets"), ("name", "sets"), named)


def _variables(template: Entry) -> Sequence[Row]:
    return template.tables["variables"]


def _variable_table(rows: Iterable[Row]) -> str:
    return _table(("Variable", "Default", "Takes", "Meaning"), ("name", "default", "takes", "meaning"), rows)


def metrics() -> str:
    """Return the metrics of every run."""
    rows = [(f"`{metric.column}`", metric.unit, metric.meaning) for metric in METRICS]
    return markdown_table(("Metric", "Unit", "Meaning"), rows)


def study_metrics() -> str:
    """Return the metrics that studies add."""
    own = sorted(
        (metric for metric in everything("metrics") if "study" in metric.facts),
        key=lambda metric: metric.facts["study"],
    )
    rows = [(metric.facts["study"], f"`{metric.name}`", metric.facts.get("unit", ""), metric.summary) for metric in own]
    return markdown_table(("Study", "Metric", "Unit", "Meaning"), rows)


def commands() -> str:
    """Return each command's help, as `roambus COMMAND --help` has it."""
    group = import_module("roambus.command_line").commands  # which imports this module for `roambus docs`
    with click.Context(group, info_name="roambus", terminal_width=100) as context:
        return "\n\n".join(_helps(group, context))


def _helps(group: click.Group, context: click.Context) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            continue
        with click.Context(command, info_name=name, parent=context, terminal_width=100) as inner:
            yield f"## {inner.command_path}\n\n```none\n{command.get_help(inner)}\n```"
            if isinstance(command, click.Group):
                yield from _helps(command, inner)


def signatures() -> str:
    """Return each public name with its signature and first sentence."""
    public = import_module("roambus")
    found = ((name, getattr(public, name)) for name in public.__all__)
    return "\n\n".join(
        _signature(name, member) for name, member in found if inspect.isclass(member) or inspect.isfunction(member)
    )


def _signature(name: str, described: Any) -> str:
    kind = "class" if inspect.isclass(described) else "def"
    methods = [
        f"    def {member}{_arguments(method)}"
        for member, method in vars(described).items()
        if kind == "class" and inspect.isfunction(method) and member[0] != "_"
    ]
    code = "\n".join([f"{kind} {name}{_arguments(described)}", *methods])
    return f"### {name}\n\n{first_sentence(inspect.getdoc(described) or '')}\n\n```python\n{code}\n```"


def _arguments(callable_: Any) -> str:
    try:
        return re.sub(r"\broambus\.[\w.]+\.", "", str(inspect.signature(callable_))).replace("'", "")
    except ValueError:  # a class that C has made
        return "(...)"


def modules() -> str:
    """Return modules by folder with their docstrings' first sentences."""
    sections = (f"## {part}\n\n{_modules_of(part)}" for part in PARTS)
    return "\n".join(sections)


def _modules_of(part: str) -> str:
    written = (file for file in sorted((PACKAGE / part).rglob("*.py")) if not file.stem.endswith("_pb2"))
    files = [file for file in written if "tests" not in file.relative_to(PACKAGE).parts]
    heads = [(file, ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "") for file in files]
    rows = [(f"`{file.relative_to(PACKAGE)}`", _escaped(first_sentence(head))) for file, head in heads if head]
    return markdown_table(("Module", "Subject"), rows)


def _table(head: Sequence[str], columns: Sequence[str], rows: Iterable[Row]) -> str:
    return markdown_table(head, [[_cell(row.get(column, ""), column) for column in columns] for row in rows])


def _cell(text: str, column: str) -> str:
    shown = _escaped(text)
    return f"`{shown}`" if shown and column in ("name", "default", "sets", "fields") else shown


def _escaped(text: str) -> str:
    return text.replace("|", r"\|")


# Tables of the ini's keys

_KEYS_COLUMNS = "| Key | Type | Unit | Range | Default | Meaning |\n|---|---|---|---|---|---|\n"


def key_tables() -> str:
    """Return a table for each module that has keys."""
    sections = [f"## {title}\n\n{_key_table(keys)}" for title, keys in (SHARED | PER_NODE).items()]
    managers = [f"### {manager}\n\n{_key_table(keys)}" for manager, keys in PER_MANAGER.items() if keys]
    macs = [f"### The MAC {mac}\n\n{_key_table(keys)}" for mac, keys in PER_MAC.items()]
    return "\n".join([*sections, *macs, *managers])


def _key_table(keys: Iterable[Setting]) -> str:
    return _KEYS_COLUMNS + "".join(f"| {' | '.join(_cells(key))} |\n" for key in keys)


def _cells(key: Setting) -> Iterator[str]:
    default = "must be set" if key.default is None else f"`{key.default}`"
    choices = [plain(choice) or '""' for choice in key.choices]
    within = " or ".join(f"`{choice}`" for choice in choices) or key.range_text()
    for cell in (f"`{key.name}`", key.kind.name, key.measure, within, default, key.meaning):
        yield cell.replace("|", r"\|")


TABLES: Mapping[str, Callable[[], str]] = {
    "agents": agents,
    "commands": commands,
    "extensions": extensions,
    "ini keys": key_tables,
    "messages": messages,
    "metrics": metrics,
    "modules": modules,
    "parameters": parameters,
    "signatures": signatures,
    "study metrics": study_metrics,
    "templates": templates,
}
"""The tables by the names that pages use."""
