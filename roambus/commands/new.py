"""`roambus new` begins something of the user's own."""

from __future__ import annotations

from pathlib import Path

import click

from roambus.commands.telling import answer


@click.group()
def new() -> None:
    """Begins something of your own.

    Example: roambus new agent rumour
    """


@new.command()
@click.argument("name")
def agent(name: str) -> None:
    """Writes a package with an agent called NAME into a folder of that name.

    The agent is a small protocol that works at once, with parameters, messages, tests, and a sweep that compares it
    with others. All of it is yours to change.

    Example: roambus new agent rumour
    """
    from roambus.experiments.scaffold.names import read_name
    from roambus.experiments.scaffold.writer import write_package

    folder = Path(name)
    write_package(read_name(name), folder)
    answer(f"{folder}: install it with\n  python -m pip install --editable {folder}", folder=folder)
