"""`roambus export` writes results in the formats of other programs."""

from __future__ import annotations

from pathlib import Path

import click

from roambus.commands.options import FOLDER
from roambus.commands.sweeping import report_problems
from roambus.commands.telling import answer

FORMATS = ("sca", "vec", "jsonl", "pcapng", "pcapng-nodes", "perfetto", "graphml")


def _formats(context: click.Context, parameter: click.Parameter, value: str) -> list[str]:
    chosen = list(dict.fromkeys(value.split(",")))
    for name in chosen:
        if name not in FORMATS:
            raise click.BadParameter(f"{name!r} is none of {', '.join(FORMATS)}", context, parameter)
    return chosen


@click.command()
@click.argument("path", metavar="RESULTS|RUN", type=FOLDER)
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
    help="The folder for the files; a study gets a folder for each sweep in it.  [default: RESULTS/export]",
)
@click.option(
    "--at",
    "at_s",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="The simulated time of what graphml holds.  [default: the end of the run]",
)
def export(path: Path, formats: list[str], out: Path | None, at_s: float | None) -> None:
    """Writes results for other programs, a file for each run.

    The results are those of a study, a sweep or a single run. The format sca holds the run's metrics, and vec holds
    what happens at each node over time. Both are as OMNeT++ writes them, and opp_scavetool, omnetpp.scave and the
    Analysis Tool read them. The format jsonl holds every row of the trace as a JSON object.

    The format pcapng is a capture of all that was sent and received, which Wireshark reads with what roambus dissector
    writes; pcapng-nodes is one for each node. Both need a run that was made with --record. The format perfetto is a
    timeline for ui.perfetto.dev, and graphml the tree of brokers and the routes in use at a time, for networkx or
    Gephi. roambus docs in-and-out tells more of each.

    A run whose trace is damaged is named and left out; then the exit code is 1.

    Example: roambus export results/small --format sca,vec
    """
    from roambus.experiments.export.exporter import Asked, export_results

    answer(files=[])
    problems: list[str] = []
    for file, problem in export_results(path, Asked(formats, out, at_s)):
        if file is not None:
            answer(file, files=[file])
        elif problem is not None and problem not in problems:
            problems.append(problem)
    report_problems(problems)
