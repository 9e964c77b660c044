"""The command line. Everything heavy is imported by the command that needs it, so that help comes at once."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.backends import BACKENDS
from bridge.errors import RoambusError, UserError
from bridge.interrupts import termination_interrupts
from bridge.options import pairs
from experiments.export.command import export
from experiments.scaffold.command import new
from experiments.viewer.command import play, replay

if TYPE_CHECKING:
    from bridge.backends.factory import BackendFactory
    from experiments.runner import Crew
    from experiments.study import Study
    from experiments.sweep import AgentChoice, Sweep

EXIT_FAILED_RUNS = 1


class InterruptionError(RoambusError):
    """Ctrl-C."""

    exit_code = 130


SETTINGS = click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A variable of the template.")
PARAMETERS = click.option(
    "--param", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of the agent."
)
AGENT = click.option("--agent", default="beacon", show_default=True, help="A name, module:Class or file.py[:Class].")
SEED = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The run's seed.")
LEVEL = click.option(
    "--level",
    type=click.Choice(["app", "full"]),
    default="app",
    show_default=True,
    help="What the trace holds: full adds a row for each packet received.",
)
BACKEND = click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default=BACKENDS[0],
    show_default=True,
    help="The embedded radio, real Castalia (see roambus doctor), or ideal links.",
)
SWEEP_BACKEND = click.option(
    "--backend", type=click.Choice(BACKENDS), help=f"Likewise.  [default: the sweep's own, or {BACKENDS[0]}]"
)
DEADLINE = click.option(
    "--deadline",
    type=click.FloatRange(1, 86400),
    help="Seconds that host and simulator wait for each other; more for slow agents or a debugger.  [default: 30]",
)
BATCHING = click.option(
    "--batching/--no-batching", default=True, help="Whether a simulator tells everything of one instant at once."
)
RECORD = click.option("--record", is_flag=True, help="Keep the frames in frames.roambus, for roambus rerun.")
WORKERS = click.option(
    "--workers", type=click.IntRange(1), default=len(os.sched_getaffinity(0)), show_default="cores", help="Processes."
)
SPARK = click.option(
    "--spark", metavar="spark://HOST:PORT", help="Make the runs on this Spark cluster instead; see docs/cluster.md."
)
STUDY = click.option(
    "--study", metavar="FILE.py", help="The study that RESULTS are of, if it is none of ours; see docs/studies.md."
)
FOLDER = click.Path(file_okay=False, path_type=Path)
OUT = click.option("--out", type=FOLDER, default=Path("results/run"), show_default=True, help="Results folder.")


def main() -> None:
    """Runs the command line; a user's mistake, or a run that failed, gets one message and an exit code of its own."""
    try:
        with termination_interrupts():
            code = commands(standalone_mode=False)
        sys.exit(code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except RoambusError as error:
        _fail(str(error), error.exit_code)
    except OSError as error:
        if error.filename is None and error.strerror is None:
            raise
        _fail(_describe(error), UserError.exit_code)
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted", InterruptionError.exit_code)


def _fail(message: str, code: int) -> None:
    click.echo(f"error: {message}", err=True)
    sys.exit(code)


def _describe(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="roambus")
def commands() -> None:
    """Publish/subscribe protocols in Python on a realistic low-power radio.

    Example: roambus reproduce thesis --quick --out results/thesis-quick
    """


commands.add_command(replay)
commands.add_command(play)


@commands.command()
def agents() -> None:
    """Lists the installed agents with their parameters.

    Example: roambus agents
    """
    from bridge.registry import agent_names, load_agent
    from python_protocol.parameters import describe_parameters

    for name in agent_names():
        try:
            agent = load_agent(name)
        except UserError as error:
            click.echo(f"{name}: {error}")
            continue
        click.echo(f"{name}: {_first_line(agent.__doc__)}")
        for parameter, default, unit, source, doc in describe_parameters(agent.parameters_type):
            notes = "; ".join(filter(None, (doc, "" if unit == "s" else unit, source)))
            click.echo(f"  {parameter} = {default}" + (f"  ({notes})" if notes else ""))


def _first_line(doc: str | None) -> str:
    return (doc or "").strip().partition("\n")[0]


@commands.command()
@click.argument("template")
@AGENT
@PARAMETERS
@SETTINGS
@SEED
@click.option("--out", type=FOLDER, help="Write run.ini and its radio parameters file there, instead of printing it.")
def render(
    template: str, agent: str, parameters: Sequence[str], settings: Sequence[str], seed: int, out: Path | None
) -> None:
    """Renders TEMPLATE (a name of ours, or a file) into a plain OMNeT++ ini.

    Example: roambus render thesis --set brokers=8 --set speed=4
    """
    from bridge.run import write_inputs
    from experiments.runner import plan_run, render_point
    from experiments.sweep import expand

    sweep = _single_run("render", template, _choose(agent, parameters), settings, seed)
    (point,) = expand(sweep)
    if out is None:
        click.echo(render_point(sweep.template, point), nl=False)
    else:
        write_inputs(plan_run(sweep.template, point, out), out)


@commands.command()
@click.argument("template")
@AGENT
@PARAMETERS
@SETTINGS
@SEED
@LEVEL
@BACKEND
@DEADLINE
@BATCHING
@RECORD
@OUT
def run(
    template: str,
    agent: str,
    parameters: Sequence[str],
    settings: Sequence[str],
    seed: int,
    level: str,
    backend: str,
    deadline: float | None,
    batching: bool,
    record: bool,
    out: Path,
) -> None:
    """Runs TEMPLATE (a name of ours, or a file) once, and prints where its results are.

    Example: roambus run field --agent beacon --set nodes=30 --seed 1 --out results/field
    """
    sweep = _single_run("run", template, _choose(agent, parameters), settings, seed)
    _run_once(sweep, level, record, out, _factory(backend, deadline, batching))


def _run_once(sweep: Sweep, level: str, record: bool, out: Path, backend: BackendFactory) -> None:
    from bridge.run import execute
    from bridge.trace import TraceLevel
    from experiments.results import opened_results
    from experiments.runner import plan_runs, prepare

    (plan,) = plan_runs(sweep, out, TraceLevel(level))
    prepare(plan, backend)
    with opened_results(sweep, out):
        execute(replace(plan, record=record), backend)
    click.echo(plan.folder)


def _factory(backend: str, deadline: float | None, batching: bool) -> BackendFactory:
    if backend == "radio":
        from bridge.backends.radio.factory import RadioFactory

        return RadioFactory()
    if backend == "ideal":
        from bridge.backends.ideal.factory import IdealFactory

        return IdealFactory()
    from bridge.backends.castalia.factory import CastaliaFactory

    return CastaliaFactory(deadline, batching)


@commands.command()
@click.argument("template")
@AGENT
@PARAMETERS
@SETTINGS
@SEED
@LEVEL
@click.option(
    "--endpoint",
    metavar="tcp://ADDRESS:PORT",
    help="Listen there, with CURVE off loopback.  [default: a private socket]",
)
@click.option(
    "--wait", type=click.FloatRange(1), default=3600, show_default=True, help="Seconds to wait for a simulator."
)
@DEADLINE
@BATCHING
@RECORD
@OUT
def serve(
    template: str,
    agent: str,
    parameters: Sequence[str],
    settings: Sequence[str],
    seed: int,
    level: str,
    endpoint: str | None,
    wait: float,
    deadline: float | None,
    batching: bool,
    record: bool,
    out: Path,
) -> None:
    """Runs TEMPLATE once, with a simulator that you start: by hand, in a debugger, or on another machine.

    Example: roambus serve thesis --agent mft --deadline 3600 --out results/served
    """
    from bridge.backends.castalia.factory import ServeFactory

    sweep = _single_run("serve", template, _choose(agent, parameters), settings, seed)
    _run_once(sweep, level, record, out, ServeFactory(deadline, batching, endpoint, wait, _announce))


def _announce(folder: Path) -> None:
    click.echo(f"waiting; start the simulator with\n  cd {folder} && CastaliaBin -f run.ini", err=True)


@commands.command()
@click.argument("record", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--agent", help="Another agent than the record's: a name, module:Class or file.py[:Class].")
@click.option("--pdb", "debugging", is_flag=True, help="Open the debugger where an agent raises or first differs.")
def rerun(record: Path, agent: str | None, debugging: bool) -> None:
    """Runs the agents of RECORD (see run --record) again without a simulator, and says where they first differ.

    Example: roambus rerun results/run/traces/agent=mft/seed=0/frames.roambus --pdb
    """
    from bridge.rerun import debug
    from bridge.rerun import rerun as rerun_agents

    done = debug(record, agent) if debugging else rerun_agents(record, agent)
    click.echo(f"{record}: {done.frames} frames agree; {done.ending}")


@commands.command()
@click.argument("scenario", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--agent", help="Another agent than the file's: a name, module:Class or file.py[:Class].")
@PARAMETERS
@click.option("--times", is_flag=True, help="Show when each thing happens, from the command on.")
def trace(scenario: Path, agent: str | None, parameters: Sequence[str], times: bool) -> None:
    """Prints SCENARIO, a network and commands in a text file, with the exact messages that follow each command.

    Links are ideal: nothing is lost on a link that stands. With --agent, the parameters that the file gives its own
    agent are left out. A whole scenario:

    \b
      agent mft
      tree
        b1
          b2
          b3/s3
      clients s2@b2 p1@b1

    \b
      > s3 subscribes f3
      > b3 is cut off
      > p1 publishes e3
      > b3 joins b2
      > show table b1

    The file begins with comments (#) and settings: agent NAME [PARAMETER=VALUE...], seed 7, delay 1ms (of a link),
    slot 1s (how long the messages of a command are waited for), times, hide TYPE..., filter f9: price < 10, event e9:
    price = 3. The network is a tree that agents of the broker family are given, or links n1-n2 n2-n3, or complete b1
    n1..n5 (a link between any two), or below sites, indented, lines such as site2 < site1: b4 b5 b6 | s1
    (name < parent: brokers | clients). Letters tell roles: b broker, s subscriber, p publisher, n both clients.
    Below setup, indented, stand commands whose messages are not shown.

    Commands, in a line several after semicolons, each at once or after 3ms:

    \b
      start                  (shows what the agents do at first)
      s1 subscribes f1       s1 unsubscribes f1      p1 publishes e1
      s1 detaches            s1 attaches to b2       s1 attaches
      s1 moves to b2         b3 joins b2             b3 is cut off
      link n1-n2 down        link n1-n2 up
      b3 crashes             b3 freezes              b3 recovers
      wait 5s                show table b1 b2        show stored

    Unless defined otherwise, f3 is the filter topic = 3, and e3 an event with that topic; either can be written out.

    Example: roambus trace scenario.txt --agent mft --times
    """  # noqa: D301  # click wants the character itself
    from bridge.transcript.transcript import Overrides, transcribe

    click.echo(transcribe(scenario, Overrides(agent, pairs("--param", parameters), times)), nl=False)


@commands.command()
def doctor() -> None:
    """Says what is installed, what would run, and what to do about what is missing.

    Example: roambus doctor
    """
    try:
        from rich.console import Console

        from bridge.doctor import examine, report
    except ImportError as error:
        raise UserError(f"{error}: install roambus anew, with everything that it needs") from None
    diagnosis = examine()
    report(diagnosis, Console())
    sys.exit(bool(diagnosis.in_the_way(BACKENDS[0])))


def _choose(agent: str, parameters: Sequence[str]) -> AgentChoice:
    """The agent, under a name that can be a folder's."""
    from experiments.sweep import AgentChoice

    label = re.sub(r"[^\w.+-]+", "-", agent).strip("-")
    return AgentChoice(label, agent, tuple(sorted(pairs("--param", parameters).items())))


def _single_run(command: str, template: str, choice: AgentChoice, settings: Sequence[str], seed: int) -> Sweep:
    """A sweep of one run. What is set becomes axes, so that runs with other values fit into the same results."""
    from experiments.render import check_variables, find_template
    from experiments.sweep import Sweep, parse_scalar, plain_axis, validate

    path, values = find_template(template), pairs("--set", settings)
    check_variables(path, values, "--set")
    axes = [plain_axis(name, [parse_scalar(text)]) for name, text in sorted(values.items())]
    sweep = Sweep(f"roambus {command}", path, (choice,), tuple(axes), (seed,))
    validate(sweep)
    return sweep


@commands.command()
@click.argument("sweep")
@click.option("--set", "settings", multiple=True, metavar="NAME=V1,V2", help="Narrows or replaces an axis or a value.")
@click.option("--seeds", type=click.IntRange(1), help="How many seeds, instead of the sweep's own.")
@WORKERS
@SPARK
@LEVEL
@SWEEP_BACKEND
@DEADLINE
@click.option("--retry-failed", is_flag=True, help="Run again what failed before.")
@click.option("--out", type=FOLDER, help="Results folder.  [default: results/NAME]")
def sweep(
    sweep: str,
    settings: Sequence[str],
    seeds: int | None,
    workers: int,
    spark: str | None,
    level: str,
    backend: str | None,
    deadline: float | None,
    retry_failed: bool,
    out: Path | None,
) -> None:
    """Runs SWEEP (a name of ours, or a TOML file); what is complete already is skipped.

    Example: roambus sweep thesis --set config=C2,C4 --set speed=2 --seeds 3 --out results/small
    """
    from experiments.sweep import override
    from experiments.sweep_file import read_sweep

    chosen = override(read_sweep(sweep), pairs("--set", settings), seeds)
    folder = out or Path("results", Path(sweep).stem)
    factory = _factory(backend or chosen.backend, deadline, batching=True)
    _report_problems(_sweep(chosen, folder, _crew(workers, spark), level, retry_failed, factory))


def _sweep(chosen: Sweep, out: Path, crew: Crew, level: str, retry_failed: bool, backend: BackendFactory) -> list[str]:
    """Runs all of it; returns a line for each run that failed."""
    from rich.console import Console

    from bridge.trace import TraceLevel
    from experiments.progress import Progress
    from experiments.results import opened_results
    from experiments.runner import plan_runs, run_plans

    plans = plan_runs(chosen, out, TraceLevel(level))
    try:
        with opened_results(chosen, out):
            summary = run_plans(plans, backend, crew, retry_failed, Progress(Console(stderr=True)))
    except KeyboardInterrupt:
        raise InterruptionError(f"interrupted; the same command goes on with what is missing in {out}") from None
    click.echo(f"{out}: runs done {summary.complete}, already there {summary.skipped}, failed {len(summary.failures)}")
    return [f"{place}: {error}" for place, error in summary.failures]


def _crew(workers: int, spark: str | None) -> Crew:
    if spark is None:
        from experiments.workers import Processes

        return Processes(workers)
    from experiments.cluster.crew import Cluster

    return Cluster(spark, lambda line: click.echo(line, err=True))


def _report_problems(problems: Sequence[str]) -> None:
    """Says what is wrong with single runs, once everything else is done, and ends the command."""
    for problem in problems:
        click.echo(f"  {problem}", err=True)
    if problems:
        sys.exit(EXIT_FAILED_RUNS)


@commands.command()
@click.argument("results", type=FOLDER)
@click.option("--afresh", is_flag=True, help="Read every trace again, also those that have not changed.")
@click.option(
    "--spark",
    "master",
    default="local[*]",
    metavar="URL",
    show_default=True,
    help="Spark's master, such as spark://host:7077: all its workers must reach RESULTS by the same path.",
)
@STUDY
def aggregate(results: Path, afresh: bool, master: str, study: str | None) -> None:
    """Computes the metrics of every run in RESULTS with Spark, into its folder metrics.

    runs.csv has a row a run, points.csv the mean over the seeds of each point with its 95 % interval; both are there as
    Parquet, too. Only runs whose trace is new or has changed are computed. What earlier aggregations found is kept in
    the folder aggregated, which you may delete.

    A run whose trace is damaged or missing is named and left out. Ends with 0 if every run is in the metrics, with 1 if
    any was left out, with 2 if there is nothing to read or no room to write.

    Example: roambus aggregate results/small
    """
    from rich.console import Console

    from experiments.progress import Progress
    from experiments.study_results import find_extra, sweep_folders
    from spark.aggregate import aggregate as aggregate_results

    progress, own = Progress(Console(stderr=True)), _own_study(study)
    problems = []
    for folder in sweep_folders(_existing(results)):
        extra = find_extra(folder, own)
        problems += aggregate_results(folder, master, extra=extra, afresh=afresh, progress=progress)
        click.echo(folder / "metrics")
    _report_problems(problems)


def _own_study(reference: str | None) -> Study | None:
    from experiments.studies import load_study

    return load_study(reference) if reference else None


@commands.command()
@click.argument("results", type=FOLDER)
@STUDY
def figures(results: Path, study: str | None) -> None:
    """Draws the figures of aggregated RESULTS as PNG and SVG.

    Example: roambus figures results/small
    """
    from experiments.figures import draw_figures

    for path in draw_figures(_existing(results), _own_study(study)):
        click.echo(path)


commands.add_command(export)
commands.add_command(new)


def _existing(results: Path) -> Path:
    if not results.is_dir():
        raise UserError(f"{results}: there is no such folder; make one with roambus sweep --out {results}")
    return results


@commands.command()
@click.argument("study")
@click.option("--quick", is_flag=True, help="The study in small: fewer values and seeds, a minute or two.")
@WORKERS
@SPARK
@SWEEP_BACKEND
@click.option("--out", type=FOLDER, help="Results folder.  [default: results/STUDY, or results/STUDY-quick]")
def reproduce(study: str, quick: bool, workers: int, spark: str | None, backend: str | None, out: Path | None) -> None:
    """Runs a whole study: sweeps, metrics, figures, claims, report.

    STUDY is one of ours (an unknown name lists them) or a file of your own: docs/studies.md.

    Example: roambus reproduce thesis --quick --out results/thesis-quick
    """
    from experiments.studies import load_study
    from spark.session import spark_session

    chosen = load_study(study)
    folder = out or Path("results", f"{chosen.name}-quick" if quick else chosen.name)
    problems = _run_study(chosen, quick, folder, _crew(workers, spark), backend)
    with spark_session(spark or "local[*]"):
        problems += _aggregate_study(chosen, folder)
    _report_study(chosen, folder)
    _report_problems(problems)


def _run_study(study: Study, quick: bool, folder: Path, crew: Crew, backend: str | None) -> list[str]:
    """Runs the sweeps; returns a line for each run that failed."""
    from experiments.study_results import sweep_folder
    from experiments.sweep import override

    problems = []
    for one in study.sweeps:
        chosen = override(one.asked, one.quick, one.quick_seeds) if quick else one.asked
        factory = _factory(backend or chosen.backend, deadline=None, batching=True)
        out = sweep_folder(folder, study, one)
        problems += _sweep(chosen, out, crew, "app", retry_failed=True, backend=factory)
    return problems


def _aggregate_study(study: Study, folder: Path) -> list[str]:
    """By the Spark session that there is; returns a line for each run that cannot be read."""
    from experiments.study_results import sweep_folder
    from spark.aggregate import aggregate as aggregate_results

    folders = [(sweep_folder(folder, study, one), one.extra) for one in study.sweeps]
    return [problem for out, extra in folders for problem in aggregate_results(out, extra=extra)]


def _report_study(study: Study, folder: Path) -> None:
    """Draws the figures, prints the claims and where the report is."""
    from experiments.claims import check_claims, format_claims
    from experiments.figures import draw_figures
    from experiments.report import write_report
    from experiments.study_results import read_results

    draw_figures(folder, study)
    claims = [claim for measured in read_results(folder, study).sweeps for claim in check_claims(measured)]
    if claims:
        click.echo(format_claims(claims))
    click.echo(write_report(folder, study))
