"""`roambus docs` prints a page of the documentation, with the tables that the code declares.

A page names a table as `<!-- insert NAME -->`; this command and the site replace it by generated Markdown. A page is
known by its file name, whatever its folder, and the page of an extension by the extension's name.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from roambus.bridge.system.errors import UserError
from roambus.commands.inventory import Entry, Row, everything
from roambus.console.options import Named
from roambus.console.output import answer, answer_whole, command_output
from roambus.experiments.inventory import first_sentence, summaries
from roambus.python_protocol.settings import Setting, plain
from roambus.spark.metrics.catalogue import METRICS

PACKAGE = Path(__file__).parents[1]
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


@click.command()
@click.argument("page", type=Named(lambda _: pages()), required=False)
def docs(page: str | None) -> None:
    """Shows PAGE of the documentation, or lists all pages.

    The pages are part of the package; texts of other commands refer to them. They are printed as Markdown, on a
    terminal in a pager, with the tables that the code declares.

    Example: roambus docs tutorial
    """
    known = pages()
    if page is None:
        width = max(map(len, known))
        found = [{"name": name, "title": title_of(file)} for name, file in known.items()]
        answer_whole("\n".join(f"{row['name']:{width}}  {row['title']}" for row in found), found)
        return
    if page not in known:
        from roambus.python_protocol.settings import near

        close = near(page, known)
        raise UserError(f"no page is named {page!r}: {f'did you mean {close[0]!r}? ' if close else ''}see roambus docs")
    text = filled(known[page].read_text(encoding="utf-8"))
    if sys.stdout.isatty() and not command_output().as_json:
        click.echo_via_pager(text)
    else:
        answer(text.removesuffix("\n"), name=page, text=text)


# Tables of entries


def extensions() -> str:
    """Return each extension with a link to its page and its package's first sentence."""
    found = ((page.parent.name, page.with_name("__init__.py")) for page in sorted(EXTENSIONS.glob("*/page.md")))
    heads = [(name, ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))) for name, module in found]
    rows = [(f"[{name}](../extensions/{name}/page.md)", _escaped(first_sentence(head or ""))) for name, head in heads]
    return _markdown(("Extension", "Summary"), rows)


def agents() -> str:
    """Return the agents with a sentence for each."""
    rows = [(f"`{name}`", summary) for name, summary in summaries("agents").items()]
    return _markdown(("Agent", "Summary"), rows)


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
    return _markdown(("Metric", "Unit", "Meaning"), rows)


def study_metrics() -> str:
    """Return the metrics that studies add."""
    own = sorted(
        (metric for metric in everything("metrics") if "study" in metric.facts),
        key=lambda metric: metric.facts["study"],
    )
    rows = [(metric.facts["study"], f"`{metric.name}`", metric.facts.get("unit", ""), metric.summary) for metric in own]
    return _markdown(("Study", "Metric", "Unit", "Meaning"), rows)


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
    return _markdown(("Module", "Subject"), rows)


def _table(head: Sequence[str], columns: Sequence[str], rows: Iterable[Row]) -> str:
    return _markdown(head, [[_cell(row.get(column, ""), column) for column in columns] for row in rows])


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from roambus.experiments.measurements import markdown_table

    return markdown_table(head, rows)


def _cell(text: str, column: str) -> str:
    shown = _escaped(text)
    return f"`{shown}`" if shown and column in ("name", "default", "sets", "fields") else shown


def _escaped(text: str) -> str:
    return text.replace("|", r"\|")


# Tables of the ini's keys

_KEYS_COLUMNS = "| Key | Type | Unit | Range | Default | Meaning |\n|---|---|---|---|---|---|\n"


def key_tables() -> str:
    """Return a table for each module that has keys."""
    from roambus.bridge.formats.ini.lookup import PER_MAC, PER_MANAGER, PER_NODE, SHARED
    from roambus.bridge.scenario.models import KINDS

    sections = [f"## {title}\n\n{_key_table(keys)}" for title, keys in (SHARED | PER_NODE).items()]
    managers = [f"### {manager}\n\n{_key_table(keys)}" for manager, keys in PER_MANAGER.items() if keys]
    macs = [f"### The MAC {mac}\n\n{_key_table(keys)}" for mac, keys in PER_MAC.items()]
    named = ((f"The {models.what} {name}", keys) for models in KINDS for name, keys in models.keys.items() if keys)
    others = [f"### {title}\n\n{_key_table(keys)}" for title, keys in named]
    return "\n".join([*sections, *others, *macs, *managers])


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
