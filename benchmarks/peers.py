"""The CPU time of roambus beside other simulators, and how it grows with the network.

    python -m benchmarks.peers beside [--rounds 5] [--seconds 20]
    python -m benchmarks.peers growth [--sizes 66,260,1040,10000] [--csv] [--picture FILE]

`beside` has two loads: 66 static nodes with ten beacons a second each, and AODV at C8 with nodes at 8 m/s. They run on
ideal links, on the embedded radio, and on Castalia and ns-3, with the same agents in Python. Beside them are Castalia
and ns-3 without Python, and GrADyS-SIM NG (`pip install --no-deps gradysim`); the program names those that it lacks.
`growth` has the beacons alone, with the room that each node has in C32.

A figure is the CPU time of a simulated second, of this process and those that it starts. Each run is made twice, and
the time of the short one is taken off: reading, set-up and the simulator's start are not in it. Rounds are interleaved.
"""

from __future__ import annotations

import argparse
import csv
import math
import multiprocessing
import os
import resource
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from benchmarks.castalia_beacons import run_beacons
from benchmarks.ns3_routing import Case, build_worker, ini_of, run_ns3, scenario_of
from roambus.bridge.backend import Backend, Step, Transmission
from roambus.bridge.backends.castalia.backend import CastaliaFactory
from roambus.bridge.backends.castalia.installation import find_installation
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.ideal.graph import reach_m
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.mobility.paths import places_of
from roambus.bridge.runs.layout import INI_FILE
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.radio import Ns3Settings
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.measurements import markdown_table
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.extensions.ns3.backend import Ns3Factory, find_adapter
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.aodv import Aodv
from roambus.python_protocol.baselines import Beacon
from roambus.python_protocol.simtime import SimTime

RATE_PER_S, PAYLOAD_BYTES, DELAY_S = 10.0, 40, 0.001
NODES, SIDE_M, SPEED = 66, 110.0, 8
SHORT_S = 1
"""The run that is taken off: its start and a second."""
REFERENCE = "roambus, embedded radio"
GRADYS, CASTALIA, ADAPTER, NS3 = "GrADyS-SIM NG", "Castalia", "the adapter for ns-3", "ns-3"
DISK, RADIO, WIFI = "unit disk", "CC2420", "802.11b"
SIZES = (66, 260, 1040, 10_000)
SECONDS_OF_GROWTH, NODE_SECONDS = (1, 20), 5_000
"""At least and at most simulated by `growth`; in between, so many seconds of one node."""


class Peer(NamedTuple):
    """A simulator, its channel, and a run of so many seconds that returns what agents received, all nodes together."""

    name: str
    channel: str
    run: Callable[[int], float]


class Cost(NamedTuple):
    """Of a simulated second: CPU time (s) and deliveries."""

    cpu_s: float
    deliveries: float


# Measuring


def cost(run: Callable[[int], float], seconds: int) -> Cost:
    """The cost without the start's; raises what the run raises."""
    short, whole = _timed(run, SHORT_S), _timed(run, SHORT_S + seconds)
    return Cost(*((more - less) / seconds for less, more in zip(short, whole, strict=True)))


def _timed(run: Callable[[int], float], seconds: int) -> Cost:
    before = _cpu_now_s()
    deliveries = run(seconds)
    return Cost(_cpu_now_s() - before, deliveries)


def _cpu_now_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def interleaved(peers: Sequence[Peer], seconds: int, rounds: int) -> list[list[Cost]]:
    """Of each peer a cost for each round; one short run before that compiles what is compiled."""
    for peer in peers:
        peer.run(1)
    found: list[list[Cost]] = [[] for _ in peers]
    for number in range(rounds):
        for peer, costs in zip(peers, found, strict=True):
            print(f"round {number + 1}: {peer.name}", file=sys.stderr)
            costs.append(cost(peer.run, seconds))
    return found


def rows_of(load: str, peers: Sequence[Peer], found: Sequence[Sequence[Cost]]) -> Iterator[tuple[str, ...]]:
    """A table's row for each peer: medians, the range of CPU times, and the ratio to the embedded radio, by rounds."""
    reference = found[[peer.name for peer in peers].index(REFERENCE)]
    for peer, costs in zip(peers, found, strict=True):
        times_ms = [1000 * one.cpu_s for one in costs]
        ratios = [one.cpu_s / other.cpu_s for one, other in zip(costs, reference, strict=True)]
        yield (
            load,
            peer.name,
            peer.channel,
            f"{statistics.median(one.deliveries for one in costs):,.0f}".replace("nan", "not counted"),
            f"{statistics.median(times_ms):.3g}",
            f"{min(times_ms):.3g} to {max(times_ms):.3g}",
            f"{statistics.median(ratios):.2f}",
        )


# Beacons


@dataclass(frozen=True, slots=True)
class Field:
    """Beacons of nodes that stand still or move at 8 m/s, each with the room that it has in the thesis' C32."""

    nodes: int = NODES
    moving: bool = False
    seed: int = 1

    def settings(self, seconds: int) -> dict[str, Scalar]:
        """Return the template's variables."""
        side = SIDE_M * math.sqrt(self.nodes / NODES)
        moving: dict[str, Scalar] = {"mobility": "waypoint", "speed": SPEED} if self.moving else {}
        return {"nodes": self.nodes, "side": side, "time_limit": seconds, "seed": self.seed} | moving

    def ini(self, seconds: int, lines: Sequence[str] = ()) -> str:
        """The ini of a run, with more lines at its end."""
        parameters = f"rate={RATE_PER_S:g} payload={PAYLOAD_BYTES}"
        agent: dict[str, Scalar] = {"agent": "beacon", "agent_parameters": parameters, "publish_interval": "0s"}
        deployment: dict[str, Scalar] = {"deployment": ""} if lines else {}
        text = find_template("field").render(self.settings(seconds) | agent | deployment)
        return "\n".join([text, f"SN.ideal.delay = {DELAY_S * 1000:g}ms", *lines, ""])

    def scenario(self, seconds: int) -> Scenario:
        """The run as our back-ends read it; raises UserError."""
        return _parsed(self.ini(seconds))

    def place_lines(self) -> list[str]:
        """Lines by which another simulator puts the nodes where ours are."""
        places = places_of(self.scenario(1)).tolist()
        return [
            f"SN.node[{node}].{axis}Coor = {at:.3f}"
            for node, place in enumerate(places)
            for axis, at in zip("xy", place, strict=True)
        ]


def _parsed(ini: str) -> Scenario:
    return parse_scenario(ini, find_template("field").file, TEMPLATES)


class Counted:
    """A back-end that also counts what it gives to agents."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.open, self.fail, self.close = backend.open, backend.fail, backend.close
        self.deliveries = 0

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """See `Backend`."""
        step = self._backend.advance(transmissions, wake_up)
        self.deliveries += len(step.deliveries) if step else 0
        return step


def hosted(scenario: Scenario, agent: type[Agent], backend: Backend) -> float:
    """Run our agents over the back-end; return what they received."""
    counted = Counted(backend)
    Host(scenario, agent, counted, TraceWriter()).run()
    return counted.deliveries


def _beacons_by_bridge(factory: CastaliaFactory | Ns3Factory, field: Field, seconds: int) -> float:
    ini = field.ini(seconds, field.place_lines())
    with tempfile.TemporaryDirectory() as folder:
        scenario = replace(_parsed(ini), ns3=Ns3Settings("wifi"))
        _write_inputs(Path(folder), ini)
        return hosted(scenario, Beacon, factory.make(scenario, Beacon, Path(folder)))


def _write_inputs(folder: Path, ini: str) -> None:
    (folder / INI_FILE).write_text(ini, encoding="utf-8")
    shutil.copy(TEMPLATES / "CC2420.txt", folder)


def _native_beacons(field: Field, seconds: int) -> float:
    settings = field.settings(seconds) | {"deployment": ""}
    return run_beacons(settings, field.place_lines(), RATE_PER_S, PAYLOAD_BYTES)["Beacons", "received"]


def _gradys_beacons(field: Field, seconds: int) -> float:
    from benchmarks.peers_gradys import run  # noqa: PLC0415  # the only module that needs the package

    scenario = field.scenario(seconds)
    range_m = reach_m(scenario, scenario.nodes[0])
    return run(
        places_of(scenario).tolist(),
        range_m,
        delay_s=DELAY_S,
        rate_per_s=RATE_PER_S,
        payload_bytes=PAYLOAD_BYTES,
        seconds=seconds,
    )


def ideal_beacons(field: Field, seconds: int) -> float:
    """Deliveries over ideal links."""
    scenario = field.scenario(seconds)
    return hosted(scenario, Beacon, make_ideal(scenario))


def radio_beacons(field: Field, seconds: int) -> float:
    """Deliveries over the embedded radio."""
    scenario = field.scenario(seconds)
    return hosted(scenario, Beacon, RadioBackend(scenario))


def beacon_peers(there: frozenset[str], field: Field) -> list[Peer]:
    """The simulators that carry beacons, of those that are there."""
    every = (
        ("", Peer(REFERENCE, RADIO, partial(radio_beacons, field))),
        ("", Peer("roambus, ideal links", DISK, partial(ideal_beacons, field))),
        (GRADYS, Peer("GrADyS-SIM NG, in Python", DISK, partial(_gradys_beacons, field))),
        (CASTALIA, Peer("Castalia, agents in Python", RADIO, partial(_beacons_by_bridge, CastaliaFactory(), field))),
        (CASTALIA, Peer("Castalia, all in C++", RADIO, partial(_native_beacons, field))),
        (ADAPTER, Peer("ns-3, agents in Python", WIFI, partial(_beacons_by_bridge, Ns3Factory(), field))),
    )
    return [peer for needed, peer in every if needed in there]


# AODV


def _c8(seconds: int, range_m: float | None = None) -> Case:
    """The study's C8, with packets for so many seconds, on a unit disk or with the mean path loss."""
    return Case("C8", 60, 2, 8, seconds, range_m, nodes=18, speed=SPEED)


def _aodv(make: Callable[[Scenario, Path], Backend], range_m: float | None, seconds: int) -> float:
    case = _c8(seconds, range_m)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scenario = replace(scenario_of(case, 0, folder), ns3=Ns3Settings("wifi"))
        _write_inputs(folder, ini_of(case, 0))
        return hosted(scenario, Aodv, make(scenario, folder))


def _native_aodv(worker: Path, seconds: int) -> float:
    run_ns3([_c8(seconds)], 1, worker)
    return math.nan  # it does not count them


def aodv_peers(there: frozenset[str], worker: Path) -> list[Peer]:
    """The simulators that run AODV, of those that are there; `worker` is that of ns-3."""
    every = (
        ("", REFERENCE, RADIO, partial(_aodv, lambda scenario, _: RadioBackend(scenario), None)),
        ("", "roambus, ideal links", DISK, partial(_aodv, lambda scenario, _: make_ideal(scenario), 25)),
        (CASTALIA, "Castalia, agents in Python", RADIO, partial(_aodv, _over(CastaliaFactory()), None)),
        (ADAPTER, "ns-3, agents in Python", WIFI, partial(_aodv, _over(Ns3Factory()), None)),
        (NS3, "ns-3, all in C++", WIFI, partial(_native_aodv, worker)),
    )
    return [Peer(name, channel, run) for needed, name, channel, run in every if needed in there]


def _over(factory: CastaliaFactory | Ns3Factory) -> Callable[[Scenario, Path], Backend]:
    return lambda scenario, folder: factory.make(scenario, Aodv, folder)


# Beside other simulators


def installed(worker: Path) -> frozenset[str]:
    """Which simulators are there; the others are named on standard error. Compiles the worker of ns-3."""
    finders: dict[str, Callable[[], object]] = {
        GRADYS: _find_gradys,
        CASTALIA: lambda: find_installation().program(),
        ADAPTER: find_adapter,
        NS3: lambda: build_worker(worker.parent),
    }
    return frozenset({"", *(name for name, find in finders.items() if _is_there(name, find))})


def _find_gradys() -> None:
    if find_spec("gradysim") is None:
        raise UserError("pip install --no-deps gradysim")


def _is_there(name: str, find: Callable[[], object]) -> bool:
    try:
        find()
    except UserError as error:
        print(f"{name} is left out: {error}", file=sys.stderr)
        return False
    return True


def beside(seconds: int, rounds: int) -> str:
    """The table of all simulators that are there; raises RoambusError."""
    with tempfile.TemporaryDirectory() as folder:
        worker = Path(folder, "ns3_worker")
        there = installed(worker)
        loads = {"66 nodes, 10 beacons/s": beacon_peers(there, Field()), "AODV, C8": aodv_peers(there, worker)}
        measured = {load: (peers, interleaved(peers, seconds, rounds)) for load, peers in loads.items()}
    rows = chain.from_iterable(rows_of(load, *found) for load, found in measured.items())
    return markdown_table(_HEAD, list(rows))


_HEAD = ("load", "simulator", "channel", "deliveries a s", "CPU ms a simulated s", "from, to", "embedded radio = 1")


# Growth


class Point(NamedTuple):
    """Of a network: CPU time of a simulated second and of the start (s), deliveries a second, peak memory (MiB)."""

    kind: str
    nodes: int
    cpu_s: float
    start_s: float
    deliveries: float
    memory_mib: float


KINDS: dict[str, tuple[bool, Callable[[Field, int], float]]] = {
    "ideal links, static": (False, ideal_beacons),
    "embedded radio, static": (False, radio_beacons),
    f"embedded radio, {SPEED} m/s": (True, radio_beacons),
}
"""Whether nodes move, and how a run is made."""


def point(kind: str, nodes: int) -> Point:
    """The cost of this network, in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(_point, kind, nodes).result()


def _point(kind: str, nodes: int) -> Point:
    moving, run = KINDS[kind]
    run(Field(3, moving), 1)  # what is compiled is, now
    least, most = SECONDS_OF_GROWTH
    seconds = max(least, min(most, NODE_SECONDS // nodes))
    field = Field(nodes, moving)
    short, whole = _timed(partial(run, field), SHORT_S), _timed(partial(run, field), SHORT_S + seconds)
    cpu_s, deliveries = ((more - less) / seconds for less, more in zip(short, whole, strict=True))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Point(kind, nodes, cpu_s, short.cpu_s - SHORT_S * cpu_s, deliveries, memory)


def exponent(points: Sequence[Point]) -> tuple[float, float]:
    """Of CPU time over nodes by least squares on logarithms, with its standard error; needs four points."""
    x, y = (np.log([getattr(one, name) for one in points]) for name in ("nodes", "cpu_s"))
    fit, covariance = np.polyfit(x, y, 1, cov=True)
    return float(fit[0]), float(math.sqrt(covariance[0, 0]))


def draw(points: Sequence[Point], file: Path) -> None:
    """A picture of CPU time over nodes, a line a kind."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for kind in KINDS:
        of_kind = [one for one in points if one.kind == kind]
        axes.loglog([one.nodes for one in of_kind], [one.cpu_s for one in of_kind], "o-", label=kind)
    axes.set(xlabel="nodes, ten beacons a second each", ylabel="CPU time of a simulated second (s)")
    axes.legend(frameon=False)
    figure.savefig(file, dpi=150)


def growth(sizes: Sequence[int], *, as_csv: bool, picture: Path | None) -> None:
    """Prints the points as a table or CSV, and the exponents on standard error."""
    points = [point(kind, nodes) for kind in KINDS for nodes in sizes]
    rows = [tuple(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in one) for one in points]
    if as_csv:
        csv.writer(sys.stdout, lineterminator="\n").writerows([Point._fields, *rows])
    else:
        print(markdown_table(Point._fields, rows))
    for kind in KINDS:
        slope, error = exponent([one for one in points if one.kind == kind])
        print(f"{kind}: exponent over nodes {slope:.2f} +- {error:.2f}", file=sys.stderr)
    if picture:
        draw(points, picture)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, or that of the error."""
    asked = _parser().parse_args(arguments)
    try:
        if asked.command == "beside":
            print(f"load {os.getloadavg()[0]:.1f} before", file=sys.stderr)
            print(beside(asked.seconds, asked.rounds))
        else:
            growth(asked.sizes, as_csv=asked.csv, picture=asked.picture)
    except RoambusError as error:
        print(f"peers: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    others = commands.add_parser("beside", help="beside other simulators")
    others.add_argument("--rounds", type=_above(0), default=5, help="of which the median is taken (5)")
    others.add_argument("--seconds", type=_above(0), default=20, help="simulated (20)")
    grown = commands.add_parser("growth", help="from small networks to large ones")
    grown.add_argument("--sizes", type=_sizes, default=SIZES, help="four numbers of nodes or more")
    grown.add_argument("--csv", action="store_true", help="print CSV")
    grown.add_argument("--picture", type=Path, help="draw this file, too")
    return parser


def _above(least: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        if not text.isdigit() or int(text) <= least:
            raise argparse.ArgumentTypeError(f"{text}: not a whole number above {least}")
        return int(text)

    return whole


def _sizes(text: str) -> list[int]:
    sizes = [_above(1)(one) for one in text.split(",")]
    if len(set(sizes)) < 4:
        raise argparse.ArgumentTypeError(f"{text}: an exponent and its error need four sizes")
    return sizes


if __name__ == "__main__":
    sys.exit(main())
