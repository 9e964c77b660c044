"""`roambus docs` prints the pages, and every page that other commands name is one of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import click

from roambus.command_line import commands
from roambus.commands.pages import EXTENSIONS, pages
from tests.roambus.conftest import Roambus


def helps(group: click.Group = commands) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{command.help} {' '.join(getattr(parameter, 'help', None) or '' for parameter in command.params)}"
        if isinstance(command, click.Group):
            yield from helps(command)


def test_help_leads_to_pages_that_the_user_has() -> None:
    """No text names a file of the repository."""
    texts = " ".join([commands.help or "", *helps()])
    named = re.findall(r"roambus\s+docs ([a-z][a-z-]+)", texts)
    assert {"sweeps", "studies", "tutorial"} <= set(named) <= pages().keys()
    assert "docs/" not in texts


def test_pages_of_extensions_are_pages_by_the_names_of_their_folders() -> None:
    """Their measurements are pages by their own names."""
    files = {file.parent.name: file for file in EXTENSIONS.glob("*/page.md")}
    files |= {file.stem: file for file in EXTENSIONS.glob("*/results/*.md")}
    assert files.items() <= pages().items()


def test_pages_are_listed_and_printed(roambus: Roambus) -> None:
    """By name and title; one that there is not is refused."""
    assert "tutorial" in {page["name"] for page in json.loads(roambus("docs", "--json").out)}
    assert roambus("docs", "concepts").out.startswith("# Concepts\n")
    refused = roambus("docs", "tutorail")
    assert (refused.code, refused.out) == (2, "")
    assert "did you mean 'tutorial'?" in refused.err
