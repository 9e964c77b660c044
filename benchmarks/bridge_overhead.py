"""Measures the cost of the bridge to Castalia.

python -m benchmarks.bridge_overhead
python -m benchmarks.bridge_overhead --delay 0s --repeats 5

Castalia is found through OMNETPP_ROOT and CASTALIA_ROOT. 66 static nodes on 110 m x 110 m, 10 beacons a second each,
30 s: Castalia with beacons in C++ against Castalia with the Python agent `beacon` over the bridge. For each processing
delay and each way to save time, the ratio of the CPU time of both processes together to that of Castalia alone, and
the exchanges of Step and Reply. Of each the least of several runs counts, all in one run of this program: on a machine
that others use, too, nothing else can be compared. Then the microseconds a Step, host and wire together, against the
number of deliveries in it, beside the bare round trip of each transport.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.bridge_steps import measure_steps
from benchmarks.castalia_beacons import run_beacons
from roambus.bridge.backends.castalia.backend import DEADLINE_S, CastaliaBackend
from roambus.bridge.backends.castalia.endpoint import Transport
from roambus.bridge.backends.castalia.installation import find_installation
from roambus.bridge.backends.castalia.simulators import StartedSimulator
from roambus.bridge.errors import RoambusError
from roambus.bridge.host.event_loop import Host
from roambus.bridge.ini import read_scenario
from roambus.bridge.runs.layout import INI_FILE
from roambus.bridge.trace.parquet import TraceWriter
from roambus.experiments.shipped import TEMPLATES
from roambus.experiments.templates.render import find_template, render
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.baselines import Beacon

NODES, SIDE_M, RATE_PER_S, PAYLOAD_BYTES, SECONDS = 66, 110, 10, 40, 30
DELAYS = ("0s", "1ms", "5ms")
TARGETS = {("zeromq", "0s"): 1.6, ("zeromq", "1ms"): 1.3, ("local", "0s"): 1.3}
"""The ratios to reach, with batching and lookahead."""


class Way(NamedTuple):
    """How a run is made over the bridge."""

    batching: bool
    lookahead: bool
    transport: Transport

    def __str__(self) -> str:
        savings = [name for name, on in (("batching", self.batching), ("lookahead", self.lookahead)) if on]
        return f"{self.transport}, {' and '.join(savings) or 'nothing saved'}"


WAYS = (
    Way(batching=True, lookahead=False, transport="zeromq"),
    Way(batching=True, lookahead=True, transport="zeromq"),
    Way(batching=True, lookahead=True, transport="local"),
)


class Run(NamedTuple):
    """A run: CPU and wall time of all processes, and pairs of Step and Reply."""

    cpu_s: float
    wall_s: float
    exchanges: int


@contextmanager
def run_folder(delay: str) -> Iterator[Path]:
    """A folder with the scenario's ini and radio parameters file."""
    template = find_template("field")
    variables: dict[str, Scalar] = {"nodes": NODES, "side": SIDE_M, "time_limit": SECONDS, "seed": 1, "agent": "beacon"}
    parameters = f"rate={RATE_PER_S} payload={PAYLOAD_BYTES}"
    ini = render(template, {**variables, "agent_parameters": parameters})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = f"{ini}\nSN.node[*].Application.processingDelay = {delay}\n"
        (folder / INI_FILE).write_text(text, encoding="utf-8")
        shutil.copy(TEMPLATES / "CC2420.txt", folder)
        yield folder


def measured(make: Callable[[], int]) -> Run:
    """Makes a run, which returns its exchanges; the processes that it starts have ended by then."""
    start_s, start = sum(os.times()[:4]), time.perf_counter()
    exchanges = make()
    return Run(sum(os.times()[:4]) - start_s, time.perf_counter() - start, exchanges)


def run_native() -> int:
    """Castalia alone, its beacons in C++."""
    settings: dict[str, Scalar] = {"nodes": NODES, "side": SIDE_M, "time_limit": SECONDS, "seed": 1}
    run_beacons(settings, (), RATE_PER_S, PAYLOAD_BYTES)
    return 0


def run_bridged(delay: str, way: Way) -> int:
    """The same load by Python agents over the bridge; returns the exchanges."""
    with run_folder(delay) as folder:
        scenario = read_scenario(folder / INI_FILE)
        program = find_installation().program()
        simulator = StartedSimulator(folder, program, DEADLINE_S, transport=way.transport)
        saving = {"batching": way.batching, "lookahead": way.lookahead}
        backend = CastaliaBackend(scenario, Beacon.messages, simulator, **saving)
        Host(scenario, Beacon, backend, TraceWriter()).run()
        return backend.round_trips


def measure_overhead(delays: Sequence[str], repeats: int) -> int:
    """Prints a row for each delay and way; returns how many targets are missed."""
    native = min(measured(run_native) for _ in range(repeats))
    print(f"{NODES} nodes, {RATE_PER_S} beacons/s each, {SECONDS} s; the least of {repeats} runs each")
    print(f"all in C++: {native.cpu_s:.2f} s CPU, {native.wall_s:.2f} s wall")
    print("| processing delay | way | exchanges | CPU s | CPU time over C++ alone | us an exchange | to reach |")
    print("|---|---|---|---|---|---|---|")
    missed = 0
    for delay in delays:
        for way in WAYS:
            run = min(measured(partial(run_bridged, delay, way)) for _ in range(repeats))
            ratio, target = run.cpu_s / native.cpu_s, TARGETS.get((way.transport, delay)) if way.lookahead else None
            missed += target is not None and ratio > target
            each = (run.cpu_s - native.cpu_s) / run.exchanges * 1e6
            cells = (delay, way, run.exchanges, f"{run.cpu_s:.2f}", f"{ratio:.2f}", f"{each:.0f}", target or "")
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
    return missed


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints everything; 0 if no target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the least counts (3)")
    parser.add_argument("--delay", choices=DELAYS, action="append", help="this processing delay only")
    chosen = parser.parse_args(arguments)
    try:
        missed = measure_overhead(chosen.delay or DELAYS, chosen.repeats)
    except RoambusError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    measure_steps()
    print(f"{missed} ratios missed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
