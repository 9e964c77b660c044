"""`roambus render`, `run`, `serve` and `rerun`: one run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.commands.backend import make_factory
from roambus.commands.options import (
    AGENT,
    BACKEND,
    BATCHING,
    DEADLINE,
    FOLDER,
    LEVEL,
    OUT,
    PARAMETERS,
    RECORD,
    SEED,
    SETTINGS,
    pairs,
)

if TYPE_CHECKING:
    from roambus.bridge.backends.factory import BackendFactory
    from roambus.experiments.sweeps.sweep import AgentChoice, Sweep


@click.command()
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
    from roambus.bridge.runs.run import write_inputs
    from roambus.experiments.sweeps.runner import plan_run, render_point
    from roambus.experiments.sweeps.sweep import expand

    sweep = _single_run("render", template, _choose(agent, parameters), settings, seed)
    (point,) = expand(sweep)
    if out is None:
        click.echo(render_point(sweep.template, point), nl=False)
    else:
        write_inputs(plan_run(sweep.template, point, out), out)


@click.command()
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
    _run_once(sweep, level, record, out, make_factory(backend, deadline, batching))


def _run_once(sweep: Sweep, level: str, record: bool, out: Path, backend: BackendFactory) -> None:
    from roambus.bridge.runs.run import execute
    from roambus.bridge.trace.writer import TraceLevel
    from roambus.experiments.sweeps.description import opened_results
    from roambus.experiments.sweeps.runner import plan_runs, prepare

    (plan,) = plan_runs(sweep, out, TraceLevel(level))
    prepare(plan, backend)
    with opened_results(sweep, out):
        execute(replace(plan, record=record), backend)
    click.echo(plan.folder)


@click.command()
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
    from roambus.bridge.backends.castalia.factory import ServeFactory

    sweep = _single_run("serve", template, _choose(agent, parameters), settings, seed)
    _run_once(sweep, level, record, out, ServeFactory(deadline, batching, endpoint, wait, _announce))


def _announce(folder: Path) -> None:
    click.echo(f"waiting; start the simulator with\n  cd {folder} && CastaliaBin -f run.ini", err=True)


@click.command()
@click.argument("record", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--agent", help="Another agent than the record's: a name, module:Class or file.py[:Class].")
@click.option("--pdb", "debugging", is_flag=True, help="Open the debugger where an agent raises or first differs.")
def rerun(record: Path, agent: str | None, debugging: bool) -> None:
    """Runs the agents of RECORD (see run --record) again without a simulator, and says where they first differ.

    Example: roambus rerun results/run/traces/agent=mft/seed=0/frames.roambus --pdb
    """
    from roambus.bridge.record.rerun import debug
    from roambus.bridge.record.rerun import rerun as rerun_agents

    done = debug(record, agent) if debugging else rerun_agents(record, agent)
    click.echo(f"{record}: {done.frames} frames agree; {done.ending}")


def _choose(agent: str, parameters: Sequence[str]) -> AgentChoice:
    """The agent, under a name that can be a folder's."""
    from roambus.experiments.sweeps.sweep import AgentChoice

    label = re.sub(r"[^\w.+-]+", "-", agent).strip("-")
    return AgentChoice(label, agent, tuple(sorted(pairs("--param", parameters).items())))


def _single_run(command: str, template: str, choice: AgentChoice, settings: Sequence[str], seed: int) -> Sweep:
    """A sweep of one run. What is set becomes axes, so that runs with other values fit into the same results."""
    from roambus.experiments.sweeps.sweep import Sweep, parse_scalar, plain_axis, validate
    from roambus.experiments.templates.render import check_variables, find_template

    path, values = find_template(template), pairs("--set", settings)
    check_variables(path, values, "--set")
    axes = [plain_axis(name, [parse_scalar(text)]) for name, text in sorted(values.items())]
    sweep = Sweep(f"roambus {command}", path, (choice,), tuple(axes), (seed,))
    validate(sweep)
    return sweep
