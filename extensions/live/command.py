"""The commands `roambus live` and `roambus node`: agents on real sockets, on one or many machines.

Options and results are those of `roambus run`. Live is no back-end of `run`: no simulated clock drives the agents, and
a run cannot be repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.console.options import FILE, FOLDER, LEVEL, OUT, REPLACE, SINGLE, Single
from roambus.console.output import answer, bar, remark
from roambus.python_protocol.simtime import SECOND

if TYPE_CHECKING:
    from roambus.bridge.runs.run import Drive


DRIVER = click.option(
    "--driver",
    metavar="PLACE",
    help="What moves nodes whose agents move them: FILE.py[:FUNCTION], called with each course, or udp:[HOST:]PORT, "
    "which gets a line of JSON for each.",
)


@click.command()
@SINGLE
@LEVEL
@click.option("--nodes", type=FILE, help="Runs on the nodes of this file, which roambus node wrote, instead.")
@click.option(
    "--links",
    type=click.Choice(["ideal", "all"]),
    help="The links: ideal, or from every node to every other.  [default: ideal; with --nodes, all]",
)
@DRIVER
@REPLACE
@OUT
def live(  # its options
    single: Single, level: str, nodes: Path | None, links: str | None, driver: str | None, replace: bool, out: Path
) -> None:
    """Runs TEMPLATE live: each node is a process that sends UDP datagrams in real time.

    The results are a folder as after roambus run, without the values that only a radio has. A live run cannot be
    repeated. Without --nodes all nodes run on this machine, on the loopback address; a node whose process is killed is
    started again. A node accepts datagrams as the template's links allow: by its tree or graph, or by the movement of
    its nodes.

    \b
    On many machines, each of which has the same version of roambus and of the agent:
      roambus node nodes.toml --write 10.0.0.1,10.0.0.2,10.0.0.3
      roambus node nodes.toml --id 0                 on the first, and so on
      roambus live field --nodes nodes.toml --agent beacon --set nodes=3

    Example: roambus live thesis --agent mft --set config=C2 --set time_limit=10
    """  # noqa: D301  # click wants the character itself
    if nodes is None:
        from roambus.extensions.live.driver import make_driver
        from roambus.extensions.live.local import drive_here

        kind, made = links or "ideal", make_driver(driver) if driver else None
        _run(single, level, kind, out, replace, lambda advance: drive_here(kind, advance, made))
        return
    if driver is not None:
        raise click.UsageError("--driver: with --nodes give it to roambus node, on the machine of the node")
    from roambus.extensions.live.machines import drive_there, read_machines

    listed, kind = read_machines(nodes), links or "all"
    _run(single, level, kind, out, replace, lambda advance: drive_there(listed, kind, advance))


@click.command()
@click.argument("file", type=FILE)
@click.option("--id", "number", type=click.IntRange(0), help="The number of this machine's node in FILE.")
@click.option(
    "--write",
    "addresses",
    metavar="ADDRESS,...",
    help="Writes FILE, with a node at each address, instead of running one; node 0 has the first.",
)
@click.option(
    "--keep",
    type=FOLDER,
    default=Path("results/live-nodes"),
    show_default=True,
    help="The folder that keeps the events of this node until they are collected.",
)
@click.option(
    "--position",
    metavar="SOURCE",
    help="A file, or udp:PORT, at which this node's position receiver writes lines of x and y in metres.",
)
@DRIVER
def node(  # its options
    file: Path, number: int | None, addresses: str | None, keep: Path, position: str | None, driver: str | None
) -> None:
    """Runs one of the nodes of FILE on this machine, run after run, until Ctrl-C.

    FILE lists the nodes of live runs by their addresses, and holds the keys for conducting them. Write it with --write,
    and copy it only to the machines that run nodes or conduct them: the file is enough to conduct the nodes. If the
    conductor is gone, a node stops sending and keeps its trace.

    Example: roambus node nodes.toml --id 0
    """
    from roambus.extensions.live.driver import make_driver
    from roambus.extensions.live.machines import read_machines, serve_node, write_machines

    if (number is None) == (addresses is None):
        raise click.UsageError("give --id to run a node, or --write to list the nodes")
    if addresses is not None:
        write_machines(file, addresses.split(","))
        answer(file, machines=file)
    elif number is not None:
        made = make_driver(driver) if driver else None
        serve_node(read_machines(file), number, keep, remark, position=position, driver=made)


def _run(  # what both kinds of live runs are given
    single: Single, level: str, links: str, out: Path, replace: bool, drive: Callable[[Callable[[], None]], Drive]
) -> None:
    from roambus.bridge.runs.layout import LOG_FILE, TRACE_FILE
    from roambus.bridge.runs.log import remarks_in
    from roambus.bridge.runs.run import execute
    from roambus.bridge.trace.parquet import TraceLevel
    from roambus.commands.runs import sweep_of_one
    from roambus.experiments.sweeps.request_file import Making, opened_results
    from roambus.experiments.sweeps.runner import plan_runs, prepare, refuse_replacing
    from roambus.extensions.live.conductor import LiveFactory

    sweep = sweep_of_one("live", single)
    (plan,) = plan_runs(sweep, out, TraceLevel(level))
    factory = LiveFactory(links)
    seconds = prepare(plan, factory).time_limit // SECOND
    allowed = partial(refuse_replacing, [plan], factory, replace, repeatable=False)
    opened = opened_results(sweep, out, Making(factory.name, level), allowed, replace)
    with opened, bar(f"live for {seconds} s", seconds) as second:
        execute(plan, factory, drive=drive(second))
    for noted in remarks_in((plan.folder / LOG_FILE).read_text(encoding="utf-8")):
        remark(f"note: {noted}")
    answer(plan.folder, folder=plan.folder, trace=plan.folder / TRACE_FILE)
