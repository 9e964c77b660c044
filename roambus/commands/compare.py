"""`roambus compare` draws and tests the differences between the agents of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from roambus.commands.completion import METRIC_NAME
from roambus.commands.options import FOLDER, FORMAT, SIZE, STUDY, STYLE, WHERE, pairs
from roambus.commands.sweeping import report_problems
from roambus.commands.telling import answer, progress
from roambus.spark.metrics.catalogue import MAIN_METRICS


@click.command()
@click.argument("results", type=FOLDER)
@click.option("--agents", metavar="A,B,...", help="The agents to compare, in this order.  [default: all]")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    type=METRIC_NAME,
    metavar="NAME",
    help=f"A metric to compare; give the option again for more.  [default: {', '.join(MAIN_METRICS)}]",
)
@click.option(
    "--against",
    metavar="AXIS",
    help="The axis of the sweep that becomes the x axis.  [default: the first with more than one value]",
)
@WHERE
@click.option("--out", type=FOLDER, help="The folder for the files.  [default: RESULTS/compare]")
@FORMAT
@SIZE
@STYLE
@STUDY
def compare(  # an argument an option
    results: Path,
    agents: str | None,
    metrics: Sequence[str],
    against: str | None,
    wheres: Sequence[str],
    out: Path | None,
    formats: str,
    size: str,
    style: str,
    study: str | None,
) -> None:
    """Compares the agents of a sweep, metric by metric.

    RESULTS is the folder of the sweep. For each metric this writes a picture, its caption, and a CSV file with the
    numbers. The picture has a line for each agent: the means over the seeds, with 95 % intervals. It has a panel for
    each combination of values of the other axes; --where makes them fewer. A metric that is not known is an error that
    lists all metrics.

    Runs of one seed share movement and radio, whatever the agent. So each two agents are tested against each other seed
    by seed, at each combination of values (paired t-test), and p is adjusted by Holm for all tests of the metric. The
    CSV file has the means first, then the differences.

    Metrics that roambus aggregate has not computed yet are computed with Spark. A damaged run is named and left out;
    then the exit code is 1.

    Example: roambus compare results/small --metric messages_per_node --against speed
    """
    from roambus.bridge.runs.writing import unlinked
    from roambus.experiments.comparing.comparison import COMPARE_FOLDER, Asked, compare_agents
    from roambus.experiments.comparing.loading import load
    from roambus.experiments.figures.look import read_look
    from roambus.experiments.studies.registry import load_study

    look = read_look(formats, size, style)
    loaded = load(results, load_study(study) if study else None, progress())
    where = {axis: tuple(values.split(",")) for axis, values in pairs("--where", wheres).items()}
    asked = Asked(tuple(agents.split(",")) if agents else (), tuple(metrics), against, where)
    for compared in compare_agents(loaded.measured, asked, out or unlinked(loaded.folder / COMPARE_FOLDER), look):
        lines = [compared.text, *map(str, compared.files), ""]
        answer("\n".join(lines), comparisons=[compared.document()])
    report_problems(loaded.problems)
