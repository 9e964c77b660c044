"""`roambus aggregate` computes the metrics of sweeps, `compare` tests agents by them, and `figures` draws them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.bridge.errors import UserError
from roambus.commands.options import AGAINST, FOLDER, LOOK, METRIC_NAME, SOME_AGENTS, STUDY, WHERE, values_of
from roambus.commands.output import answer, progress, report_problems
from roambus.spark.metrics.catalogue import MAIN_METRICS

if TYPE_CHECKING:
    from roambus.experiments.comparing.comparison import Asked
    from roambus.experiments.figures.drawing import Look
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
    from roambus.experiments.studies.study import existing_folder, find_extra, sweep_folders
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
@SOME_AGENTS
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    type=METRIC_NAME,
    metavar="NAME",
    help=f"A metric to compare; give the option again for more.  [default: {', '.join(MAIN_METRICS)}]",
)
@AGAINST
@WHERE
@click.option("--out", type=FOLDER, help="The folder for the files.  [default: RESULTS/figures]")
@STUDY
def compare(
    results: Path,
    agents: str | None,
    metrics: Sequence[str],
    against: str | None,
    wheres: Sequence[str],
    out: Path | None,
    study: str | None,
) -> None:
    """Compares the agents of a sweep, metric by metric, in numbers.

    RESULTS is the folder of the sweep. For each metric this prints the means over the seeds, with 95 % intervals, and
    writes a CSV file with the numbers. roambus figures --against draws the picture of the same name. A metric that is
    not known is an error that lists all metrics.

    Runs of one seed share movement and radio, whatever the agent. So each two agents are tested against each other seed
    by seed, at each combination of values (paired t-test), and p is adjusted by Holm for all tests of the metric. The
    CSV file has the means first, then the differences.

    Metrics that roambus aggregate has not computed yet are computed with Spark. A damaged run is named and left out;
    then the exit code is 1.

    Example: roambus compare results/small --metric messages_per_node --against speed
    """
    from roambus.experiments.comparing.comparison import compare_agents
    from roambus.experiments.comparing.observations import load

    loaded = load(results, _own_study(study), progress())
    asked, folder = _comparison(loaded.folder, agents, metrics, against, wheres, out)
    for compared in compare_agents(loaded.measured, asked, folder):
        lines = [compared.text, *map(str, compared.files), ""]
        answer("\n".join(lines), comparisons=[compared.document()])
    report_problems(loaded.problems)


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
@SOME_AGENTS
@AGAINST
@WHERE
@LOOK
@STUDY
@click.option("--out", type=FOLDER, help="The folder for the files.  [default: RESULTS/figures]")
def figures(
    results: Path,
    metrics: Sequence[str],
    kind: str,
    agents: str | None,
    against: str | None,
    wheres: Sequence[str],
    look: Look,
    study: str | None,
    out: Path | None,
) -> None:
    """Draws the figures of RESULTS, each with its caption in a text file beside it.

    They are those that the study of the results plans, or one for each metric. The metrics must be there: roambus
    aggregate computes them. An agent has the same colour in all of them.

    With --against, --agents or --where, a figure draws what roambus compare tests, under the same name: a metric of one
    sweep against an axis, with a line for each agent, and a panel for each combination of values of the other axes;
    --where makes them fewer. The kinds delays and deliveries are read from the traces, with a line for each agent and
    value of the axes.

    \b
    Example: roambus figures results/small
    For a paper: roambus figures results/small --metric messages_per_node \\
                   --format pdf --size column
    """  # noqa: D301  # click wants the character itself
    from roambus.experiments.comparing.comparison import draw_compared
    from roambus.experiments.comparing.observations import draw_curves, load
    from roambus.experiments.reporting.figure_files import draw_figures
    from roambus.experiments.studies.study import existing_folder

    problems: Sequence[str] = ()
    if kind != "means":
        if against is not None:
            raise UserError(f"--against: {kind} have an axis of their own; only means are drawn against another")
        where = values_of(wheres) | ({"agent": tuple(agents.split(","))} if agents else {})
        files = draw_curves(existing_folder(results), [kind], where, look, out)
    elif agents or against or wheres:
        loaded = load(results, _own_study(study), progress())
        asked, folder = _comparison(loaded.folder, agents, metrics, against, wheres, out)
        files, problems = list(draw_compared(loaded.measured, asked, folder, look)), loaded.problems
    else:
        files = draw_figures(existing_folder(results), _own_study(study), look, metrics, out)
    for path in files:
        answer(path, files=[path])
    report_problems(problems)


def _comparison(
    results: Path,
    agents: str | None,
    metrics: Sequence[str],
    against: str | None,
    wheres: Sequence[str],
    out: Path | None,
) -> tuple[Asked, Path]:
    """What is compared, and where the files go."""
    from roambus.bridge.runs.layout import FIGURES_FOLDER, unlinked
    from roambus.experiments.comparing.comparison import Asked

    asked = Asked(tuple(agents.split(",")) if agents else (), tuple(metrics), against, values_of(wheres))
    return asked, out or unlinked(results / FIGURES_FOLDER)


def _own_study(reference: str | None) -> Study | None:
    from roambus.experiments.studies.study import load_study

    return load_study(reference) if reference else None
