"""The beacon scenario, and AODV, on other simulators beside ours, in one run.

python -m benchmarks.peers [--ns3-python PATH]

Static nodes, the same places for all, broadcast beacons of 40 bytes at random times (exponential gaps). On:

- GrADyS-SIM NextGen, where installed (pip install "gradysim>=0.7.3,<0.8"): protocols in Python, a range for a radio;
- our ideal links, the same unit disk and delay: like for like;
- our embedded radio, with the same Python agent;
- Castalia with that agent over the bridge, and with beacons in C++ and no bridge (OMNETPP_ROOT, CASTALIA_ROOT).

Then, unless --only-beacons, AODV with ns-3 beside ours (`peers_routing`).

The range is where the radio's mean path loss leaves its sensitivity. Repetitions are interleaved, and medians count.
Times include reading the scenario and, for Castalia, its process; no imports and no compilation.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks.castalia_beacons import run_beacons
from benchmarks.peers_routing import routing_table
from roambus.bridge.backend import Backend, Hello, Step, Totals, Transmission
from roambus.bridge.backends.castalia.backend import DEADLINE_S, CastaliaBackend
from roambus.bridge.backends.castalia.installation import find_installation
from roambus.bridge.backends.castalia.simulators import StartedSimulator
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.ideal.graph import reach_m
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.errors import RoambusError, UserError
from roambus.bridge.host.event_loop import Host
from roambus.bridge.ini import parse_scenario
from roambus.bridge.mobility import places_of
from roambus.bridge.runs.layout import INI_FILE
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceWriter
from roambus.experiments.shipped import TEMPLATES
from roambus.experiments.templates.render import find_template, render
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.baselines import Beacon
from roambus.python_protocol.vocabulary import SimTime, from_seconds, to_seconds

PAYLOAD_BYTES = 40
PLACED: dict[str, Scalar] = {"deployment": ""}
"""The nodes have places of their own."""
DELAY_S = 0.001
"""Of a link without a radio, in GrADyS and over ideal links."""
GRADYS = "gradysim>=0.7.3,<0.8"
"""Releases from 0.8 on bring in what flies real drones; the simulator is the same."""


@dataclass(frozen=True, slots=True)
class Load:
    """What all simulators carry."""

    nodes: int
    side_m: float
    rate_per_s: float
    seconds: float
    seed: int = 1


class Result(NamedTuple):
    """Of runs: what the agents heard, summed over the nodes; wall time; CPU time, a simulator's process included."""

    deliveries: float
    wall_s: float
    cpu_s: float


class Peer(NamedTuple):
    """A simulator: its name, the kind of its channel, and a run that returns its deliveries."""

    name: str
    channel: str
    run: Callable[[Load], int]


class CountingBackend:
    """Counts what a back-end delivers."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.deliveries = 0

    def open(self) -> Hello:
        """See `Backend`."""
        return self._backend.open()

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """See `Backend`."""
        step = self._backend.advance(transmissions, wake_up)
        self.deliveries += len(step.deliveries) if step else 0
        return step

    def fail(self, error: BaseException) -> None:
        """See `Backend`."""
        self._backend.fail(error)

    def close(self) -> Totals:
        """See `Backend`."""
        return self._backend.close()


# The scenario


def settings_of(load: Load) -> dict[str, Scalar]:
    """What the field template is told of the load."""
    settings: dict[str, Scalar] = {"nodes": load.nodes, "side": load.side_m, "time_limit": load.seconds}
    return settings | {"seed": load.seed}


def agent_of(load: Load) -> dict[str, Scalar]:
    """The agent that our hosts run, in the words of the template."""
    return {"agent": "beacon", "agent_parameters": f"rate={load.rate_per_s} payload={PAYLOAD_BYTES}"}


def place_lines(load: Load) -> list[str]:
    """Lines of an ini with a place for each node."""
    template = find_template("field")
    drawn = render(template, settings_of(load) | agent_of(load))
    places = places_of(replace(parse_scenario(drawn, template, TEMPLATES), seed=load.seed)).tolist()
    return [
        f"SN.node[{node}].{axis}Coor = {at:.3f}"
        for node, xy in enumerate(places)
        for axis, at in zip("xy", xy, strict=True)
    ]


def ini_of(load: Load) -> str:
    """The field template with a place for each node; raises UserError."""
    placed = render(find_template("field"), settings_of(load) | agent_of(load) | PLACED)
    return "\n".join([placed, f"SN.ideal.delay = {DELAY_S * 1000:g}ms", *place_lines(load), ""])


def scenario_of(load: Load) -> Scenario:
    """The same, as our back-ends read it."""
    template = find_template("field")
    return parse_scenario(ini_of(load), template, TEMPLATES)


@contextmanager
def run_folder(load: Load) -> Iterator[Path]:
    """A folder that Castalia can run in."""
    with tempfile.TemporaryDirectory() as name:
        Path(name, INI_FILE).write_text(ini_of(load), encoding="utf-8")
        shutil.copy(TEMPLATES / "CC2420.txt", name)
        yield Path(name)


# The simulators


def run_gradys(load: Load) -> int:
    """GrADyS-SIM NextGen; raises ImportError if it is not there."""
    from benchmarks import peers_gradys  # noqa: PLC0415  # the only module that needs the package

    scenario = scenario_of(load)
    return peers_gradys.run(
        [node.position for node in scenario.nodes if node.position is not None],
        range_m=reach_m(scenario, scenario.nodes[0]),
        delay_s=DELAY_S,
        rate_per_s=load.rate_per_s,
        payload_bytes=PAYLOAD_BYTES,
        seconds=load.seconds,
        seed=load.seed,
    )


def run_ideal(load: Load) -> int:
    """Our host over a unit disk."""
    scenario = scenario_of(load)
    return _hosted(scenario, make_ideal(scenario))


def run_radio(load: Load) -> int:
    """Our host over the embedded radio."""
    scenario = scenario_of(load)
    return _hosted(scenario, RadioBackend(scenario))


def run_bridged(load: Load) -> int:
    """Our host over Castalia."""
    with run_folder(load) as folder:
        scenario = scenario_of(load)
        simulator = StartedSimulator(folder, find_installation().program(), DEADLINE_S)
        return _hosted(scenario, CastaliaBackend(scenario, Beacon.messages, simulator))


def _hosted(scenario: Scenario, backend: Backend) -> int:
    counting = CountingBackend(backend)
    Host(scenario, Beacon, counting, TraceWriter()).run()
    return counting.deliveries


def run_native(load: Load) -> int:
    """Castalia alone; raises BackendError if it fails."""
    outputs = run_beacons(settings_of(load) | PLACED, place_lines(load), load.rate_per_s, PAYLOAD_BYTES)
    return int(outputs["Beacons", "received"])


def peers_here() -> tuple[list[Peer], list[str]]:
    """The simulators that are installed, and a line for each that is not: how to get it."""
    ours = [Peer("roambus, ideal links", "unit disk", run_ideal), Peer("roambus, embedded radio", "radio", run_radio)]
    missing = []
    if find_spec("gradysim"):
        ours.insert(0, Peer("GrADyS-SIM NextGen", "unit disk", run_gradys))
    else:
        missing.append(f'GrADyS-SIM NextGen is not installed: pip install "{GRADYS}"')
    try:
        find_installation()
    except UserError as error:
        missing.append(f"Castalia is left out: {error}")
        return ours, missing
    bridged = Peer("Castalia, agent over the bridge", "radio", run_bridged)
    return [*ours, bridged, Peer("Castalia, beacons in C++", "radio", run_native)], missing


# Measuring


def measure(peers: Sequence[Peer], load: Load, repeats: int) -> list[Result]:
    """Of each peer the medians over interleaved repetitions."""
    for peer in peers:
        peer.run(Load(min(load.nodes, 3), load.side_m, load.rate_per_s, 1))  # what is compiled or imported is, now
    rounds = [[_timed(peer, load, repeat) for peer in peers] for repeat in range(repeats)]
    return [Result(*map(statistics.median, zip(*runs, strict=True))) for runs in zip(*rounds, strict=True)]


def _timed(peer: Peer, load: Load, repeat: int) -> Result:
    print(f"{peer.name}, repetition {repeat + 1}", file=sys.stderr)
    wall, cpu = time.perf_counter(), _cpu_now()
    deliveries = peer.run(load)
    return Result(deliveries, time.perf_counter() - wall, _cpu_now() - cpu)


def _cpu_now() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def report(peers: Sequence[Peer], results: Sequence[Result], load: Load) -> None:
    """Prints the table and what it does not say."""
    scenario = scenario_of(load)
    range_m = reach_m(scenario, scenario.nodes[0])
    print(
        f"{load.nodes} static nodes on {load.side_m:g} m x {load.side_m:g} m, {load.rate_per_s:g} beacons/s each, ",
        end="",
    )
    print(f"{to_seconds(from_seconds(load.seconds)):g} s; unit disk of {range_m:.1f} m\n")
    print("| simulator | channel | deliveries | wall s | CPU s | deliveries per wall s | simulated s per wall s |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for peer, (deliveries, wall_s, cpu_s) in zip(peers, results, strict=True):
        speeds = f"{deliveries / wall_s:,.0f} | {load.seconds / wall_s:,.1f}"
        print(f"| {peer.name} | {peer.channel} | {deliveries:,.0f} | {wall_s:.3f} | {cpu_s:.3f} | {speeds} |")
    print(f"\n{CAVEATS}")


CAVEATS = """\
A unit disk has no collisions, no carrier sense, no bit errors and no shadowing: every beacon reaches every node in
range and none beyond. A radio loses some within that range and carries others beyond it. Compare deliveries per second
between rows of one channel only. Each simulator draws its own beacons and shadowing, so deliveries of one channel
agree within chance. GrADyS and Castalia's C++ keep no trace; rows with our agents keep one in memory."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, or that of the error."""
    asked = _parser().parse_args(arguments)
    load = Load(asked.nodes, asked.side, asked.rate, asked.seconds)
    try:
        _check(asked)
        peers, missing = peers_here()
        print("".join(f"{line}\n" for line in missing), end="", file=sys.stderr)
        report(peers, measure(peers, load, asked.repeats), load)
        if not asked.only_beacons:
            print(
                f"\nAODV, two publishers, 8 m/s, 60 packets a flow\n\n{routing_table(asked.repeats, asked.ns3_python)}"
            )
    except RoambusError as error:
        print(f"peers: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _check(asked: argparse.Namespace) -> None:
    for name in ("nodes", "side", "rate", "seconds", "repeats"):
        if getattr(asked, name) <= 0:
            raise UserError(f"--{name}: {getattr(asked, name):g} is not above 0")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers",
        description=__doc__,
        epilog="example: OMNETPP_ROOT=omnetpp CASTALIA_ROOT=castalia python -m benchmarks.peers --repeats 5",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--nodes", type=int, default=66, help="static nodes (66)")
    parser.add_argument("--side", type=float, default=110, help="of the field, in m (110)")
    parser.add_argument("--rate", type=float, default=1, help="beacons a second of each node (1)")
    parser.add_argument("--seconds", type=float, default=30, help="simulated (30)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each, of which the median is taken (3)")
    parser.add_argument("--ns3-python", default=sys.executable, help="a Python that has the package ns3 (this one)")
    parser.add_argument("--only-beacons", action="store_true", help="leave out AODV, which takes minutes")
    return parser


if __name__ == "__main__":
    sys.exit(main())
