"""Commands on one run: `roambus run`, and `trace` on a scenario.

A single run is a sweep of one point, so runs of one template with other values or agents share results.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from roambus.bridge.system.errors import UserError
from roambus.console.options import (
    BACKEND,
    CHECK,
    DEADLINE,
    FILE,
    LEVEL,
    OTHER_AGENT,
    OUT,
    PARAMETERS,
    RECORD,
    REPLACE,
    SINGLE,
    Seconds,
    Single,
    factory_of,
    goes_with,
    is_given,
    pairs,
)
from roambus.console.output import answer, detail, remark
from roambus.console.sweep_runs import RunOptions, announce_compilation, recorder

if TYPE_CHECKING:
    from roambus.bridge.backend import BackendFactory
    from roambus.experiments.sweeps.sweep import Sweep


_OF_RUNS = ("level", "backend", "deadline", "endpoint", "record", "check", "replace")
"""Options without effect on a rendered ini."""
LONGEST_WAIT_S = 30 * 86400
"""Thirty days: a longer wait means a forgotten command."""


@click.command()
@SINGLE
@LEVEL
@BACKEND
@DEADLINE
@click.option(
    "--endpoint",
    metavar="local|tcp://ADDRESS:PORT",
    help="Waits at this address for a Castalia that you start: at a private socket, or with CURVE keys over TCP.",
)
@click.option(
    "--wait",
    type=Seconds(1, LONGEST_WAIT_S),
    default=3600,
    show_default=True,
    help="With --endpoint: the seconds to wait for a simulator.",
)
@RECORD
@CHECK
@REPLACE
@click.option("--render", is_flag=True, help="Makes no run: prints the ini, or with --out writes it with its files.")
@OUT
def run(
    single: Single,
    level: str,
    backend: str,
    deadline: float | None,
    endpoint: str | None,
    wait: float,
    record: bool,
    check: bool,
    replace: bool,
    render: bool,
    out: Path,
) -> None:
    """Runs TEMPLATE once, and prints where its results are.

    The results are a folder with the ini, the log and the trace of the run. TEMPLATE is the name of a template of
    roambus (roambus list templates), or a file of your own. It sets the number of nodes, their movement, and their
    publications and subscriptions; --set changes its variables. The agent is the protocol that all nodes run. A run
    depends only on the rendered ini and the agent.

    With --endpoint you start the simulator: in a terminal, in a debugger, or on another machine. The command says what
    to start, and waits. roambus docs castalia says what another machine needs.

    \b
    Example: roambus run field --agent beacon --set nodes=30 --seed 1 --out results/field
    The ini alone: roambus run thesis --set brokers=8 --set speed=4 --render
    """  # noqa: D301  # click wants the character itself
    goes_with("endpoint", endpoint, "wait")
    if endpoint is not None and is_given("backend") and backend != "castalia":
        raise UserError(f"--backend {backend}: --endpoint works only with --backend castalia")
    run_options = RunOptions(level, check=check, record=record, replace=replace)
    if render:
        if useless := [name for name in _OF_RUNS if is_given(name)]:
            raise UserError(f"--{useless[0]} requires a run, and --render makes none: leave one of the two out")
        _render(single, out)
    elif endpoint is None:
        _run_once(sweep_of_one("run", single), out, run_options, factory_of(backend, deadline))
    else:
        from roambus.bridge.backends.castalia.backend import ServeFactory

        address = None if endpoint == "local" else endpoint
        factory = ServeFactory(deadline, address, wait_s=wait, announce=_announce)
        _run_once(sweep_of_one("run", single), out, run_options, factory)


def _render(single: Single, out: Path) -> None:
    from roambus.bridge.runs.run import write_inputs
    from roambus.experiments.sweeps.runner import plan_run, render_point
    from roambus.experiments.sweeps.sweep import expand

    sweep = sweep_of_one("run", single)
    (point,) = expand(sweep)
    if click.get_current_context().get_parameter_source("out") is ParameterSource.DEFAULT:
        ini = render_point(sweep.template, point)
        answer(ini.removesuffix("\n"), ini=ini)
    else:
        write_inputs(plan_run(sweep.template, point, out), out)
        answer(folder=out)


def _run_once(sweep: Sweep, out: Path, run_options: RunOptions, backend: BackendFactory) -> None:
    from roambus.bridge.runs.layout import LOG_FILE, TRACE_FILE
    from roambus.bridge.runs.log import remarks_in
    from roambus.bridge.runs.run import execute_in_child
    from roambus.bridge.trace.parquet import TraceLevel
    from roambus.experiments.sweeps.request_file import Making, opened_results
    from roambus.experiments.sweeps.runner import plan_runs, prepare, refuse_replacing

    level, record = run_options.level, run_options.record
    (plan,) = plan_runs(sweep, out, TraceLevel(level), backend=backend)
    detail(f"{plan.place}: rendered")
    announce_compilation(backend, [plan])
    prepare(plan, backend)
    detail("the back-end is ready")
    allowed = partial(refuse_replacing, [plan], backend, run_options.replace)
    with opened_results(sweep, out, Making(backend.name, level, record), allowed, run_options.replace):
        execute_in_child(dataclasses.replace(plan, record=recorder(record), check=run_options.check), backend)
    for noted in remarks_in((plan.folder / LOG_FILE).read_text(encoding="utf-8")):
        remark(f"note: {noted}")
    answer(plan.folder, folder=plan.folder, trace=plan.folder / TRACE_FILE)


def _announce(folder: Path) -> None:
    remark(f"waiting; start the simulator with\n  cd {folder} && CastaliaBin -f run.ini")


def sweep_of_one(command: str, single: Single) -> Sweep:
    """Return a sweep of one run, in which the values of `--set` are axes; raise UserError."""
    from roambus.experiments.sweeps.request import Request

    settings, parameters = pairs("--set", single.settings), pairs("--param", single.parameters)
    request = Request(single.template, settings, parameters=parameters)
    return request.single(f"roambus {command}", single.agent, single.seed)


@click.command()
@click.argument("scenario", type=FILE)
@OTHER_AGENT
@PARAMETERS
@click.option("--times", is_flag=True, help="Shows when each thing happens, counted from the command.")
def trace(scenario: Path, agent: str | None, parameters: Sequence[str], times: bool) -> None:
    """Prints SCENARIO with the messages that its commands cause.

    SCENARIO is a text file with a network and commands; roambus docs transcripts explains how it is written. Links are
    ideal: a link that is up loses nothing. With --agent, the parameters in the file are ignored. This scenario is
    complete:

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

    Example: roambus trace scenario.txt --agent mft --times
    """  # noqa: D301  # click wants the character itself
    from roambus.bridge.transcript.transcript import Overrides, transcribe

    text = transcribe(scenario, Overrides(agent, pairs("--param", parameters), times, remark))
    answer(text.removesuffix("\n"), scenario=scenario, transcript=text)
