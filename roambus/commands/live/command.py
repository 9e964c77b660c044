"""`roambus live` runs agents on real sockets: on one machine, or on many that a file lists.

Its options are those of `roambus run`, and what it leaves is what a run leaves, so that everything that reads results
reads these. It is no back-end of `run`: nobody else's clock drives the agents, a run takes as long as it lasts, and
cannot be made again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from roambus.commands.options import FILE, FOLDER, LEVEL, OUT, SINGLE, Single
from roambus.commands.output import answer, bar, remark
from roambus.python_protocol.vocabulary import SECOND

if TYPE_CHECKING:
    from roambus.bridge.runs.run import Drive

KINDS = ("ideal", "radio", "all")


class Live(click.Group):
    """A group whose first word can also be a template: then it is a run on this machine."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts the name of that command before a template."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["here", *args]
        return super().parse_args(ctx, args)


@click.group(cls=Live, subcommand_metavar="TEMPLATE|machines|node|conduct [OPTIONS] ...")
def live() -> None:
    """Runs TEMPLATE live: a process for each node, which send UDP datagrams, in real time.

    The results are a folder as after roambus run, without the values that only a radio has. A live run cannot be
    repeated.

    \b
    On one machine, where links follow the template's movement:
      roambus live thesis --agent mft --set config=C2 --set time_limit=10 --out results/live
    On many machines, each of which has roambus:
      roambus live machines nodes.toml 10.0.0.1 10.0.0.2 10.0.0.3
      roambus live node --id 0 nodes.toml                      on the first, and so on
      roambus live conduct nodes.toml field --agent beacon --set nodes=3

    Example: roambus live thesis --agent mft --set config=C2 --set time_limit=10
    """  # noqa: D301  # click wants the character itself


def _links(default: str) -> Callable[[Any], Any]:
    return click.option(
        "--links",
        type=click.Choice(KINDS),
        default=default,
        show_default=True,
        help="The links: ideal, with the quality of the embedded radio, or from every node to every other.",
    )


REALTIME = click.option(
    "--realtime",
    is_flag=True,
    help="Gives nodes priority over all other processes, so that timers are on time; needs root.",
)


@live.command(hidden=True)
@SINGLE
@LEVEL
@_links("ideal")
@REALTIME
@OUT
def here(single: Single, level: str, links: str, realtime: bool, out: Path) -> None:
    """Runs TEMPLATE on this machine: a process for each node, on the loopback address.

    A node accepts datagrams as the template's links allow: by its tree or graph, or by the movement of its nodes, over
    ideal links or with the quality that the embedded radio computes for each link at each moment. A node whose process
    is killed is started again.

    Example: roambus live thesis --agent mft --set config=C2 --set time_limit=10
    """
    from roambus.bridge.live.local import drive_here

    _run(single, level, links, out, lambda advance: drive_here(links, realtime, advance))


@live.command()
@click.argument("file", type=FILE)
@click.argument("addresses", nargs=-1, required=True)
def machines(file: Path, addresses: Sequence[str]) -> None:
    """Writes FILE, which lists nodes by their ADDRESSES and holds the keys for conducting them.

    Node 0 has the first address. Copy the file to every machine, and to nobody else: anybody who has it can conduct the
    nodes.
    """
    from roambus.bridge.live.machines import write_machines

    write_machines(file, addresses)
    answer(file, machines=file)


@live.command()
@click.argument("file", type=FILE)
@click.option("--id", "number", type=click.IntRange(0), required=True, help="The number of this node in FILE.")
@click.option(
    "--keep",
    type=FOLDER,
    default=Path("results/live-nodes"),
    show_default=True,
    help="The folder that keeps the events of this node until they are collected.",
)
@REALTIME
def node(file: Path, number: int, keep: Path, realtime: bool) -> None:
    """Runs one of the nodes of FILE on this machine, run after run, until Ctrl-C.

    If the conductor is gone, the node stops sending and keeps its trace.
    """
    from roambus.bridge.live.machines import read_machines, serve_node

    listed = read_machines(file)
    serve_node(listed, number, keep, realtime, remark)


@live.command()
@click.argument("file", type=FILE)
@SINGLE
@LEVEL
@_links("all")
@OUT
def conduct(file: Path, single: Single, level: str, links: str, out: Path) -> None:
    """Runs TEMPLATE on the nodes of FILE, from this machine, which need not be one of them.

    Every node must have the same version of roambus and of the agent.
    """
    from roambus.bridge.live.machines import drive_there, read_machines

    listed = read_machines(file)
    _run(single, level, links, out, lambda advance: drive_there(listed, links, advance))


def _run(single: Single, level: str, links: str, out: Path, drive: Callable[[Callable[[], None]], Drive]) -> None:
    from roambus.bridge.live.conductor import LiveFactory
    from roambus.bridge.runs.layout import LOG_FILE, TRACE_FILE
    from roambus.bridge.runs.log import remarks_in
    from roambus.bridge.runs.run import execute
    from roambus.bridge.trace.parquet import TraceLevel
    from roambus.commands.runs import sweep_of_one
    from roambus.experiments.sweeps.request import opened_results
    from roambus.experiments.sweeps.runner import plan_runs, prepare

    sweep = sweep_of_one("live", single)
    (plan,) = plan_runs(sweep, out, TraceLevel(level))
    factory = LiveFactory(links)
    seconds = prepare(plan, factory).time_limit // SECOND
    with opened_results(sweep, out), bar(f"live for {seconds} s", seconds) as second:
        execute(plan, factory, drive=drive(second))
    for noted in remarks_in((plan.folder / LOG_FILE).read_text(encoding="utf-8")):
        remark(f"note: {noted}")
    answer(plan.folder, folder=plan.folder, trace=plan.folder / TRACE_FILE)
