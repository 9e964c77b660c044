"""`roambus render`, `run`, `serve` and `rerun` are about one run.

A single run is a sweep of one point. So it is planned, rendered and kept like each run of a sweep, and single runs of
the same template, with other values or agents, fit into the same results.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.commands.backend import announce_compilation, make_factory
from roambus.commands.completion import TEMPLATE_NAME
from roambus.commands.options import (
    AGENT,
    BACKEND,
    BATCHING,
    CHECK,
    DEADLINE,
    FOLDER,
    LEVEL,
    LOOKAHEAD,
    OTHER_AGENT,
    OUT,
    PARAMETERS,
    RECORD,
    SEED,
    SETTINGS,
    TRANSPORT,
    Seconds,
    pairs,
)
from roambus.commands.telling import answer, detail, remark

if TYPE_CHECKING:
    from roambus.bridge.backends.castalia.endpoint import Transport
    from roambus.bridge.backends.factory import BackendFactory
    from roambus.experiments.sweeps.sweep import AgentChoice, Sweep


LONGEST_WAIT_S = 30 * 86400
"""Thirty days: who waits longer for a simulator has forgotten that the command runs."""


@click.command()
@click.argument("template", type=TEMPLATE_NAME)
@AGENT
@PARAMETERS
@SETTINGS
@SEED
@click.option(
    "--out",
    type=FOLDER,
    help="Writes run.ini and its radio parameters file to this folder, instead of printing the ini.",
)
def render(
    template: str, agent: str, parameters: Sequence[str], settings: Sequence[str], seed: int, out: Path | None
) -> None:
    """Renders TEMPLATE into a plain OMNeT++ ini.

    The ini is all that a run depends on, besides the agent. TEMPLATE is the name of a template that comes with roambus
    (a name that is not known lists them), or a file of your own.

    Example: roambus render thesis --set brokers=8 --set speed=4
    """
    from roambus.bridge.runs.run import write_inputs
    from roambus.experiments.sweeps.runner import plan_run, render_point
    from roambus.experiments.sweeps.sweep import expand

    sweep = _single_run("render", template, _choose(agent, parameters), settings, seed)
    (point,) = expand(sweep)
    if out is None:
        ini = render_point(sweep.template, point)
        answer(ini.removesuffix("\n"), ini=ini)
    else:
        write_inputs(plan_run(sweep.template, point, out), out)
        answer(folder=out)


@click.command()
@click.argument("template", type=TEMPLATE_NAME)
@AGENT
@PARAMETERS
@SETTINGS
@SEED
@LEVEL
@BACKEND
@DEADLINE
@BATCHING
@LOOKAHEAD
@TRANSPORT
@RECORD
@CHECK
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
    lookahead: bool,
    transport: Transport,
    record: bool,
    check: bool,
    out: Path,
) -> None:
    """Runs TEMPLATE once, and prints where its results are.

    They are a folder with the ini, the log and the trace of the run. TEMPLATE is the name of a template that comes with
    roambus (a name that is not known lists them), or a file of your own. It says how many nodes there are, how they
    move, and what they publish and subscribe to; --set changes that. The agent is the protocol that all nodes run.

    Example: roambus run field --agent beacon --set nodes=30 --seed 1 --out results/field
    """
    sweep = _single_run("run", template, _choose(agent, parameters), settings, seed)
    factory = make_factory(backend, deadline, batching=batching, lookahead=lookahead, transport=transport)
    _run_once(sweep, level, record, check, out, factory)


def _run_once(sweep: Sweep, level: str, record: bool, check: bool, out: Path, backend: BackendFactory) -> None:
    from roambus.bridge.runs.layout import LOG_FILE, TRACE_FILE
    from roambus.bridge.runs.log import remarks_in
    from roambus.bridge.runs.run import execute_apart
    from roambus.bridge.trace.writer import TraceLevel
    from roambus.experiments.sweeps.description import opened_results
    from roambus.experiments.sweeps.runner import plan_runs, prepare

    (plan,) = plan_runs(sweep, out, TraceLevel(level))
    detail(f"{plan.place}: rendered")
    announce_compilation(backend)
    prepare(plan, backend)
    detail("the back-end is ready")
    with opened_results(sweep, out):
        execute_apart(replace(plan, record=record, check=check), backend)
    for noted in remarks_in((plan.folder / LOG_FILE).read_text(encoding="utf-8")):
        remark(f"note: {noted}")
    answer(plan.folder, folder=plan.folder, trace=plan.folder / TRACE_FILE)


@click.command()
@click.argument("template", type=TEMPLATE_NAME)
@AGENT
@PARAMETERS
@SETTINGS
@SEED
@LEVEL
@click.option(
    "--endpoint",
    metavar="tcp://ADDRESS:PORT",
    help="Listens at this address, with CURVE keys made for the run.  [default: a private socket]",
)
@click.option(
    "--wait",
    type=Seconds(1, LONGEST_WAIT_S),
    default=3600,
    show_default=True,
    help="The seconds to wait for a simulator.",
)
@DEADLINE
@BATCHING
@LOOKAHEAD
@TRANSPORT
@RECORD
@CHECK
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
    lookahead: bool,
    transport: Transport,
    record: bool,
    check: bool,
    out: Path,
) -> None:
    """Runs TEMPLATE once, with a simulator that you start.

    You start it by hand, in a debugger, or on another machine: the command says what to start, and waits. What another
    machine needs is in roambus docs castalia.

    Example: roambus serve thesis --agent mft --deadline 3600 --out results/served
    """
    from roambus.bridge.backends.castalia.factory import ServeFactory

    sweep = _single_run("serve", template, _choose(agent, parameters), settings, seed)
    factory = ServeFactory(deadline, batching, lookahead, transport, endpoint, wait, _announce)
    _run_once(sweep, level, record, check, out, factory)


def _announce(folder: Path) -> None:
    remark(f"waiting; start the simulator with\n  cd {folder} && CastaliaBin -f run.ini")


@click.command()
@click.argument("record", type=click.Path(dir_okay=False, path_type=Path))
@OTHER_AGENT
@click.option("--pdb", "debugging", is_flag=True, help="Opens the debugger where an agent raises or first differs.")
def rerun(record: Path, agent: str | None, debugging: bool) -> None:
    """Runs the agents of RECORD again, and says what differs.

    RECORD is the file frames.roambus that roambus run --record has left. No simulator is needed. The agents are told
    again what they were told then, so that a changed agent can be compared with the one before, frame by frame, and an
    error can be looked at in the debugger. This runs the agent's code: before it does, the command says which files
    that is, and whether they have changed since the run.

    Example: roambus rerun results/run/traces/agent=mft/seed=0/frames.roambus --pdb
    """
    from roambus.bridge.record.rerun import debug
    from roambus.bridge.record.rerun import rerun as rerun_agents

    done = (debug if debugging else rerun_agents)(record, agent, announce=remark)
    answer(
        f"{record}: {done.frames} frames agree; {done.ending}", record=record, frames=done.frames, ending=done.ending
    )


def _choose(agent: str, parameters: Sequence[str]) -> AgentChoice:
    """Returns the agent, under a name that a folder can have."""
    from roambus.experiments.sweeps.sweep import AgentChoice

    label = re.sub(r"[^\w.+-]+", "-", agent).strip("-")
    return AgentChoice(label, agent, tuple(sorted(pairs("--param", parameters).items())))


def _single_run(command: str, template: str, choice: AgentChoice, settings: Sequence[str], seed: int) -> Sweep:
    """Returns a sweep of one run; what is set becomes its axes."""
    from roambus.experiments.sweeps.named_settings import axis_of
    from roambus.experiments.sweeps.sweep import Sweep, validate
    from roambus.experiments.templates.render import find_template

    path, values = find_template(template), pairs("--set", settings)
    axes = [axis_of(path, name, text) for name, text in sorted(values.items())]
    sweep = Sweep(f"roambus {command}", path, (choice,), tuple(axes), (seed,))
    validate(sweep)
    return sweep
