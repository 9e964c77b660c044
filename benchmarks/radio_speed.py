"""How fast the embedded radio is, beside Castalia.

python -m benchmarks.radio_speed

The scenario is that of static_field.csv with 66 nodes on 110 m x 110 m, 10 packets a second each, 30 s: once with the
packets made by the compiled side, once by the Python agent `beacon` driven by the host. Where OMNETPP_ROOT and
CASTALIA_ROOT say where Castalia is, it runs the same load (constant gaps from a random start, as its ThroughputTest
sends) beside; otherwise its measured time is taken. Times are CPU times of one core.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.reference_scenarios import PAYLOAD_BYTES, SHADOWED, Conditions, static_scenario
from roambus.bridge.backend import Totals
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.backends.radio.mac import PoissonSources
from roambus.bridge.errors import UserError
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.baselines import Beacon

NODES, SIDE_M, RATE_PER_S, SECONDS = 66, 110, 10, 30

CASTALIA_SECONDS = 2.5
"""What Castalia takes for it on one core of the machine where the reference was measured."""

ALONE_TARGET, BEACON_TARGET = 40, 5
"""How many times faster than Castalia the radio has to be, alone and with agents in Python."""

CASTALIA_INI = """\
[General]
network = SN
sim-time-limit = {seconds}s
cmdenv-express-mode = true
num-rngs = 2
seed-set = {seed}
SN.numNodes = {nodes}
SN.field_x = {side}
SN.field_y = {side}
SN.deployment = "uniform"
SN.physicalProcessName = "CustomizablePhysicalProcess"
SN.wirelessChannel.rng-0 = 1
SN.node[*].startupRandomization = {gap}
SN.node[*].Communication.Radio.RadioParametersFile = "{castalia}/Simulations/Parameters/Radio/CC2420.txt"
SN.node[*].Communication.Radio.mode = "normal"
SN.node[*].Communication.MACProtocolName = "TunableMAC"
SN.node[*].Communication.MAC.rng-1 = 1
SN.node[*].Communication.MAC.backoffType = 2
SN.node[*].Communication.RoutingProtocolName = "BypassRouting"
SN.node[*].ApplicationName = "ThroughputTest"
SN.node[*].Application.packet_rate = {rate}
SN.node[*].Application.constantDataPayload = {payload}
SN.node[*].Application.packetHeaderOverhead = 0
SN.node[*].Application.nextRecipient = "{nobody}"
"""
"""Packets go to an address that no node has, for ThroughputTest would forward what it receives."""

NOBODY = 60000


def scenario(seed: int) -> Scenario:
    """The run, with beacons as its agents."""
    parameters = {"rate": str(RATE_PER_S), "payload": str(PAYLOAD_BYTES)}
    base = static_scenario(NODES, SIDE_M, Conditions(SECONDS, SHADOWED, seed))
    return replace(base, agent="beacon", agent_parameters=parameters)


def run_alone(seed: int) -> Totals:
    """The compiled side makes the packets."""
    backend = RadioBackend(scenario(seed), PoissonSources(RATE_PER_S, PAYLOAD_BYTES))
    backend.open()
    backend.advance((), None)
    return backend.close()


def run_beacons(seed: int) -> Totals:
    """Agents in Python make the packets and get what arrives."""
    run = scenario(seed)
    return Host(run, Beacon, RadioBackend(run), TraceWriter()).run()


def run_castalia(omnetpp: Path, castalia: Path, seed: int) -> None:
    """Castalia's own run in a temporary folder; raises UserError if it fails."""
    values = {"seconds": SECONDS, "seed": seed, "nodes": NODES, "side": SIDE_M, "gap": 1 / RATE_PER_S}
    values |= {"rate": RATE_PER_S, "payload": PAYLOAD_BYTES, "nobody": NOBODY}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "run.ini").write_text(CASTALIA_INI.format(castalia=castalia, **values), encoding="utf-8")
        command = [str(find_castalia(castalia)), "-u", "Cmdenv", "-n", str(castalia / "src"), "run.ini"]
        libraries = {"LD_LIBRARY_PATH": str(omnetpp / "lib")}
        done = subprocess.run(
            command, cwd=folder, env=os.environ | libraries, capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise UserError(
            f"Castalia failed with exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}"
        )


def find_castalia(castalia: Path) -> Path:
    """The program; raises UserError if CASTALIA_ROOT has none."""
    places = [castalia / "src" / "CastaliaBin", castalia / "bin" / "CastaliaBin", castalia / "CastaliaBin"]
    for place in places:
        if place.is_file():
            return place
    raise UserError(f"CASTALIA_ROOT={castalia}: no CastaliaBin in src, bin or the folder itself; build it, or unset it")


def cpu_seconds(run: Callable[[int], object], runs: int) -> float:
    """The median CPU time of `runs` runs, ours or a child's, each with its own seed."""
    taken = []
    for seed in range(runs):
        before = _cpu_now()
        run(seed)
        taken.append(_cpu_now() - before)
    return statistics.median(taken)


def _cpu_now() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def castalia_seconds(runs: int) -> tuple[float, str]:
    """Castalia's time, and where it is from."""
    omnetpp, castalia = os.environ.get("OMNETPP_ROOT"), os.environ.get("CASTALIA_ROOT")
    if not (omnetpp and castalia):
        return CASTALIA_SECONDS, "as measured with the reference; set OMNETPP_ROOT and CASTALIA_ROOT to run it here"
    return cpu_seconds(lambda seed: run_castalia(Path(omnetpp), Path(castalia), seed), runs), "run here"


def report(name: str, taken: float, castalia: float, target: float) -> bool:
    """One line; returns whether the target is reached."""
    ratio = castalia / taken
    verdict = "reached" if ratio >= target else "NOT REACHED"
    print(f"{name:<22}{taken:8.4f} s  {ratio:6.1f} times as fast as Castalia  (to reach: {target}; {verdict})")
    return ratio >= target


def measure(runs: int) -> int:
    """Runs and prints everything; returns the exit code."""
    print("Castalia", file=sys.stderr)
    castalia, source = castalia_seconds(min(runs, 3))
    print("compiling (once; cached afterwards)", file=sys.stderr)
    sent = sum(run_alone(0).counts["transmitted"])
    print("radio alone", file=sys.stderr)
    alone = cpu_seconds(run_alone, runs)
    print("with beacon agents", file=sys.stderr)
    beacons = cpu_seconds(run_beacons, runs)
    print(f"{NODES} nodes on {SIDE_M} m x {SIDE_M} m, {RATE_PER_S} packets/s each, {SECONDS} s: {sent} transmissions")
    print(f"{'Castalia':<22}{castalia:8.4f} s  ({source})")
    reached = [
        report("radio alone", alone, castalia, ALONE_TARGET),
        report("with beacon agents", beacons, castalia, BEACON_TARGET),
    ]
    return 0 if all(reached) else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, 1 if a target is not reached, 2 for a user's error."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.radio_speed",
        description="Measures the embedded radio's speed against Castalia's, in CPU time of one core.",
        epilog="example: OMNETPP_ROOT=omnetpp CASTALIA_ROOT=castalia python -m benchmarks.radio_speed --runs 5",
    )
    parser.add_argument("--runs", type=int, default=5, help="runs of each kind; their median counts (default: 5)")
    try:
        return measure(max(parser.parse_args(arguments).runs, 1))
    except (UserError, OSError) as error:
        print(f"radio_speed: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
