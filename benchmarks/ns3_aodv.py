"""AODV of ns-3 beside ours: the same places, the same movement file, the same flows, the RFC's constants on both sides.

python -m benchmarks.ns3_aodv --ns3-python PATH

PATH is a Python that has the package ns3 (`pip install ns3`, some minutes; it is a simulator of its own, so it is best
in an environment of its own). Without the option this very Python is tried. Each scenario is run with a few seeds, and
means are printed: delivery, hops, RREQs, RREPs and RERRs as they are sent, hellos, and the processor time of the
simulation itself, which other programs on the machine hardly change. `docs/results/ns3.md` explains what differs.

Over a unit disk ours has ideal links, and ns-3 IEEE 802.11b at 1 Mbit/s with a range. Over the mean path loss of the
CC2420 ours has the embedded radio without shadowing, and ns-3 the same 802.11b at 0 dBm.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from roambus.bridge.backend import Backend
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.ns3 import Ns3Factory, find_adapter
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.errors import UserError
from roambus.bridge.host.event_loop import Host
from roambus.bridge.ini import parse_scenario
from roambus.bridge.mobility import path
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import RandomWaypoint
from roambus.bridge.scenario.radio import Ns3Settings
from roambus.bridge.trace import schema
from roambus.bridge.trace.parquet import TraceWriter
from roambus.experiments.measurements import markdown_table
from roambus.experiments.shipped import TEMPLATES
from roambus.experiments.templates.render import render
from roambus.python_protocol.aodv import Aodv
from roambus.python_protocol.vocabulary import SECOND

TEMPLATE, WORKER = Path(__file__).with_name("ns3_field.ini.j2"), Path(__file__).with_name("ns3_worker.py")
OURS = "ttl_start=1 gratuitous_rrep=true hello_always=on"
NS3: dict[str, bool | int] = {"EnableHello": True}
"""Settings by which both use the same constants: ours as ns-3 starts its rings and answers, ns-3 as it is."""
START_S, REST_S = 2, 20
BYTES = 52
"""Of a packet above UDP: what a PACKET of ours has."""
Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario: the first nodes send to each of the next ones, a packet a second."""

    name: str
    side: float
    sources: int
    destinations: int
    packets: int
    range_m: float | None
    places: tuple[Place, ...] = ()
    nodes: int = 0
    speed: float = 0

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.places) or self.nodes

    @property
    def seconds(self) -> int:
        """How long a run is: some time is left for what is under way."""
        return START_S + self.packets + REST_S

    @property
    def flows(self) -> list[tuple[int, int]]:
        """Source and destination of each."""
        sinks = range(self.sources, self.sources + self.destinations)
        return [(source, sink) for source in range(self.sources) for sink in sinks]


class Result(NamedTuple):
    """The results of a run, or the means of several."""

    delivered: float
    hops: float
    sent: dict[str, float]
    seconds: float


def _grid(columns: int, rows: int, spacing: float) -> tuple[Place, ...]:
    """The first place is a corner, the second the one across."""
    places = [(column * spacing, row * spacing) for row in range(rows) for column in range(columns)]
    return (places[0], places[-1], *places[1:-1])


CASES = (
    Case("line of 5", 40, 1, 1, 60, 12, _grid(5, 1, 10)),
    Case("grid of 4 x 4", 30, 1, 1, 60, 12, _grid(4, 4, 10)),
    Case("C8, 8 m/s, unit disk of 25 m", 60, 2, 8, 60, 25, nodes=18, speed=8),
    Case("C8, 8 m/s, mean path loss", 60, 2, 8, 60, None, nodes=18, speed=8),
    Case("C16, 8 m/s, mean path loss", 80, 2, 16, 60, None, nodes=34, speed=8),
    Case("C32, 8 m/s, mean path loss", 110, 2, 32, 60, None, nodes=66, speed=8),
)


# The scenario


def movements(case: Case, seed: int) -> str:
    """A file of ns-2's setdest: where nodes are at first, and where they go."""
    lines = []
    for node in range(case.size):
        points = _points(case, seed, node)
        lines += [f"$node_({node}) set {axis}_ {at:.3f}" for axis, at in zip("XY", points[0][1:], strict=True)]
        lines.append(f"$node_({node}) set Z_ 0.0")
        for here, there in pairwise(points):
            lines.append(
                f'$ns_ at {here[0]:.6f} "$node_({node}) setdest {there[1]:.3f} {there[2]:.3f} {case.speed:.3f}"'
            )
    return "\n".join(lines) + "\n"


def _points(case: Case, seed: int, node: int) -> Sequence[tuple[float, float, float]]:
    if not case.speed:
        return [(0.0, *case.places[node])]
    chance = np.random.SeedSequence([seed, node])
    x, y = np.random.default_rng(chance).uniform(0, case.side, 2)
    field = case.side, case.side
    return path(RandomWaypoint(case.speed), (float(x), float(y)), field, case.seconds * SECOND, chance.spawn(1)[0])


def scenario_of(case: Case, seed: int, folder: Path) -> Scenario:
    """The scenario as our back-ends read it; its movement file is written into the folder."""
    (folder / "movements").write_text(movements(case, seed), encoding="utf-8")
    return parse_scenario(ini_of(case, seed), TEMPLATE, TEMPLATES, {"movements": folder / "movements"})


def ini_of(case: Case, seed: int) -> str:
    """The ini of a run, which names its movement file."""
    variables: dict[str, int | float | str | bool] = {
        "seed": seed,
        "agent": "aodv",
        "agent_parameters": OURS,
        "seconds": case.seconds,
        "side": case.side,
        "nodes": case.size,
        "range": case.range_m or 0,
        "sources": case.sources,
        "destinations": case.destinations,
        "start": START_S,
        "packets": case.packets,
        "sigma": 0,
        "bidirectional_sigma": 0,
    }
    return render(TEMPLATE, variables)


# The simulators


def run_ours(case: Case, seed: int) -> Result:
    """Our AODV over ideal links, or over the embedded radio."""
    with tempfile.TemporaryDirectory() as name:
        scenario = scenario_of(case, seed, Path(name))
    return hosted(case, scenario, make_ideal(scenario) if case.range_m else RadioBackend(scenario))


def run_over_ns3(case: Case, seed: int) -> Result:
    """Our AODV over the Wi-Fi of ns-3, by the bridge; raises UserError, BackendError."""
    with tempfile.TemporaryDirectory() as name:
        scenario = replace(scenario_of(case, seed, Path(name)), ns3=Ns3Settings("wifi"))
        return hosted(case, scenario, Ns3Factory().make(scenario, Aodv, Path(name)))


def hosted(case: Case, scenario: Scenario, backend: Backend) -> Result:
    """Our AODV over this back-end; its time includes that of processes that the back-end starts."""
    trace, start = TraceWriter(), _cpu_now()
    Host(scenario, Aodv, backend, trace).run()
    seconds = _cpu_now() - start
    rows = trace.table().to_pylist()
    delivered = [row for row in rows if row[schema.EVENT] == schema.DELIVER]
    sent = Counter(row[schema.MESSAGE_TYPE] for row in rows if row[schema.EVENT] == schema.SEND)
    return _result(case, len(delivered), sum(row[schema.HOPS] for row in delivered), dict(sent), seconds)


def _cpu_now() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def run_ns3(cases: Sequence[Case], seeds: int, python: str) -> dict[str, list[Result]]:
    """AODV of ns-3, in a process of its own: a result for each seed, by the names of the cases. Raises UserError."""
    with tempfile.TemporaryDirectory() as name:
        asked = [(case, seed) for case in cases for seed in range(seeds)]
        told = [_told(case, seed, Path(name)) for case, seed in asked]
        found = _started([python, str(WORKER)], json.dumps(told))
    results: dict[str, list[Result]] = {case.name: [] for case in cases}
    for (case, _), one in zip(asked, found, strict=True):
        results[case.name].append(_result(case, one["delivered"], one["hops"], one["sent"], one["seconds"]))
    return results


def _told(case: Case, seed: int, folder: Path) -> dict[str, Any]:
    file = folder / f"{CASES.index(case)}-{seed}"
    file.write_text(movements(case, seed), encoding="utf-8")
    return {
        "seed": seed,
        "nodes": case.size,
        "seconds": case.seconds,
        "range": case.range_m or 0,
        "movements": str(file),
        "flows": case.flows,
        "packets": case.packets,
        "start": START_S,
        "bytes": BYTES,
        "aodv": NS3,
    }


def _started(command: Sequence[str], told: str) -> list[dict[str, Any]]:
    done = subprocess.run(command, input=told, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["without a word"])[-1]
        raise UserError(f"ns-3 failed with exit code {done.returncode}: {last}")
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _result(case: Case, delivered: int, hops: int, sent: dict[str, float], seconds: float) -> Result:
    return Result(
        delivered / (case.packets * len(case.flows)), hops / delivered if delivered else math.nan, sent, seconds
    )


def has_ns3(python: str) -> bool:
    """Whether that Python has the package; nothing of it is loaded."""
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('ns') is None)"
    try:
        return subprocess.run([python, "-c", look], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


# The table

_TYPES = ("RREQ", "RREP", "RERR", "HELLO", "PACKET")
_HEAD = ("scenario", "simulator", "delivered", "hops", *_TYPES, "CPU (s)")


def rows_of(cases: Sequence[Case], seeds: int, python: str | None, *, bridged: bool) -> Iterator[tuple[str, ...]]:
    """A row for each scenario and simulator: means over the seeds. If `bridged`, our AODV over ns-3 is one of them."""
    theirs = {} if python is None else run_ns3(cases, seeds, python)
    for case in cases:
        yield (case.name, "roambus", *_cells([run_ours(case, seed) for seed in range(seeds)]))
        if bridged and not case.range_m:  # ns-3's channel here knows no disk
            yield (case.name, "roambus over ns-3", *_cells([run_over_ns3(case, seed) for seed in range(seeds)]))
        if case.name in theirs:
            yield (case.name, "ns-3", *_cells(theirs[case.name]))


def _cells(found: Sequence[Result]) -> Iterator[str]:
    yield f"{statistics.mean(one.delivered for one in found):.3f}"
    yield f"{statistics.mean(one.hops for one in found):.2f}"
    for kind in _TYPES:
        yield f"{statistics.mean(one.sent.get(kind, 0) for one in found):,.0f}"
    yield f"{statistics.mean(one.seconds for one in found):.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; see the head of this file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ns3_aodv", description="AODV of ns-3 beside ours")
    parser.add_argument("--ns3-python", default=sys.executable, help="a Python that has the package ns3")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="scenarios whose names begin so")
    asked = parser.parse_args(arguments)
    cases = [case for case in CASES if case.name.startswith(asked.only)]
    python = asked.ns3_python if has_ns3(asked.ns3_python) else None
    if python is None:
        print(f"ns-3 is left out: {asked.ns3_python} has no package ns3 (pip install ns3)", file=sys.stderr)
    bridged = True
    try:
        find_adapter()
    except UserError as error:
        bridged = False
        print(f"roambus over ns-3 is left out: {error}", file=sys.stderr)
    print(markdown_table(_HEAD, list(rows_of(cases, asked.seeds, python, bridged=bridged))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
