"""The commands `roambus replay`, runs in the browser, and `roambus play`, a scenario that the user acts in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from roambus.bridge.system.errors import UserError
from roambus.console.options import FILE, OTHER_AGENT, PARAMETERS, PLACE, pairs
from roambus.console.output import answer, command_output, remark

PORT = click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default="a free one", help="The port to serve it on."
)


def print_address(url: str) -> None:
    """Print a served page's address before the wait for Ctrl-C."""
    answer(url, url=url)
    command_output().print_at_once()


@click.command()
@click.argument("run", type=PLACE)
@click.option("--with", "other", type=PLACE, help="Shows a second run beside the first, with the same clock.")
@click.option(
    "--again", is_flag=True, help="Makes a run without a record again, to show its messages and routing tables."
)
@click.option("--trust", is_flag=True, help="Also runs an agent that is not installed.")
@click.option("--names", "named", type=FILE, help="Names the nodes: a text file, a line for each.")
@click.option("--export", type=FILE, help="Writes the page to this file instead of serving it.")
@PORT
def replay(
    run: Path, other: Path | None, again: bool, trust: bool, named: Path | None, export: Path | None, port: int
) -> None:
    """Shows RUN as a film in the browser, or the results of many runs.

    For the aggregated results of a sweep or study the page is their report, with any metric against any axis, the runs
    behind each point, and their films.

    RUN is the folder or the trace that a run has left. The command then prints the metadata of the trace: the agent
    with its parameters, the template with its settings, the seed, the back-end, and the version of roambus.

    The page is served to this machine only, until you press Ctrl-C. With --export it is one file that needs nothing
    else. The film of a run that was made with --record, or is made --again, also shows the contents of messages, which
    of them arrived, the paths of notifications hop by hop, and routing tables. Without a record it shows what is in the
    trace.

    The contents of messages need the run's agent. An installed agent is run; an agent in a file, or in a module that no
    installed package declares, is run only with --trust, because the author of the results chose it. Without --trust
    the film shows everything else, and a line says so.

    Example: roambus replay results/run --export film.html
    """
    from roambus.extensions.viewer.document import page_of, write
    from roambus.extensions.viewer.naming import read_names
    from roambus.extensions.viewer.results import is_of_many, page_of_results
    from roambus.extensions.viewer.server import serve

    films, names = None, read_names(named) if named else None
    if other is None and is_of_many(run):
        if names is not None:
            raise UserError(f"--names: {run} has many runs: give the folder of one")
        page, films = page_of_results(run, remark, again=again, trust=trust)
    else:
        page = page_of([run] if other is None else [run, other], remark, again=again, trust=trust, names=names)
    if export is None:
        serve(page, port, print_address, films=films)
    else:
        write(page, export)
        answer(export, film=export)


@click.command()
@click.argument("scenario", type=FILE)
@OTHER_AGENT
@PARAMETERS
@PORT
def play(scenario: Path, agent: str | None, parameters: Sequence[str], port: int) -> None:
    """Plays SCENARIO in the browser: you act, the agents react.

    SCENARIO is a text file with a network and commands (roambus docs transcripts). Drag a node to a broker, or away
    from all brokers, or onto another node to link the two or remove their link. Crash, freeze, subscribe, publish, or
    write any command of roambus trace. The page is like that of roambus replay, with ideal links, and is served to this
    machine only. What you did can be saved as a transcript, which runs as a test.

    Example: roambus play scenario.txt --agent mft
    """
    from roambus.bridge.transcript.transcript import Overrides
    from roambus.extensions.viewer.play import play_session

    play_session(scenario, Overrides(agent, pairs("--param", parameters), announce=remark), port, print_address)
