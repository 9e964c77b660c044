"""`roambus export` writes results in the formats of other programs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from roambus.commands.options import FOLDER

FORMATS = ("sca", "vec", "jsonl")


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
    metavar=",".join(FORMATS),
    help="The formats to write, with commas between them.",
)
@click.option(
    "--out",
    type=FOLDER,
    help="The folder for the files; a study gets a folder for each sweep in it.  [default: RESULTS/export]",
)
def export(path: Path, formats: list[str], out: Path | None) -> None:
    """Writes results for other programs, a file for each run.

    The results are those of a study, a sweep or a single run. The format sca holds the run's metrics, and vec holds
    what happens at each node over time. Both are as OMNeT++ writes them, and opp_scavetool, omnetpp.scave and the
    Analysis Tool read them. The format jsonl holds every row of the trace as a JSON object.

    A run whose trace is damaged is named and left out; then the exit code is 1.

    Example: roambus export results/small --format sca,vec
    """
    from roambus.experiments.export.exporter import export_results

    problems = []
    for file, problem in export_results(path, formats, out):
        if file is not None:
            click.echo(file)
        elif problem not in problems:
            problems.append(problem)
    for problem in problems:
        click.echo(f"  {problem}", err=True)
    if problems:
        sys.exit(1)
