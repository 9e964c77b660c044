"""What the bridge to Castalia costs.

python -m benchmarks.bridge_overhead

Three measurements, each in one run of this program, with Castalia found through OMNETPP_ROOT and CASTALIA_ROOT:

1. 66 static nodes on 110 m x 110 m, 10 beacons a second each, 30 s: Castalia with beacons in C++ against Castalia with
   the Python agent `beacon` over the bridge, wall time as a ratio, with start and end of the processes. Once for
   each processing delay: the longer it is, the more instants travel in one round trip.
2. The round trips with and without batching, for the same runs.
3. Microseconds a delivery against the number of deliveries in one Step, host and wire together, beside the bare
   round trip of ZeroMQ between two processes on one core and on two.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.bridge_steps import measure_steps
from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.factory import DEADLINE_S
from roambus.bridge.backends.castalia.files import INI_FILE
from roambus.bridge.backends.castalia.installation import find_installation
from roambus.bridge.backends.castalia.rundir import linked_directory
from roambus.bridge.backends.castalia.simulators import StartedSimulator
from roambus.bridge.errors import RoambusError
from roambus.bridge.host.host import Host
from roambus.bridge.ini import read_scenario
from roambus.bridge.trace.writer import TraceWriter
from roambus.experiments.shipped import TEMPLATES
from roambus.experiments.sweeps.sweep import Scalar
from roambus.experiments.templates.render import find_template, render
from roambus.python_protocol.beacon import Beacon

NODES, SIDE_M, RATE_PER_S, PAYLOAD_BYTES, SECONDS = 66, 110, 10, 40, 30
DELAYS = ("0s", "1ms", "2ms", "5ms", "10ms")
UNBATCHED = ("0s", "1ms")
"""Measured without batching, too: each takes as long as all others together."""
TARGET = 1.5
"""The ratio to reach."""


class Run(NamedTuple):
    """A run over the bridge: wall time, and pairs of Step and Reply."""

    wall_s: float
    round_trips: int


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


def run_native() -> float:
    """Wall seconds of Castalia alone, its beacons in C++."""
    found = find_installation()
    with run_folder("0s") as folder, linked_directory(folder, found.links()):
        application = {"ApplicationName": '"NativeBeacon"', "rate": RATE_PER_S, "payload": PAYLOAD_BYTES}
        options = [
            f"--SN.node[*].{name if name == 'ApplicationName' else f'Application.{name}'}={value}"
            for name, value in application.items()
        ]
        program = found.program()
        start = time.perf_counter()
        subprocess.run(
            [*program.command, *options], cwd=folder, env=program.environment, check=True, capture_output=True
        )
        return time.perf_counter() - start


def run_bridged(delay: str, *, batching: bool) -> Run:
    """The same load by Python agents over the bridge."""
    with run_folder(delay) as folder:
        scenario = read_scenario(folder / INI_FILE)
        start = time.perf_counter()
        simulator = StartedSimulator(folder, find_installation().program(), DEADLINE_S)
        backend = CastaliaBackend(scenario, Beacon.messages, simulator, batching=batching)
        Host(scenario, Beacon, backend, TraceWriter()).run()
        return Run(time.perf_counter() - start, backend.round_trips)


def measure_overhead(repeats: int) -> float:
    """Prints wall times and round trips for each processing delay; the ratio without one."""
    native = statistics.median(run_native() for _ in range(repeats))
    print(f"{NODES} nodes, {RATE_PER_S} beacons/s each, {SECONDS} s; median of {repeats}")
    print(f"all in C++: {native:.2f} s wall")
    print("processing delay   wall s   ratio   round trips   without batching   its wall s")
    ratios = {}
    for delay in DELAYS:
        runs = [run_bridged(delay, batching=True) for _ in range(repeats)]
        wall = statistics.median(run.wall_s for run in runs)
        ratios[delay] = wall / native
        print(f"{delay:>16} {wall:8.2f} {ratios[delay]:7.2f} {runs[0].round_trips:13}", end="", flush=True)
        single = run_bridged(delay, batching=False) if delay in UNBATCHED else None
        print(f" {single.round_trips:18} {single.wall_s:12.2f}" if single else "", flush=True)
    return ratios[DELAYS[0]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints everything; 0 if the ratio without processing delay is at most TARGET."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the median is taken (3)")
    chosen = parser.parse_args(arguments)
    try:
        ratio = measure_overhead(chosen.repeats)
    except RoambusError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    measure_steps()
    print(f"ratio without processing delay: {ratio:.2f}, to reach: {TARGET}")
    return int(ratio > TARGET)


if __name__ == "__main__":
    sys.exit(main())
