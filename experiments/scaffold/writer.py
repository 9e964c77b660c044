"""Writes the package of a new agent: whole, or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from roambus.bridge.errors import UserError
from roambus.experiments.scaffold.names import AgentName

TEMPLATES = Path(__file__).parent / "package"
SUFFIX = ".j2"
PACKAGE = "PACKAGE"
"""It stands for the package's name in the paths of templates."""


def write_package(name: AgentName, folder: Path) -> None:
    """Writes the package into `folder`, which must not be there yet, or nothing at all; raises UserError, OSError."""
    if folder.exists() or folder.is_symlink():
        raise UserError(f"{folder} is there already: remove it, or choose another name")
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        for path, text in _files(name):
            file = unfinished / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _files(name: AgentName) -> Iterator[tuple[str, str]]:
    """The path and the text of each file."""
    environment = Environment(  # noqa: S701  # these are texts, not pages
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, keep_trailing_newline=True
    )
    variables = {"name": name.name, "package": name.package, "class_name": name.class_name}
    for template in environment.list_templates(extensions=[SUFFIX.removeprefix(".")]):
        path = template.removesuffix(SUFFIX).replace(PACKAGE, name.package)
        values = {**variables, "message_type": name.message_type, "roambus_version": version("roambus")}
        yield path, environment.get_template(template).render(values)
