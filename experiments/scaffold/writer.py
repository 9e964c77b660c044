"""Writes the package of a new agent, completely or not at all.

The files are templates in `package/`; PACKAGE in their paths stands for the package's name. From "my-gossip", the agent
and distribution, follow the package "my_gossip", the class "MyGossip", and its message "MY-GOSSIP". So no agent, Python
keyword or importable package may have the name.
"""

from __future__ import annotations

import importlib.util
import keyword
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from roambus.bridge.agents import agent_names
from roambus.bridge.system.errors import UserError

LONGEST = 40
"""In characters; classes, files and message types have the name."""
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
TEMPLATES = Path(__file__).parent / "package"
SUFFIX = ".j2"
PACKAGE = "PACKAGE"
"""It stands for the package's name in the paths of templates."""


@dataclass(frozen=True, slots=True)
class AgentName:
    """The name of an agent and its distribution: "my-gossip"."""

    name: str

    @property
    def package(self) -> str:
        """The Python package: "my_gossip"."""
        return self.name.replace("-", "_")

    @property
    def class_name(self) -> str:
        """The agent's class: "MyGossip"."""
        return "".join(word.capitalize() for word in self.name.split("-"))

    @property
    def message_type(self) -> str:
        """The message type in traces: "MY-GOSSIP"."""
        return self.name.upper()


def read_name(text: str) -> AgentName:
    """Raise UserError for an invalid or used name."""
    if _NAME.fullmatch(text) is None or len(text) > LONGEST:
        raise UserError(
            f"{text!r} is not a name for an agent: small letters and digits, a letter first, - between words, "
            f"at most {LONGEST}, such as my-gossip"
        )
    name = AgentName(text)
    if text in agent_names():
        raise UserError(f"there is an agent {text!r} already: choose another name (roambus list agents has them)")
    if _is_taken(name.package):
        raise UserError(f"{name.package!r} is a word or a package of Python's here already: choose another name")
    return name


def _is_taken(package: str) -> bool:
    if keyword.iskeyword(package) or package in sys.stdlib_module_names:
        return True
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # a package that is there, but broken
        return True


def write_package(name: AgentName, folder: Path) -> None:
    """Write the package into the new `folder`, or nothing; raise UserError, OSError."""
    with new_folder(folder, "choose another name") as unfinished:
        for path, text in _files(name):
            file = unfinished / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


@contextmanager
def new_folder(folder: Path, remedy: str) -> Iterator[Path]:
    """Make a folder that becomes `folder` at the end, or is removed after an error; raise UserError, OSError."""
    if folder.exists() or folder.is_symlink():
        raise UserError(f"{folder} is there already: remove it, or {remedy}")
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        unfinished.mkdir(parents=True)
        yield unfinished
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _files(name: AgentName) -> Iterator[tuple[str, str]]:
    environment = Environment(  # noqa: S701  # these are texts, not pages
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, keep_trailing_newline=True
    )
    for template in environment.list_templates(extensions=[SUFFIX.removeprefix(".")]):
        path = template.removesuffix(SUFFIX).replace(PACKAGE, name.package)
        yield (
            path,
            environment.get_template(template).render(
                name=name.name,
                package=name.package,
                class_name=name.class_name,
                message_type=name.message_type,
                roambus_version=version("roambus"),
            ),
        )
