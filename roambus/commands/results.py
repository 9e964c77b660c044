"""`roambus aggregate` computes the metrics of sweeps, and `roambus figures` draws them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.bridge.errors import UserError
from roambus.commands.completion import METRIC_NAME
from roambus.commands.options import FOLDER, FORMAT, SIZE, STUDY, STYLE, WHERE, pairs
from roambus.commands.sweeping import report_problems
from roambus.commands.telling import answer, progress

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
    from roambus.bridge.runs.layout import METRICS_FOLDER
    from roambus.experiments.studies.reading import existing_folder, find_extra, sweep_folders
    from roambus.spark.aggregation.aggregate import aggregate as aggregate_results

    shown, own = progress(), _own_study(study)
    problems = []
    for folder in sweep_folders(existing_folder(results)):
        extra = find_extra(folder, own)
        problems += aggregate_results(folder, master, extra=extra, afresh=afresh, progress=shown)
        answer(folder / METRICS_FOLDER, metrics=[folder / METRICS_FOLDER])
    report_problems(problems)


@click.command()
@click.argument("results", type=FOLDER)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    type=METRIC_NAME,
    metavar="NAME",
    help="Draws only this metric; give the option again for more.",
)
@click.option(
    "--kind",
    type=click.Choice(["means", "delays", "deliveries"]),
    default="means",
    show_default=True,
    help="What to draw: the metrics' means, the distribution of delays, or the deliveries over time.",
)
@WHERE
@FORMAT
@SIZE
@STYLE
@STUDY
def figures(
    results: Path,
    metrics: Sequence[str],
    kind: str,
    wheres: Sequence[str],
    formats: str,
    size: str,
    style: str,
    study: str | None,
) -> None:
    """Draws the figures of RESULTS, each with its caption in a text file beside it.

    They go to the folder figures in RESULTS: those that the study of the results plans, or one for each metric. The
    metrics must be there: roambus aggregate computes them. The kinds delays and deliveries are read from the traces,
    with a line for each agent and value of the axes; --where makes them fewer.

    \b
    Example: roambus figures results/small
    For a paper: roambus figures results/small --metric messages_per_node \\
                   --format pdf --size column
    """  # noqa: D301  # click wants the character itself
    from roambus.experiments.comparing.curves import draw_curves
    from roambus.experiments.figures.look import read_look
    from roambus.experiments.reporting.figure_files import draw_figures
    from roambus.experiments.studies.reading import existing_folder

    look = read_look(formats, size, style)
    where = {axis: tuple(values.split(",")) for axis, values in pairs("--where", wheres).items()}
    if kind != "means":
        files = draw_curves(existing_folder(results), [kind], where, look)
    elif where:
        raise UserError("--where: for means, roambus compare takes it; figures takes it with --kind")
    else:
        files = draw_figures(existing_folder(results), _own_study(study), look, metrics)
    for path in files:
        answer(path, files=[path])


def _own_study(reference: str | None) -> Study | None:
    from roambus.experiments.studies.registry import load_study

    return load_study(reference) if reference else None
