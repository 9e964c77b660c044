"""`roambus new`."""

from __future__ import annotations

from pathlib import Path

import click


@click.group()
def new() -> None:
    """Begins something of your own.

    Example: roambus new agent gossip
    """


@new.command()
@click.argument("name")
def agent(name: str) -> None:
    """Writes the package of an agent NAME into a folder of that name: it works at once, and is yours to change.

    Example: roambus new agent gossip
    """
    from roambus.experiments.scaffold.names import read_name  # help comes at once
    from roambus.experiments.scaffold.writer import write_package

    folder = Path(name)
    write_package(read_name(name), folder)
    click.echo(f"{folder}: install it with\n  python -m pip install --editable {folder}")
