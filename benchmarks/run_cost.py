"""Measures the cost of one run of the thesis' experiment, and where its time goes.

python -m benchmarks.run_cost --agent aodv --config C32 --speed 8 --seconds 700 --profile

The run has a process of its own, so that its peak memory is its own. It does the work of a run in a sweep: the
simulation, and writing the trace to disk. Publishing ends after five sevenths of the time, as in the thesis.
"""

from __future__ import annotations

import argparse
import cProfile
import multiprocessing
import pstats
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.compute as pc
import pyarrow.parquet as pq

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import Step, Transmission
from roambus.bridge.backends.radio.backend import RadioBackend, RadioFactory
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.runs.layout import TRACE_FILE
from roambus.bridge.runs.run import RunPlan
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import EVENT
from roambus.experiments.sweeps.runner import plan_runs, prepare
from roambus.experiments.sweeps.selection import override
from roambus.experiments.sweeps.sweep import Sweep
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.python_protocol.simtime import SimTime, to_seconds
from roambus.python_protocol.trace_rows import SEND

PUBLISHING_SHARE = 500 / 700
FUNCTIONS_SHOWN = 15

ROOT = Path(__file__).resolve().parent.parent
COMPONENTS = (
    ("bridge/backends/radio/kernel", "radio kernel"),
    ("bridge/backends", "back-end"),
    ("bridge/trace/parquet.py", "trace"),
    ("bridge", "host"),
    ("python_protocol/messages", "codec"),
    ("python_protocol/aodv/messages.py", "codec"),
    ("python_protocol/mft/messages.py", "codec"),
    ("python_protocol/filters.py", "codec"),
    ("python_protocol", "agent"),
)
"""Whose time is counted together: the first that a source file's path begins with."""
LIBRARY = "libraries"
KERNEL = "roambus.bridge.backends.radio.kernel"

Function = tuple[str, int, str]
"""File, line and name, as the profiler has them."""


class CountingBackend(RadioBackend):
    """The embedded radio, which also counts its Steps."""

    steps = 0

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """See `RadioBackend`."""
        self.steps += 1
        return super().advance(transmissions, wake_up)


class Counts(NamedTuple):
    """The counts of a run; `deliveries` are messages given to agents, `rows` the trace's."""

    simulated: SimTime
    steps: int
    deliveries: int
    sends: int
    rows: int


Shares = list[tuple[str, float]]
"""Names, each with its share of the time, costliest first."""


class Cost(NamedTuple):
    """Of one run: times in s, memory in bytes; `profile`, if it was asked for, is by component and by function."""

    wall: float
    cpu: float
    peak_memory: int
    counts: Counts
    profile: tuple[Shares, Shares] | None


def chosen_sweep(agent: str, config: str, speed: str, seconds: int) -> Sweep:
    """One run of the thesis' sweep; raises UserError for what it does not have."""
    settings = {"agent": agent, "config": config, "speed": speed, "time_limit": str(seconds)}
    settings["publish_until"] = str(round(seconds * PUBLISHING_SHARE, 3))
    sweep = override(read_sweep("thesis"), settings, seeds=1)
    if any("," in value for value in (agent, config, speed)):
        raise UserError("--agent, --config, --speed: one value each; a run has no more")
    return sweep


def measure_apart(sweep: Sweep, *, profiled: bool) -> Cost:
    """The cost of the sweep's only run, in a process of its own; raises what the run raises."""
    with tempfile.TemporaryDirectory() as folder:
        (plan,) = plan_runs(sweep, Path(folder))
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            return process.submit(measure, plan, profiled=profiled).result()


def measure(plan: RunPlan, *, profiled: bool) -> Cost:
    """The cost of a run in this process."""
    prepare(plan, RadioFactory())
    load_agent(plan.agent)  # its modules are not part of a run's cost, in a sweep they are loaded once
    profiler = cProfile.Profile() if profiled else None
    with profiler or nullcontext():
        wall, cpu = time.perf_counter(), time.process_time()
        counts = _run(plan)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Cost(wall, cpu, peak, counts, None if profiler is None else summarise(pstats.Stats(profiler)))


def _run(plan: RunPlan) -> Counts:
    scenario = parse_scenario(plan.ini, plan.folder, plan.radio_file.parent)
    backend, trace = CountingBackend(scenario), TraceWriter(plan.level)
    totals = Host(scenario, load_agent(plan.agent), backend, trace).run()
    trace.write(plan.results / TRACE_FILE, {})
    events = pq.read_table(plan.results / TRACE_FILE, columns=[EVENT]).column(EVENT)
    sends: int = pc.sum(pc.equal(events, SEND)).as_py()
    return Counts(scenario.time_limit, backend.steps, sum(totals.counts["received"]), sends, len(events))


# Where the time goes


def summarise(stats: pstats.Stats) -> tuple[Shares, Shares]:
    """The time by component and by function; a library's time is charged to the caller in roambus."""
    components: defaultdict[str, float] = defaultdict(float)
    functions: defaultdict[str, float] = defaultdict(float)
    entries: dict[Function, Any] = stats.stats  # type: ignore[attr-defined]  # it is there since 1994, and documented nowhere
    for function, (_, _, own, _, callers) in entries.items():
        charged = [(function, own)] if component_of(function) != LIBRARY else _charges(callers)
        for payer, spent in charged:
            components[component_of(payer)] += spent
            functions[_name(payer)] += spent
    return _shares(components), _shares(functions)


def _charges(callers: dict[Function, Any]) -> list[tuple[Function, float]]:
    return [(caller, own) for caller, (_, _, own, _) in callers.items()]


def component_of(function: Function) -> str:
    """The component of a profiled function, by its file."""
    file, _, name = function
    if KERNEL in name:
        return "radio kernel"
    path = Path(file).resolve()  # below roambus/ the other folders are links
    if not path.is_relative_to(ROOT):
        return LIBRARY
    relative = path.relative_to(ROOT).as_posix()
    return next((component for prefix, component in COMPONENTS if relative.startswith(prefix)), LIBRARY)


def _name(function: Function) -> str:
    file, _, name = function
    if KERNEL in name:
        return "the compiled loop"
    path = Path(file).resolve()  # below roambus/ the other folders are links
    return f"{path.relative_to(ROOT)}: {name}" if path.is_relative_to(ROOT) else f"{path.name}: {name}"


def _shares(spent: dict[str, float]) -> Shares:
    whole = sum(spent.values())
    return sorted(((name, own / whole) for name, own in spent.items()), key=itemgetter(1), reverse=True)


# Output


def report(cost: Cost) -> None:
    """Prints all of it."""
    print(f"wall time        {cost.wall:9.2f} s")
    print(f"CPU time         {cost.cpu:9.2f} s")
    print(f"peak memory      {cost.peak_memory / 2**20:9.0f} MiB")
    simulated, *counts = cost.counts
    print(f"simulated        {to_seconds(simulated):9.0f} s, {to_seconds(simulated) / cost.wall:.1f} a second")
    for name, count in zip(Counts._fields[1:], counts, strict=True):
        print(f"{name:<17}{count:9,}")
    for title, shares in zip(("by component", "by function"), cost.profile or (), strict=False):
        print(f"\n{title} (profiled: the whole takes longer, and short functions weigh too much)")
        for name, share in shares[:FUNCTIONS_SHOWN]:
            print(f"{share:8.1%}  {name}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, or 2 for a user's error."""
    try:
        asked = _parser().parse_args(arguments)
        sweep = chosen_sweep(asked.agent, asked.config, asked.speed, asked.seconds)
        report(measure_apart(sweep, profiled=asked.profile))
    except (RoambusError, OSError) as error:
        print(f"run_cost: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.run_cost",
        description="Measures what one run of the thesis' experiment costs.",
        epilog="example: python -m benchmarks.run_cost --agent mft --config C8 --seconds 100 --profile",
    )
    parser.add_argument("--agent", default="aodv", help="an agent of the thesis' sweep: aodv (default) or mft")
    parser.add_argument("--config", default="C32", help="C2, C4, C8, C16 or C32 (default)")
    parser.add_argument("--speed", default="8", help="of the clients, in m/s (default: 8)")
    parser.add_argument("--seconds", type=int, default=700, help="simulated (default: 700)")
    parser.add_argument("--profile", action="store_true", help="tell where the time goes, too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
