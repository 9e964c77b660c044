"""`roambus links` looks at a recorded testbed."""

from __future__ import annotations

from pathlib import Path

import click

from roambus.commands.telling import answer


@click.command()
@click.argument("recording", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--channel", type=click.IntRange(-1, 255), help="The channel to show; -1 is the mean over all.")
@click.option(
    "--export",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("links.html"),
    show_default=True,
    help="Writes the page to this file.",
)
def links(recording: Path, channel: int | None, export: Path) -> None:
    """Writes a page about RECORDING, a testbed's links in the K7 format.

    The page has a map of the links, the delivery of each, delivery over signal strength, how links change over time,
    and what the recording does not say. It is one file that needs nothing else. A run plays the same file by
    --set links=FILE.

    Example: roambus links grenoble.k7 --export grenoble.html
    """
    from roambus.experiments.testbeds.page import write_page

    write_page(recording, channel, export)
    answer(export, page=export)
