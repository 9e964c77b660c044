"""`roambus export`."""

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
    help="What to write: several with commas.",
)
@click.option(
    "--out", type=FOLDER, help="Folder of the files; of a study, a folder a sweep in it.  [default: RESULTS/export]"
)
def export(path: Path, formats: list[str], out: Path | None) -> None:
    """Writes the results of a study, a sweep or a single run for other programs: a file for each run and format.

    sca has the run's metrics, vec what happens at each node over time, both as OMNeT++ writes them: for opp_scavetool,
    omnetpp.scave and the Analysis Tool. jsonl has every row of the trace as a JSON object.

    A run whose trace is damaged is named and left out; then the exit code is 1.

    Example: roambus export results/small --format sca,vec
    """
    from roambus.experiments.export.exporter import export_results  # help comes at once

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
