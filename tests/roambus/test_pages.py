"""Pages of the reference name everything that the code declares, on the site and by `roambus docs`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

import roambus as public
from roambus.bridge.formats.ini.lookup import KEYS
from roambus.command_line import commands
from roambus.commands.inventory import everything
from roambus.commands.pages import MARK, TABLES, filled, pages
from roambus.spark.metrics.catalogue import METRICS
from tests.roambus.conftest import Roambus
from tests.support.documents import ROOT


@cache
def text(name: str) -> str:
    return filled(pages()[name].read_text(encoding="utf-8"))


def options(group: click.Group = commands, before: str = "") -> Iterator[tuple[str, str]]:
    """Each command with each option that its help shows."""
    for name, command in group.commands.items() if group is not commands else loaded():
        if isinstance(command, click.Group):
            yield from options(command, f"{name} ")
        yield from (
            (f"{before}{name}", option)
            for parameter in command.params
            if parameter.param_type_name == "option"
            for option in parameter.opts
        )


@cache
def options_of() -> dict[str, set[str]]:
    """The options of each command."""
    found: dict[str, set[str]] = {}
    for command, option in options():
        found.setdefault(command, {"--help"}).add(option)
    return found


def loaded() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(commands)
    for name in commands.list_commands(context):
        command = commands.get_command(context, name)
        assert command is not None
        yield name, command


WRITTEN = re.compile(r"(?<![\w/.:-])roambus ([a-z][a-z ]*?)(?= [^a-z]|`)([^`\n|]*)")
"""A command in a page, up to its first argument, and what follows."""


@pytest.mark.parametrize(
    "page", [*pages().values(), ROOT / "README.md", ROOT / "CHANGELOG.md"], ids=lambda page: page.name
)
def test_every_option_of_a_command(page: Path) -> None:
    """A page names none that its command does not have."""
    known, unknown = options_of(), []
    for words, rest in WRITTEN.findall(page.read_text(encoding="utf-8").replace("\\\n", "")):
        has = known.get(words) or known.get(words.split()[0])
        named = re.findall(r"(?<=\s)--[a-z][a-z-]*", rest.partition(" #")[0])
        unknown += [f"roambus {words} {option}" for option in named if has and option not in has]
    assert unknown == []


def test_every_table_is_on_a_page() -> None:
    """Each in one place, and no page asks for a table that there is not."""
    marks = [name for page in pages().values() for name in MARK.findall(page.read_text(encoding="utf-8"))]
    assert sorted(marks) == sorted(TABLES)


@pytest.mark.parametrize("page", pages())
def test_no_mark_is_left(page: str) -> None:
    """A filled page has no mark that a misspelling hides."""
    assert "<!-- insert" not in text(page)


def test_every_key_of_the_ini() -> None:
    """With its path."""
    page = text("ini-keys")
    assert [key.name for key in KEYS if f"`{key.name}`" not in page] == []


@pytest.mark.parametrize(
    ("page", "kind", "table"),
    [
        ("templates", "templates", "variables"),
        ("templates", "templates", "named settings"),
        ("parameters", "agents", "parameters"),
        ("messages", "agents", "messages"),
    ],
)
def test_every_row(page: str, kind: str, table: str) -> None:
    """In the section of the thing that declares it, or in the one that all share."""
    sections = dict(section.partition("\n")[::2] for section in text(page).split("\n## ")[1:])
    for thing in everything(kind):
        shown = sections.get(thing.name, "") + sections.get("In every template", "")
        missing = [row["name"] for row in thing.tables[table] if f"| `{row['name']}` |" not in shown]
        assert missing == [], thing.name


def test_every_metric() -> None:
    """Those of every run, and those of studies."""
    page = text("metrics")
    names = {metric.column for metric in METRICS} | {entry.name for entry in everything("metrics")}
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


def test_every_command_and_option() -> None:
    """As the help of the command has them."""
    page = text("commands")
    sections = dict(section.partition("\n")[::2] for section in page.split("\n## roambus ")[1:])
    missing = [(name, option) for name, option in options() if option not in sections[name]]
    assert missing == []


def test_every_public_class_and_function() -> None:
    """With its signature."""
    page = text("agents")
    names = [name for name in public.__all__ if f"### {name}\n" not in page]
    assert {type(getattr(public, name)) for name in names} & {type, type(text)} == set()


def test_docs_prints_the_tables(roambus: Roambus) -> None:
    """So that the page on the terminal has what the site has."""
    assert "`counter_threshold`" in roambus("docs", "parameters").out
