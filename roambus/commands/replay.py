"""`roambus replay`."""

from __future__ import annotations

from pathlib import Path

import click

from roambus.commands.options import pairs

_RUN = click.Path(path_type=Path)


@click.command()
@click.argument("run", type=_RUN)
@click.option("--with", "other", type=_RUN, help="A second run beside it, on the same clock.")
@click.option("--again", is_flag=True, help="Make runs without a record again, to see messages and routing tables.")
@click.option("--export", type=click.Path(dir_okay=False, path_type=Path), help="Write the page to this file instead.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default="a free one", help="Where to serve it.")
def replay(run: Path, other: Path | None, again: bool, export: Path | None, port: int) -> None:
    """Shows RUN, a folder or trace that a run has left, as a film in the browser.

    The page is served to this machine only, until you press Ctrl-C; with --export it is one file that needs nothing
    else. A run that was made with --record, or is made --again, shows what its messages hold, which of them arrived,
    the ways of notifications hop by hop, and routing tables; of any other it shows what the trace has.

    Example: roambus replay results/run --export film.html
    """
    from roambus.experiments.viewer.show import page_of, serve, write  # so that help comes at once

    page = page_of([run] if other is None else [run, other], again=again)
    if export is None:
        serve(page, port)
    else:
        write(page, export)


@click.command()
@click.argument("scenario", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--agent", help="Another agent than the file's: a name, module:Class or file.py[:Class].")
@click.option("--param", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of that agent.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default="a free one", help="Where to serve it.")
def play(scenario: Path, agent: str | None, parameters: tuple[str, ...], port: int) -> None:
    """Plays SCENARIO, a network and commands as for roambus trace, in the browser: you do things, the agents react.

    Drag a node to a broker, into nothing, or onto a node to link or part them; crash, freeze, subscribe, publish, or
    write any command of roambus trace. The page is that of roambus replay, over ideal links, served to this machine
    only. What you did can be saved as a transcript, which runs as a test.

    Example: roambus play scenario.txt --agent mft
    """
    from roambus.bridge.transcript.transcript import Overrides  # so that help comes at once
    from roambus.experiments.viewer.play import play_session  # likewise

    play_session(scenario, Overrides(agent, pairs("--param", parameters)), port)
