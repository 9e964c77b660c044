"""`roambus replay` and `roambus play` show in the browser what a run did, or what a protocol does now."""

from __future__ import annotations

from pathlib import Path

import click

from roambus.commands.options import OTHER_AGENT, pairs
from roambus.commands.telling import answer, remark, telling

_RUN = click.Path(path_type=Path)


@click.command()
@click.argument("run", type=_RUN)
@click.option("--with", "other", type=_RUN, help="Shows a second run beside the first, on the same clock.")
@click.option(
    "--again", is_flag=True, help="Makes a run that has no record again, to see its messages and routing tables."
)
@click.option("--trust", is_flag=True, help="Runs the agent that the run names also if it is not installed.")
@click.option(
    "--export",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Writes the page to this file instead of serving it.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default="a free one", help="The port to serve it on."
)
def replay(run: Path, other: Path | None, again: bool, trust: bool, export: Path | None, port: int) -> None:
    """Shows RUN as a film in the browser.

    RUN is the folder or the trace that a run has left. What the trace says of itself is told first: the agent with its
    parameters, the template with its settings, the seed, the back-end, and the version of roambus.

    The page is served to this machine only, until you press Ctrl-C. With --export it is one file that needs nothing
    else. The film of a run that was made with --record, or is made --again, also shows what messages hold, which of
    them arrived, the ways of notifications hop by hop, and routing tables. Without a record it shows what the trace
    has.

    For what messages hold, the run's agent is needed. One that is installed is run; an agent in a file, or in a module
    that no installed package brings, is run with --trust only, for whoever made the results chose it. Without --trust
    the film shows everything else, and a line says so.

    Example: roambus replay results/run --export film.html
    """
    from roambus.experiments.viewer.show import page_of, serve, write

    page = page_of([run] if other is None else [run, other], remark, again=again, trust=trust)
    if export is None:
        serve(page, port, _say_address)
    else:
        write(page, export)
        answer(export, film=export)


def _say_address(url: str) -> None:
    """At once, for the command ends only with Ctrl-C."""
    answer(url, url=url)
    telling().print_at_once()


@click.command()
@click.argument("scenario", type=click.Path(dir_okay=False, path_type=Path))
@OTHER_AGENT
@click.option("--param", "parameters", multiple=True, metavar="NAME=VALUE", help="Sets a parameter of that agent.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default="a free one", help="The port to serve it on."
)
def play(scenario: Path, agent: str | None, parameters: tuple[str, ...], port: int) -> None:
    """Plays SCENARIO in the browser: you act, the agents react.

    SCENARIO is a text file with a network and commands (roambus docs transcripts). Drag a node to a broker, or
    away from all, or onto another node to link or part them. Crash, freeze, subscribe, publish, or write any command of
    roambus trace. The page is like that of roambus replay, with ideal links, and is served to this machine only. What
    you did can be saved as a transcript, which runs as a test.

    Example: roambus play scenario.txt --agent mft
    """
    from roambus.bridge.transcript.transcript import Overrides
    from roambus.experiments.viewer.play import play_session

    play_session(scenario, Overrides(agent, pairs("--param", parameters), announce=remark), port, _say_address)
