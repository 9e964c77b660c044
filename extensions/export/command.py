"""The command `roambus export`: results in the formats of other programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from roambus.bridge.system.errors import UserError
from roambus.console.options import AGENT_NAME, FOLDER, MEASURE, METRIC_NAME, WHERE, is_given, values_of
from roambus.console.output import answer, remark, report_problems
from roambus.experiments.figures.style import read_style

FORMATS = ("sca", "vec", "pcapng", "dissector", "latex")


def _formats(context: click.Context, parameter: click.Parameter, value: str) -> list[str]:
    chosen = list(dict.fromkeys(value.split(",")))
    for name in chosen:
        if name not in FORMATS:
            raise click.BadParameter(f"{name!r} is none of {', '.join(FORMATS)}", context, parameter)
    return chosen


@click.command()
@click.argument("path", metavar="[RESULTS|RUN]", type=FOLDER, required=False)
@click.option(
    "--format",
    "formats",
    default="sca,vec",
    show_default=True,
    callback=_formats,
    metavar="FORMAT,...",
    help=f"The formats to write, with commas between them: {', '.join(FORMATS)}.",
)
@click.option(
    "--out",
    type=FOLDER,
    help="The folder for the files; for a study, with a folder for each sweep.  [default: RESULTS/export]",
)
@click.option(
    "--agents", type=AGENT_NAME, metavar="A,B,...", help="The agents of the dissector.  [default: those of the results]"
)
@click.option(
    "--metric", "metrics", multiple=True, type=METRIC_NAME, metavar="NAME", help="With latex: draws only this metric."
)
@click.option(
    "--against",
    metavar="AXIS",
    help="With latex: this axis is the x axis, as for roambus figures.  [default: as planned]",
)
@WHERE
@click.option("--size", metavar="NAME|WxH", help="With latex: the size of a figure, as for roambus figures.")
@MEASURE
def export(
    path: Path | None,
    formats: list[str],
    out: Path | None,
    agents: str | None,
    metrics: Sequence[str],
    against: str | None,
    wheres: Sequence[str],
    size: str | None,
    measure: Sequence[str],
) -> None:
    """Writes results for other programs, a file for each run.

    The results are those of a study, a sweep or a single run. The format sca holds the run's metrics, and vec the
    events of each node over time. Both have OMNeT++'s own form, which opp_scavetool, omnetpp.scave and the Analysis
    Tool read.

    The format pcapng is a capture of all frames sent and received, with an interface for each node. It needs a run that
    was made with --record. The format dissector is roambus.lua, with which Wireshark and tshark read the messages
    in captures. It is generated from the messages of the results' agents, or of those that --agents names, whose code
    is loaded; with --agents it needs no results, and is written to the working folder.

    The format latex has, for each figure of roambus figures, a figure of pgfplots and a table of booktabs, with
    captions, to be read by \\input; compute the metrics first with roambus aggregate. --metric, --where and --size
    choose figures, values of axes, and the size.

    The command names runs with a damaged trace and leaves them out; then the exit code is 1.

    \b
    Example: roambus export results/small --format sca,vec
    For Wireshark: roambus export results/small --format pcapng,dissector
    Before any run: roambus export --format dissector --agents mft,aodv
    For a paper: roambus export results/small --format latex --metric delivery_rate_all --where speed=8 --size column
    """  # noqa: D301  # click wants the character itself
    from roambus.bridge.agents import announce_code
    from roambus.extensions.export.exporter import DISSECTOR, LATEX, ExportOptions, export_results, write_dissector
    from roambus.extensions.export.latex import Chosen

    named = agents.split(",") if agents else []
    for agent in named:
        announce_code(agent, remark)
    if path is None and (formats != [DISSECTOR] or not named):
        raise UserError("give RESULTS: only --format dissector with --agents needs none")
    if LATEX not in formats and (
        given := [name for name in ("metrics", "against", "wheres", "size") if is_given(name)]
    ):
        raise UserError(f"--{given[0].removesuffix('s')} requires --format latex")
    shape = read_style("png", size, "colour").size if size else None
    asked = ExportOptions(formats, out, named, Chosen(metrics, values_of(wheres), shape, against), measure)
    written = [write_dissector(Path(), named, out or Path())] if path is None else export_results(path, asked)
    answer(files=[])
    problems: list[str] = []
    for file, problem in written:
        if file is not None:
            answer(file, files=[file])
        elif problem is not None and problem not in problems:
            problems.append(problem)
    report_problems(problems)
