"""`roambus aggregate` computes the metrics of sweeps, `compare` tests agents by them, and `figures` draws them.

`roambus export` writes results for other programs; `crate` packs them for other people, and `verify` checks them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.bridge.backends.registry import backend_names
from roambus.bridge.errors import UserError
from roambus.commands.options import (
    AGAINST,
    AGENT_NAME,
    DEADLINE,
    FILE,
    FOLDER,
    MEASURE,
    METRIC_NAME,
    SOME_AGENTS,
    STUDY,
    WHERE,
    Simulator,
    grouped,
    values_of,
)
from roambus.commands.output import EXIT_PROBLEMS, answer, bar, progress, remark, report_problems, summary
from roambus.commands.runs import factory_of
from roambus.experiments.figures.style import Look, read_look
from roambus.spark.metrics.catalogue import MAIN_METRICS

if TYPE_CHECKING:
    from roambus.experiments.comparing.comparison import Asked
    from roambus.experiments.studies.study import Study

LOOK = grouped(
    "look",
    read_look,
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
@click.argument("results", type=FOLDER)
@click.option("--afresh", is_flag=True, help="Reads every trace again, also unchanged ones.")
@click.option(
    "--spark",
    "master",
    default="local[*]",
    metavar="URL",
    show_default=True,
    help="The master of Spark, such as spark://host:7077; all its workers must reach RESULTS by the same path.",
)
@MEASURE
@STUDY
def aggregate(results: Path, afresh: bool, master: str, measure: Sequence[str], study: str | None) -> None:
    """Computes the metrics of the runs in RESULTS, with Spark.

    The tables are in the folder metrics in RESULTS. The file runs.csv has a row for each run. The file points.csv has
    the mean over the seeds of each point, with its 95 % interval. Both also exist as Parquet. The command reads only
    new and changed traces; it keeps earlier results in the folder aggregated, which you may delete.

    The command names runs whose trace is damaged or missing, and leaves them out. The exit code is 0 if every run is in
    the metrics, 1 if any was left out, and 2 if there is nothing to read or no room to write.

    Example: roambus aggregate results/small
    """
    from roambus.bridge.runs.layout import METRICS_FOLDER
    from roambus.experiments.studies.study import existing_folder, find_extra, measured_by, sweep_folders
    from roambus.experiments.sweeps.request import command_again
    from roambus.spark.aggregation.aggregate import aggregate as aggregate_results

    shown, own = progress(), _own_study(study)
    problems = []
    for folder in sweep_folders(existing_folder(results)):
        extra = find_extra(folder, own, measure)
        for file in measured_by(folder):
            if file.endswith(".py") and Path(file).name not in [Path(one).name for one in measure]:
                remark(f"{folder}: its metrics in {file} are left out; if you trust that code, give --measure {file}")
        again = command_again(folder)
        problems += aggregate_results(folder, master, extra=extra, afresh=afresh, progress=shown, again=again)
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
@MEASURE
@STUDY
def compare(  # an option each
    results: Path,
    agents: str | None,
    metrics: Sequence[str],
    against: str | None,
    wheres: Sequence[str],
    out: Path | None,
    measure: Sequence[str],
    study: str | None,
) -> None:
    """Compares the agents of a sweep, metric by metric, in numbers.

    RESULTS is the folder of the sweep. For each metric this prints the means over the seeds, with 95 % intervals, and
    writes a CSV file with the numbers. roambus figures --against draws the picture of the same name. For an unknown
    metric the error names similar ones.

    Runs of one seed share movement and radio, for all agents. So each pair of agents is tested seed by seed, at each
    combination of values (paired t-test), and p is adjusted by Holm for all tests of the metric. Each difference is
    shown with its 95 % interval, p, and which of the two is greater. A warning says where the agents delivered
    different shares, because then their delays are not of the same notifications. The CSV file has the means first,
    then the differences.

    Metrics that roambus aggregate has not computed yet are computed with Spark. The command names damaged runs and
    leaves them out; then the exit code is 1.

    Example: roambus compare results/small --metric messages_per_node --against speed
    """
    from roambus.experiments.comparing.comparison import compare_agents
    from roambus.experiments.comparing.observations import load

    loaded = load(results, _own_study(study), progress(), measure)
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
    help="Draws only this metric, or with 'all' every measured one; give the option again for more.",
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
@MEASURE
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
    measure: Sequence[str],
    study: str | None,
    out: Path | None,
) -> None:
    """Draws the figures of RESULTS, each with its caption in a text file beside it.

    It draws the figures that the results' study plans, or one for each of the main metrics and of the study's own;
    --metric all draws every metric. Compute the metrics first with roambus aggregate. An agent has the same colour in
    all figures.

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
        loaded = load(results, _own_study(study), progress(), measure)
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


FORMATS = ("sca", "vec", "jsonl", "pcapng", "pcapng-nodes", "dissector", "perfetto", "graphml")


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
    "--at",
    "at_s",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="The simulated time that graphml shows.  [default: the end of the run]",
)
@MEASURE
def export(
    path: Path | None,
    formats: list[str],
    out: Path | None,
    agents: str | None,
    at_s: float | None,
    measure: Sequence[str],
) -> None:
    """Writes results for other programs, a file for each run.

    The results are those of a study, a sweep or a single run. The format sca holds the run's metrics, and vec the
    events of each node over time. Both have OMNeT++'s own form, which opp_scavetool, omnetpp.scave and the Analysis
    Tool read. The format jsonl holds every row of the trace as a JSON object.

    The format pcapng is a capture of all frames sent and received; pcapng-nodes is one for each node. Both need a run
    that was made with --record. The format dissector is roambus.lua, by which Wireshark and tshark read the messages in
    captures. It is generated from the messages of the results' agents, or of those that --agents names, whose code is
    loaded; with --agents it needs no results, and is written to the working folder. The format perfetto is a timeline
    for ui.perfetto.dev, and graphml the tree of brokers and the routes in use at a time, for networkx or Gephi. roambus
    docs in-and-out describes them.

    The command names runs with a damaged trace and leaves them out; then the exit code is 1.

    \b
    Example: roambus export results/small --format sca,vec
    For Wireshark: roambus export results/small --format pcapng,dissector
    Before any run: roambus export --format dissector --agents mft,aodv
    """  # noqa: D301  # click wants the character itself
    from roambus.bridge.agents import announce_code
    from roambus.experiments.export.exporter import DISSECTOR, Asked, export_results, write_dissector

    named = agents.split(",") if agents else []
    for agent in named:
        announce_code(agent, remark)
    if path is None and (formats != [DISSECTOR] or not named):
        raise UserError("give RESULTS: only --format dissector with --agents needs none")
    asked = Asked(formats, out, at_s, named, measure)
    written = [write_dissector(Path(), named, out or Path())] if path is None else export_results(path, asked)
    answer(files=[])
    problems: list[str] = []
    for file, problem in written:
        if file is not None:
            answer(file, files=[file])
        elif problem is not None and problem not in problems:
            problems.append(problem)
    report_problems(problems)


@click.command()
@click.argument("results", type=FOLDER)
@click.option("--out", type=FILE, help="The file.  [default: RESULTS.crate.zip]")
@click.option("--title", help="The title of the results.  [default: the name of their folder]")
@click.option("--author", "authors", multiple=True, metavar="NAME", help="An author; give the option again for more.")
@click.option(
    "--license", "license_", default="", metavar="URL", help="The licence under which others may use the results."
)
@click.option("--trust", is_flag=True, help="Also loads agents that are not installed.")
def crate(
    results: Path, out: Path | None, title: str | None, authors: Sequence[str], license_: str, trust: bool
) -> None:
    """Packs RESULTS so that others can cite them, and repeat their runs byte for byte.

    RESULTS is the folder of a sweep or a study. The crate is a zip file: an RO-Crate with the results, the code of
    roambus and of your own agents, the versions of all libraries, and a checksum of each file. In the unpacked crate,
    sh reproduce.sh installs all this and makes runs again; roambus verify does the same with the installed roambus.

    The command refuses results of another version of roambus or of an agent, because this version cannot repeat them.
    It also names facts that simulation studies should state and the results lack, like roambus verify --checklist.

    Example: roambus crate results/small --author "Ada Lovelace" --license https://spdx.org/licenses/CC-BY-4.0
    """
    from roambus.experiments.provenance.checklist import audit
    from roambus.experiments.provenance.crate import Packing, write_crate
    from roambus.experiments.provenance.metadata import About
    from roambus.experiments.studies.study import existing_folder, sweep_folders
    from roambus.experiments.verification import Verifier

    folder = existing_folder(results)
    name = folder.absolute().name
    factories = [factory_of(one, Simulator()) for one in backend_names()]
    packing = Packing(folder, sweep_folders(folder), Verifier(factories, trust, remark))
    file = out or folder.absolute().with_name(f"{name}.crate.zip")
    with bar("packing", None) as one_more:
        runs = write_crate(packing, About(title or name, authors, license_), file, one_more)
    answer(file, crate=file, runs=runs)
    for one in audit(folder):
        if not one.is_stated:
            remark(f"MISSING  {one.item}: {one.words}")


@click.command()
@click.argument("results", type=FOLDER)
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    metavar="N",
    help="The number of runs to make again, or all if there are fewer; the same N always chooses the same runs.",
)
@click.option(
    "--checklist", is_flag=True, help="Makes no run: checks which facts RESULTS state, and which are missing."
)
@click.option("--trust", is_flag=True, help="Also runs agents that are not installed.")
@DEADLINE
def verify(results: Path, sample: int, checklist: bool, trust: bool, deadline: float | None) -> None:
    """Verifies RESULTS: makes a sample of their runs again, and compares the traces byte for byte.

    RESULTS is the folder of a run, a sweep or a study, or an unpacked crate, whose checksums are also compared. Each
    run is made from its ini, in a temporary folder; nothing in RESULTS changes. The command names runs whose trace
    differs, with the first row that differs, and runs that cannot be repeated, such as one of another version of its
    agent.

    Verifying runs the agents' code. An agent in a file or a module that no installed package declares is run only with
    --trust, because the author of the results chose it. The exit code is 0 if all traces are the same, and 1 if any is
    not.

    With --checklist, no code is run. The items are those of Kurkowski, Camp and Colagrosso (MANET Simulation Studies:
    The Incredibles, 2005), which ask whether a study is repeatable, unbiased, rigorous and statistically sound, and
    those by which artifacts of papers are evaluated (ACM, version 1.1). For each item the command prints the statement,
    or what is missing and how to state it. Then the exit code is 0 if everything is stated, and 1 if anything is
    missing.

    Example: roambus verify results/small --sample 3
    """
    from roambus.experiments.provenance.crate import agent_files, is_crate, wrong_files
    from roambus.experiments.studies.study import existing_folder, sweep_folders
    from roambus.experiments.verification import Verifier, sample_of

    existing_folder(results)
    if checklist:
        _check_off(results)
        return
    traces = sample_of(sweep_folders(results), sample)
    factories = [factory_of(name, Simulator(deadline)) for name in backend_names()]
    wrong = list(wrong_files(results)) if is_crate(results) else []
    verifier = Verifier(factories, trust, remark, agent_files(results) if is_crate(results) else {})
    with bar("verifying", len(traces)) as one_more:
        problems = list(verifier.problems(traces, one_more))
    same = len(traces) - len(problems)
    summary(f"{results}: runs made again {len(traces)}, the same {same}", made_again=len(traces), the_same=same)
    report_problems([*wrong, *problems])


def _check_off(results: Path) -> None:
    from roambus.experiments.provenance.checklist import audit

    found = audit(results)
    for one in found:
        answer(f"{'stated ' if one.is_stated else 'MISSING'}  {one.item}: {one.words}")
    missing = sum(not one.is_stated for one in found)
    items = [{"item": one.item, "source": one.source, "stated": one.is_stated, "words": one.words} for one in found]
    summary(f"{results}: stated {len(found) - missing}, missing {missing}", items=items, missing=missing)
    if missing:
        sys.exit(EXIT_PROBLEMS)
