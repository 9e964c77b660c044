"""The two loads on every simulator that is installed, and the table of their costs."""

from __future__ import annotations

import math
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from benchmarks.castalia_beacons import run_beacons
from benchmarks.ns3_routing import Case, build_worker, ini_of, run_ns3, scenario_of
from benchmarks.peers.field import DELAY_S, PAYLOAD_BYTES, RATE_PER_S, SPEED, Field, cpu_now_s, hosted, parsed
from roambus.bridge.backend import Backend
from roambus.bridge.backends.castalia.backend import CastaliaFactory
from roambus.bridge.backends.castalia.installation import find_installation
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.ideal.graph import reach_m
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.mobility.paths import places_of
from roambus.bridge.runs.layout import INI_FILE
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.radio import Ns3Settings
from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.measurements import markdown_table
from roambus.extensions.ns3.backend import Ns3Factory, find_adapter
from roambus.python_protocol.aodv import Aodv
from roambus.python_protocol.baselines import Beacon

SHORT_S = 1
"""The run that is taken off: its start and a second."""
REFERENCE = "roambus, embedded radio"
GRADYS, CASTALIA, ADAPTER, NS3 = "GrADyS-SIM NG", "Castalia", "the adapter for ns-3", "ns-3"
DISK, RADIO, WIFI = "unit disk", "CC2420", "802.11b"


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
    before = cpu_now_s()
    deliveries = run(seconds)
    return Cost(cpu_now_s() - before, deliveries)


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


def _beacons_by_bridge(factory: CastaliaFactory | Ns3Factory, field: Field, seconds: int) -> float:
    ini = field.ini(seconds, field.place_lines())
    with tempfile.TemporaryDirectory() as folder:
        scenario = replace(parsed(ini), ns3=Ns3Settings("wifi"))
        _write_inputs(Path(folder), ini)
        return hosted(scenario, Beacon, factory.make(scenario, Beacon, Path(folder)))


def _write_inputs(folder: Path, ini: str) -> None:
    (folder / INI_FILE).write_text(ini, encoding="utf-8")
    shutil.copy(TEMPLATES / "CC2420.txt", folder)


def _native_beacons(field: Field, seconds: int) -> float:
    settings = field.settings(seconds) | {"deployment": ""}
    return run_beacons(settings, field.place_lines(), RATE_PER_S, PAYLOAD_BYTES)["Beacons", "received"]


def _gradys_beacons(field: Field, seconds: int) -> float:
    from benchmarks.peers.gradys import run  # noqa: PLC0415  # the only module that needs the package

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


# All of them


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
