"""Reads the tables of a Markdown document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def documents() -> list[Path]:
    """Every page, of the core and of each extension."""
    extensions = (ROOT / "extensions").glob
    return [*sorted(DOCS.rglob("*.md")), *sorted(extensions("*/page.md")), *sorted(extensions("*/results/*.md"))]


def page(name: str) -> Path:
    """The page of docs/ with this name, whatever its shelf; an extension's page is beside its tests."""
    (found,) = DOCS.rglob(f"{name}.md")
    return found


Row = Mapping[str, str]
"""A row of a table: its cells by the names of their columns."""


BAR = re.compile(r"(?<!\\)\|")
"""Ends a cell of a table; a bar within a cell has a backslash before it."""


def section(document: Path, title: str) -> str:
    """The part under the one heading of the second level that has these words in it."""
    parts = document.read_text(encoding="utf-8").split("\n## ")[1:]
    found = [part for part in parts if title in part.partition("\n")[0]]
    assert len(found) == 1, f"{document.name} has {len(found)} sections {title!r}"
    return found[0]


def rows(text: str, first_column: str) -> Iterator[Row]:
    """The rows of all tables whose first column has that name."""
    head: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in BAR.split(line[1:-1])]
        if not line.startswith("|"):
            head = []
        elif not head:
            head = cells
        elif head[0] == first_column and set(line) != set("|-"):
            yield dict(zip(head, cells, strict=True))


def rewrite_column(document: Path, title: str, column: tuple[str, str], cells: Mapping[str, str]) -> None:
    """Writes `cells`, by the first cells of their rows; `column` names the first column of the tables, and this one."""
    part, lines, place = section(document, title), list[str](), 0
    for line in part.split("\n"):
        row = [cell.strip() for cell in line[1:-1].split("|")]
        if row[0] == column[0]:
            place = row.index(column[1])
        elif not line.startswith("|"):
            place = 0
        is_other = place and row[0] in cells and row[place] != cells[row[0]]
        lines.append(f"| {' | '.join([*row[:place], cells[row[0]], *row[place + 1 :]])} |" if is_other else line)
    text = document.read_text(encoding="utf-8")
    document.write_text(text.replace(part, "\n".join(lines)), encoding="utf-8")


def quoted(text: str) -> list[str]:
    """What stands there as code."""
    return re.findall(r"`([^`]+)`", text)


BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
"""A block of code: its language and content."""
LISTING = re.compile(r"`([\w.]+)`, is\s+complete")
LISTED = {"python", "text", "toml"}
"""Languages of blocks that are files, each named by `NAME`, is complete."""


def listings(text: str) -> dict[str, str]:
    """The files that a document shows as a whole, by their names."""
    contents = [content for language, content in BLOCK.findall(text) if language in LISTED]
    return dict(zip(LISTING.findall(text), contents, strict=True))


def marked(document: Path, tables: Mapping[str, str], *, rewrite: bool) -> tuple[str, str]:
    """A document, and what it should be: with each table between the two comments that have its name."""
    text = wanted = document.read_text(encoding="utf-8")
    for name, table in tables.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = wanted.partition(begin)
        assert end in rest, f"{document.name} has no place for {name}"
        wanted = f"{before}{begin}\n\n{table.strip()}\n\n{end}{rest.partition(end)[2]}"
    if rewrite:
        document.write_text(wanted, encoding="utf-8")
        text = wanted
    return text, wanted
