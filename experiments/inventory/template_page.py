"""The page of the documentation about a template: its variables and named settings, as the template declares them."""

from __future__ import annotations

from collections.abc import Iterable

from roambus.experiments.inventory.thing import Row, Thing
from roambus.experiments.measurements.markdown import markdown_table

PREFIX = "template-"
"""The name of each page, before the template's."""


def template_page(template: Thing) -> str:
    """The page in Markdown. It is generated, and says so."""
    name = template.name
    variables, named = template.tables["variables"], template.tables["named settings"]
    study = template.facts.get("study")
    of = f" It belongs to the study `{study}`." if study else ""
    parts = [
        f"# Template {name}",
        f"{template.summary}{of}",
        f"```console\n$ roambus run {name}{_example(variables)}\n```",
        "## Variables",
        "`--set NAME=VALUE` sets a variable. A value that it does not take is refused by name.",
        _table(("Variable", "Default", "Takes", "Meaning"), ("name", "default", "takes", "meaning"), variables),
    ]
    if named:
        parts += [
            "## Named settings",
            "Sweeps of this template have given these settings names, which `--set` takes as well.",
            _table(("Setting", "What it sets"), ("name", "sets"), named),
        ]
    parts.append(f"`roambus show {name} --kind templates` prints the same. This page is made of the template.")
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _example(variables: Iterable[Row]) -> str:
    first = next((row for row in variables if row["default"]), None)
    return f" --set {first['name']}={first['default']}" if first else ""


def _table(head: tuple[str, ...], columns: tuple[str, ...], rows: Iterable[Row]) -> str:
    return markdown_table(head, [[_cell(row.get(column, ""), column) for column in columns] for row in rows])


def _cell(text: str, column: str) -> str:
    shown = text.replace("|", "\\|")
    return f"`{shown}`" if shown and column in ("name", "default", "sets") else shown
