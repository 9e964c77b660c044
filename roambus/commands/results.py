"""Commands on results: `aggregate` computes metrics, `compare` tests agents, `figures` draws.

Each reads the folder of a sweep, of a study or of single runs. A `Selection` says what of it `compare` and `figures`
show, `StudyOptions` which metrics and study of the user's own come in.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from roambus.bridge.system.errors import UserError
from roambus.console.options import (
    AGAINST,
    FOLDER,
    MEASURE,
    METRIC_NAME,
    SOME_AGENTS,
    STUDY,
    WHERE,
    Decorator,
    grouped,
    values_of,
)
from roambus.console.output import answer, progress, remark, report_problems
from roambus.experiments.figures.style import FigureStyle, read_style
from roambus.spark.metrics.catalogue import MAIN_METRICS

if TYPE_CHECKING:
    from roambus.experiments.comparing.comparison import CompareOptions
    from roambus.experiments.comparing.loading import Loaded
    from roambus.experiments.measurements import Measurements
    from roambus.experiments.studies.study import Study


class StudyOptions(NamedTuple):
    """Metrics and the study of the user's own."""

    measure: Sequence[str]
    study: str | None

    def load_study(self) -> Study | None:
        """Return the study, if one is given; raise UserError."""
        from roambus.experiments.studies.study import load_study

        return load_study(self.study) if self.study else None


class Selection(NamedTuple):
    """The part of a sweep to show; empty fields mean all of it."""

    agents: str | None
    metrics: Sequence[str]
    against: str | None
    wheres: Sequence[str]

    def load(self, results: Path, own: StudyOptions) -> tuple[Loaded, CompareOptions]:
        """Read the sweep's measurements, computing missing metrics; raise UserError."""
        from roambus.experiments.comparing.comparison import CompareOptions, check_names
        from roambus.experiments.comparing.loading import load

        asked = CompareOptions(self.names(), tuple(self.metrics), self.against, values_of(self.wheres))
        check = partial(check_names, asked=asked)
        return load(results, own.load_study(), progress(), own.measure, check), asked

    def names(self) -> tuple[str, ...]:
        """Return the agents' names; none for all."""
        return tuple(self.agents.split(",")) if self.agents else ()


def _selection(text: str) -> Decorator:
    metrics = click.option("--metric", "metrics", multiple=True, type=METRIC_NAME, metavar="NAME", help=text)
    return grouped("selection", Selection, SOME_AGENTS, metrics, AGAINST, WHERE)


STUDY_OPTIONS = grouped("own", StudyOptions, MEASURE, STUDY)
_OUT = click.option("--out", type=FOLDER, help="The folder for the files.  [default: RESULTS/figures]")
LOOK = grouped(
    "style",
    read_style,
    click.option(
        "--format",
        "formats",
        default="png,svg",
        show_default=True,
        metavar="png,svg,pdf",
        help="The formats of figures, with commas between them; PNG has 300 dots an inch, the others keep text.",
    ),
    click.option(
        "--size",
        default="screen",
        show_default=True,
        metavar="NAME|WxH",
        help="The size of a figure: screen, column, page, slide, or WIDTHxHEIGHT in inches, or as 17x10cm.",
    ),
    click.option(
        "--style",
        default="colour",
        show_default=True,
        metavar="NAME",
        help="The style of figures: colour, grey (told apart by marker and dash), or slide (large).",
    ),
)


@click.command()
@click.argument("results", type=FOLDER, nargs=-1, required=True)
@click.option(
    "--out", type=FOLDER, help="The new folder for the runs of several RESULTS, which are copied there first."
)
@click.option("--afresh", is_flag=True, help="Reads every trace again, also unchanged ones.")
@click.option(
    "--spark",
    "master",
    default="local[*]",
    metavar="URL",
    show_default=True,
    help="The master of Spark, such as spark://host:7077; all its workers must reach RESULTS by the same path.",
)
@STUDY_OPTIONS
def aggregate(results: Sequence[Path], out: Path | None, afresh: bool, master: str, own: StudyOptions) -> None:
    """Computes the metrics of the runs in RESULTS, with Spark.

    The tables are in the folder metrics in RESULTS. The file runs.csv has a row for each run. The file points.csv has
    the mean over the seeds of each point, with its 95 % interval. Both also exist as Parquet. The command reads only
    new and changed traces; it keeps earlier results in the folder aggregated, which you may delete.

    The command names runs whose trace is damaged or missing, and leaves them out. The exit code is 0 if every run
    is in the metrics, and 1 if any was left out. It is 2 if there is nothing to read or no room to write.

    With --out it first merges the runs of several RESULTS. They may differ in seeds, agents and values of axes; the
    command names anything else that differs, and refuses it.

    \b
    Example: roambus aggregate results/small
    Two parts of a sweep: roambus aggregate results/first results/second --out results/both
    """  # noqa: D301  # click wants the character itself
    from roambus.bridge.runs.layout import METRICS_FOLDER
    from roambus.experiments.studies.study import find_extra, measured_by, sweep_folders
    from roambus.experiments.sweeps.request_file import command_again
    from roambus.spark.aggregation.aggregate import aggregate as aggregate_results

    shown, study = progress(), own.load_study()
    problems = []
    for folder in sweep_folders(_merged(results, out)):
        extra = find_extra(folder, study, own.measure)
        for file in measured_by(folder):
            if file.endswith(".py") and Path(file).name not in [Path(path).name for path in own.measure]:
                remark(f"{folder}: its metrics in {file} are left out; if you trust that code, give --measure {file}")
        again = command_again(folder)
        problems += aggregate_results(folder, master, extra=extra, afresh=afresh, progress=shown, again=again)
        answer(folder / METRICS_FOLDER, metrics=[folder / METRICS_FOLDER])
    report_problems(problems)


def _merged(results: Sequence[Path], out: Path | None) -> Path:
    from roambus.experiments.studies.study import existing_folder
    from roambus.experiments.sweeps.merging import merge

    folders = [existing_folder(folder) for folder in results]
    if twice := [folder for number, folder in enumerate(folders) if any(map(folder.samefile, folders[:number]))]:
        raise UserError(f"{twice[0]}: this folder is given twice: give each once")
    if len(folders) > 1 and out is None:
        raise UserError("several RESULTS are merged into a new folder: name it with --out FOLDER")
    if len(folders) == 1 and out is not None:
        raise UserError(f"--out {out}: there is nothing to merge: give several RESULTS, or leave --out out")
    if out is None:
        return folders[0]
    merge(folders, out)
    return out


@click.command()
@click.argument("results", type=FOLDER)
@_selection(f"A metric to compare; give the option again for more.  [default: {', '.join(MAIN_METRICS)}]")
@click.option("--out", type=FOLDER, help="Also writes the numbers as CSV files into this folder.")
@STUDY_OPTIONS
def compare(results: Path, selection: Selection, out: Path | None, own: StudyOptions) -> None:
    """Compares the agents of a sweep, metric by metric, in numbers.

    RESULTS is the folder of the sweep. For each metric this prints the means over the seeds, with 95 % intervals. With
    --out it also writes a CSV file with the numbers. roambus figures --against draws the picture. For an unknown metric
    the error names similar ones.

    Runs of one seed share movement and radio, for all agents. So each pair of agents is tested seed by seed, at
    each combination of values (paired t-test). Holm's method adjusts p for all tests of the metric. Each difference
    is shown with its 95 % interval, p, and which of the two is greater. A warning says where the agents delivered
    different shares, because then their delays are not of the same notifications. The CSV file has the means first,
    then the differences.

    Metrics that roambus aggregate has not computed yet are computed with Spark, and kept in the user's cache: the
    command writes nothing into RESULTS. It names damaged runs and leaves them out; then the exit code is 1.

    Example: roambus compare results/small --metric messages_per_node --against speed
    """
    from roambus.experiments.comparing.comparison import compare_agents

    loaded, asked = selection.load(results, own)
    _tell_of_crashes(loaded.measured, loaded.folder)
    for compared in compare_agents(loaded.measured, asked, out):
        lines = [compared.text, *map(str, compared.files), ""]
        answer("\n".join(lines), comparisons=[compared.document()])
    report_problems(loaded.problems)


@click.command()
@click.argument("results", type=FOLDER)
@_selection("Draws only this metric, or with 'all' every measured one; give the option again for more.")
@LOOK
@STUDY_OPTIONS
@_OUT
def figures(results: Path, selection: Selection, style: FigureStyle, own: StudyOptions, out: Path | None) -> None:
    """Draws the figures of RESULTS, each with its caption in a text file beside it.

    It draws the figures that the results' study plans, or one for each of the main metrics and of the study's own;
    --metric all draws every metric. Compute the metrics first with roambus aggregate. An agent has the same colour in
    all figures.

    With --against, --agents or --where, a figure draws what roambus compare tests, under the same name: a metric of one
    sweep against an axis, with a line for each agent, and a panel for each combination of values of the other axes;
    --where keeps some of them.

    \b
    Example: roambus figures results/small
    For a paper: roambus figures results/small --metric messages_per_node \\
                   --format pdf --size column
    """  # noqa: D301  # click wants the character itself
    problems: Sequence[str] = ()
    if selection.agents or selection.against or selection.wheres:
        files, problems = _draw_comparison(results, selection, style, own, out)
    else:
        from roambus.experiments.reporting.figure_files import draw_figures
        from roambus.experiments.studies.study import existing_folder, read_results

        files = draw_figures(existing_folder(results), study := own.load_study(), style, selection.metrics, out)
        for sweep in read_results(results, study).sweeps:
            _tell_of_crashes(sweep.measured, sweep.folder)
    for path in files:
        answer(path, files=[path])
    report_problems(problems)


def _draw_comparison(
    results: Path, selection: Selection, style: FigureStyle, own: StudyOptions, out: Path | None
) -> tuple[list[Path], Sequence[str]]:
    from roambus.experiments.comparing.comparison import draw_compared
    from roambus.experiments.studies.conditions import conditions_of

    loaded, asked = selection.load(results, own)
    _tell_of_crashes(loaded.measured, loaded.folder)
    text = conditions_of(loaded.measured, loaded.folder, own.load_study())
    files = draw_compared(loaded.measured, asked, out or _figures_folder(loaded.folder), style, text)
    return list(files), loaded.problems


def _tell_of_crashes(measured: Measurements, folder: Path | None) -> None:
    from roambus.experiments.studies.crashes import crashes

    if text := crashes(measured, folder):
        remark(text)


def _figures_folder(results: Path) -> Path:
    from roambus.bridge.runs.layout import FIGURES_FOLDER, unlinked

    return unlinked(results / FIGURES_FOLDER)
