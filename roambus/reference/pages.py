"""Finds the documentation pages and fills in the code's declarations.

A page names a table as `<!-- insert NAME -->`; `roambus docs` and the site replace it by generated Markdown. A page is
known by its file name, whatever its folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from roambus.reference import ini_keys, tables

FOLDER = Path(__file__).parents[1] / "docs"
MARK = re.compile(r"^<!-- insert ([\w ]+) -->$", re.MULTILINE)

TABLES: Mapping[str, Callable[[], str]] = {
    "agents": tables.agents,
    "castalia keys": ini_keys.castalia_table,
    "commands": tables.commands,
    "ini keys": ini_keys.key_tables,
    "messages": tables.messages,
    "metrics": tables.metrics,
    "modules": tables.modules,
    "parameters": tables.parameters,
    "signatures": tables.signatures,
    "study metrics": tables.study_metrics,
    "templates": tables.templates,
}
"""The tables by the names that pages use."""


def pages() -> dict[str, Path]:
    """Return the files of the pages by their names."""
    return {file.stem: file for file in sorted(FOLDER.rglob("*.md"))}


def title_of(page: Path) -> str:
    """Return the heading that a page begins with."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), page.stem)


def filled(text: str) -> str:
    """Replace every mark in a page by its table."""
    return MARK.sub(lambda mark: TABLES[mark[1]]().strip(), text)
