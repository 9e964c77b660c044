"""`roambus aggregate` computes the metrics of sweeps, and `roambus figures` draws them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.commands.options import FOLDER, STUDY
from roambus.commands.sweeping import report_problems

if TYPE_CHECKING:
    from roambus.experiments.studies.study import Study


@click.command()
@click.argument("results", type=FOLDER)
@click.option("--afresh", is_flag=True, help="Reads every trace again, also those that have not changed.")
@click.option(
    "--spark",
    "master",
    default="local[*]",
    metavar="URL",
    show_default=True,
    help="The master of Spark, such as spark://host:7077; all its workers must reach RESULTS by the same path.",
)
@STUDY
def aggregate(results: Path, afresh: bool, master: str, study: str | None) -> None:
    """Computes the metrics of the runs in RESULTS, with Spark.

    They go to the folder metrics in RESULTS. The file runs.csv has a row for each run. The file points.csv has the mean
    over the seeds of each point, with its 95 % interval. Both are there as Parquet, too. Only runs whose trace is new
    or has changed are computed; what earlier aggregations found is kept in the folder aggregated, which you may delete.

    A run whose trace is damaged or missing is named and left out. The exit code is 0 if every run is in the metrics, 1
    if any was left out, and 2 if there is nothing to read or no room to write.

    Example: roambus aggregate results/small
    """
    from rich.console import Console

    from roambus.experiments.studies.reading import existing_folder, find_extra, sweep_folders
    from roambus.experiments.sweeps.progress import Progress
    from roambus.spark.aggregation.aggregate import aggregate as aggregate_results

    progress, own = Progress(Console(stderr=True)), _own_study(study)
    problems = []
    for folder in sweep_folders(existing_folder(results)):
        extra = find_extra(folder, own)
        problems += aggregate_results(folder, master, extra=extra, afresh=afresh, progress=progress)
        click.echo(folder / "metrics")
    report_problems(problems)


@click.command()
@click.argument("results", type=FOLDER)
@STUDY
def figures(results: Path, study: str | None) -> None:
    """Draws the figures of RESULTS as PNG and SVG.

    The metrics must be there: roambus aggregate computes them.

    Example: roambus figures results/small
    """
    from roambus.experiments.reporting.figure_files import draw_figures
    from roambus.experiments.studies.reading import existing_folder

    for path in draw_figures(existing_folder(results), _own_study(study)):
        click.echo(path)


def _own_study(reference: str | None) -> Study | None:
    from roambus.experiments.studies.registry import load_study

    return load_study(reference) if reference else None
