"""Writes the page about templates from what the templates declare, as `roambus show` has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from roambus.experiments.inventory import Row, Thing
from roambus.experiments.measurements import markdown_table

HEAD = """\
# Templates

A template is an ini with variables, from which `roambus run` and `roambus sweep` make their runs. Set variables with
`--set`, which refuses values that do not fit:

```sh
roambus run thesis --agent mft --set config=C4 --set speed=8 --set time_limit=30 --set publish_until=20 --out results/c4
roambus show thesis --kind templates
```

This page lists the templates of roambus; [Templates and sweeps](../guide/sweeps.md) says how to write one. A *named
setting*, such as `config=C4` above, sets several variables at once. `roambus show` prints the same, from the templates
and sweeps themselves.
"""


def template_page(templates: Sequence[Thing]) -> str:
    """The page in Markdown. What all templates declare alike stands in it once."""
    everywhere = [row for row in _variables(templates[0]) if all(row in _variables(one) for one in templates)]
    shared = f"## In every template\n\n{_variable_table(everywhere)}"
    sections = (_section(one, everywhere) for one in templates)
    return "\n\n".join(part.rstrip("\n") for part in (HEAD, *chain.from_iterable(sections), shared)) + "\n"


def _section(template: Thing, everywhere: Sequence[Row]) -> Iterator[str]:
    study = template.facts.get("study")
    yield f"## {template.name}"
    yield template.summary + (f" The study `{study}` uses it." if study else "")
    yield _variable_table(row for row in _variables(template) if row not in everywhere)
    if named := template.tables["named settings"]:
        yield _table(("Named setting", "What it sets"), ("name", "sets"), named)


def _variables(template: Thing) -> Sequence[Row]:
    return template.tables["variables"]


def _variable_table(rows: Iterable[Row]) -> str:
    return _table(("Variable", "Default", "Takes", "Meaning"), ("name", "default", "takes", "meaning"), rows)


def _table(head: tuple[str, ...], columns: tuple[str, ...], rows: Iterable[Row]) -> str:
    return markdown_table(head, [[_cell(row.get(column, ""), column) for column in columns] for row in rows])


def _cell(text: str, column: str) -> str:
    shown = text.replace("|", "\\|")  # a bar ends a cell of a table in Markdown
    return f"`{shown}`" if shown and column in ("name", "default", "sets") else shown
