"""Routing protocols of ns-3 beside ours: the same places, the same movement file, the same flows.

python -m benchmarks.ns3_routing [--protocols aodv,dsdv,olsr,dsr] [--only SCENARIO] [--param NAME=VALUE] [--csv]

ns-3 is found as by the back-end (`pip install --no-deps ns3`, or NS3_ROOT), and ns3_worker.cc is compiled. Printed
are means over a few seeds: delivery, hops, messages as nodes send them, routing packets and their bytes above IP and
UDP, and the processor time of the simulation itself. `extensions/ns3/results/ns3-agreement.md` explains differences.

Over a unit disk ours has ideal links, and ns-3 IEEE 802.11b at 1 Mbit/s with a range. Over the mean path loss of the
CC2420 ours has the embedded radio without shadowing, and ns-3 the same 802.11b at 0 dBm. AODV has the RFC's constants
on both sides; the others have their defaults. By the bridge ours runs, with its link layer, over ns-3's Wi-Fi.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from roambus.bridge.backend import Backend
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.mobility.paths import path
from roambus.bridge.mobility.random_waypoint import RandomWaypoint
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.radio import Ns3Settings
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace import schema
from roambus.bridge.trace.parquet import TraceWriter
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.measurements import markdown_table
from roambus.experiments.templates.template import Template
from roambus.extensions.ns3.backend import Ns3Factory, find_adapter, find_ns3
from roambus.extensions.routing.dsdv import Dsdv
from roambus.extensions.routing.dsr import Dsr
from roambus.extensions.routing.olsr import Olsr
from roambus.python_protocol.aodv import Aodv
from roambus.python_protocol.parts.unicast import Router
from roambus.python_protocol.simtime import SECOND

TEMPLATE = Template(Path(__file__).with_name("ns3_field.ini.j2"))
WORKER = Path(__file__).with_name("ns3_worker.cc")
LIBRARIES = (
    "aodv",
    "dsdv",
    "dsr",
    "olsr",
    "applications",
    "internet",
    "wifi",
    "mobility",
    "propagation",
    "network",
    "core",
)
AODV, PROTOCOLS = "aodv", dict[str, type[Router]](aodv=Aodv, dsdv=Dsdv, olsr=Olsr, dsr=Dsr)
OURS = {AODV: "ttl_start=1 gratuitous_rrep=true hello_always=on"}
"""Settings by which both use the same constants: ours as ns-3 starts its rings and answers."""
START_S, REST_S = 2, 20
DATA = ("PACKET", "ACK")
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
    pause_s: int = 0
    start_s: int = START_S
    """When packets begin; tables need some time."""

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.places) or self.nodes

    @property
    def seconds(self) -> int:
        """How long a run is: some time is left for what is under way."""
        return self.start_s + self.packets + REST_S

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
    routing_bytes: float
    seconds: float

    @property
    def routing(self) -> float:
        """Packets that carry no data, wherever they are sent."""
        return sum(count for kind, count in self.sent.items() if kind not in DATA)


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
    *(
        Case(f"18 nodes, {speed} m/s, pause {pause} s", 110, 2, 2, 40, None, (), 18, speed, pause, start_s=20)
        for speed, pause in ((1, 0), (4, 0), (8, 0), (8, 10), (8, 30))
    ),
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
    return path(
        RandomWaypoint(case.speed, case.pause_s * SECOND),
        (float(x), float(y)),
        field,
        case.seconds * SECOND,
        chance.spawn(1)[0],
    )


def scenario_of(case: Case, seed: int, folder: Path, protocol: str = AODV, more: str = "") -> Scenario:
    """The scenario as our back-ends read it; its movement file is written into the folder."""
    (folder / "movements").write_text(movements(case, seed), encoding="utf-8")
    return parse_scenario(
        ini_of(case, seed, protocol, more), TEMPLATE.file, TEMPLATES, {"movements": folder / "movements"}
    )


def ini_of(case: Case, seed: int, protocol: str = AODV, more: str = "") -> str:
    """The ini of a run, which names its movement file; `more` are parameters of ours."""
    variables: dict[str, int | float | str | bool] = {
        "seed": seed,
        "agent": protocol,
        "agent_parameters": f"{OURS.get(protocol, '')} {more}".strip(),
        "seconds": case.seconds,
        "side": case.side,
        "nodes": case.size,
        "range": case.range_m or 0,
        "sources": case.sources,
        "destinations": case.destinations,
        "start": case.start_s,
        "packets": case.packets,
        "sigma": 0,
        "bidirectional_sigma": 0,
    }
    return TEMPLATE.render(variables)


# The simulators


def run_ours(case: Case, seed: int, protocol: str = AODV, more: str = "") -> Result:
    """Our protocol over ideal links, or over the embedded radio."""
    with tempfile.TemporaryDirectory() as name:
        scenario = scenario_of(case, seed, Path(name), protocol, more)
    return hosted(case, scenario, make_ideal(scenario) if case.range_m else RadioBackend(scenario), protocol)


def run_over_ns3(case: Case, seed: int, protocol: str = AODV, more: str = "") -> Result:
    """Our protocol over the Wi-Fi of ns-3, which reports no lost frame to it; raises UserError, BackendError."""
    with tempfile.TemporaryDirectory() as name:
        scenario = replace(scenario_of(case, seed, Path(name), protocol, more), ns3=Ns3Settings("wifi"))
        return hosted(case, scenario, Ns3Factory().make(scenario, PROTOCOLS[protocol], Path(name)), protocol)


def hosted(case: Case, scenario: Scenario, backend: Backend, protocol: str = AODV) -> Result:
    """Our protocol over this back-end; its time includes that of processes that the back-end starts."""
    trace, start = TraceWriter(), _cpu_now()
    Host(scenario, PROTOCOLS[protocol], backend, trace).run()
    seconds = _cpu_now() - start
    rows = trace.table().to_pylist()
    hops = [row[schema.HOPS] for row in rows if row[schema.EVENT] == schema.DELIVER]
    sends = [row for row in rows if row[schema.EVENT] == schema.SEND]
    sent = Counter(row[schema.MESSAGE_TYPE] for row in sends)
    size = sum(row[schema.BYTES] for row in sends if row[schema.MESSAGE_TYPE] not in DATA)
    found = {"delivered": len(hops), "hops": sum(hops), "sent": dict(sent), "routing_bytes": size, "seconds": seconds}
    return _result(case, found)


def _cpu_now() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def run_ns3(cases: Sequence[Case], seeds: int, worker: Path, protocol: str = AODV) -> dict[str, list[Result]]:
    """The protocol of ns-3: results in order of seeds, by names of cases. Raises UserError."""
    with tempfile.TemporaryDirectory() as name:
        asked = [(case, seed) for case in cases for seed in range(seeds)]
        found = _started([str(worker)], "".join(_worker_line(case, seed, Path(name), protocol) for case, seed in asked))
    results: dict[str, list[Result]] = {case.name: [] for case in cases}
    for (case, _), reply in zip(asked, found, strict=True):
        results[case.name].append(_result(case, json.loads(reply)))
    return results


def _worker_line(case: Case, seed: int, folder: Path, protocol: str) -> str:
    """A line that ns3_worker.cc reads."""
    file = folder / f"{CASES.index(case) if case in CASES else 'case'}-{seed}"
    file.write_text(movements(case, seed), encoding="utf-8")
    numbers = (seed, case.size, case.seconds, case.range_m or 0, file, case.packets, case.start_s, BYTES)
    words = (protocol, *numbers, len(case.flows), *(end for flow in case.flows for end in flow))
    return " ".join(map(str, words)) + "\n"


def _started(command: Sequence[str], text: str = "") -> list[str]:
    """Run a program; return the lines that it prints. Raises UserError with its last words."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["without a word"])[-1]
        raise UserError(f"{Path(command[0]).name} failed with exit code {done.returncode}: {last}")
    return done.stdout.splitlines()


def build_worker(folder: Path) -> Path:
    """Compile ns3_worker.cc; raises UserError without ns-3, or if that fails."""
    root, program = find_ns3(), folder / "ns3_worker"
    libraries = [str(file) for part in LIBRARIES for file in (root / "lib64").glob(f"libns3*-{part}.so")]
    paths = [f"-Wl,{option},{root / 'lib64'}" for option in ("-rpath", "-rpath-link")]
    source = ["-std=c++20", "-O1", "-isystem", str(root / "include"), "-o", str(program), str(WORKER)]
    _started(["g++", *source, *libraries, *paths, "-Wl,--allow-shlib-undefined"])
    return program


def _result(case: Case, found: Mapping[str, Any]) -> Result:
    delivered = found["delivered"]
    return Result(
        delivered / (case.packets * len(case.flows)),
        found["hops"] / delivered if delivered else math.nan,
        found["sent"],
        found["routing_bytes"],
        found["seconds"],
    )


# The table

_TYPES = ("RREQ", "RREP", "RERR", "HELLO", "PACKET")
Run = Callable[[Case, int, str], Result]
OVER_NS3 = "roambus over ns-3"
_HEAD = ("scenario", "protocol", "simulator", "delivered", "hops", *_TYPES, "routing", "routing bytes", "CPU (s)")


def rows_of(
    cases: Sequence[Case], protocol: str, seeds: int, worker: Path | None, ours: Mapping[str, Run]
) -> Iterator[tuple[str, ...]]:
    """A row for each scenario and simulator: means over the seeds. `ours` are ways to run our protocol, by name."""
    theirs = {} if worker is None else run_ns3(cases, seeds, worker, protocol)
    for case in cases:
        for name, run in ours.items():
            if name != OVER_NS3 or not case.range_m:  # ns-3's channel here knows no disk
                yield (case.name, protocol, name, *_cells([run(case, seed, protocol) for seed in range(seeds)]))
        if case.name in theirs:
            yield (case.name, protocol, "ns-3", *_cells(theirs[case.name]))


def _cells(found: Sequence[Result]) -> Iterator[str]:
    yield f"{statistics.mean(run.delivered for run in found):.3f}"
    yield f"{statistics.mean(run.hops for run in found):.2f}"
    for kind in _TYPES:
        yield f"{statistics.mean(run.sent.get(kind, 0) for run in found):,.0f}"
    yield f"{statistics.mean(run.routing for run in found):,.0f}"
    yield f"{statistics.mean(run.routing_bytes for run in found):,.0f}"
    yield f"{statistics.mean(run.seconds for run in found):.2f}"


def _unless_missing(simulator: str, find: Callable[[], Path]) -> Path | None:
    try:
        return find()
    except UserError as error:
        print(f"{simulator} is left out: {error}", file=sys.stderr)
        return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; see the head of this file."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ns3_routing", description="routing protocols of ns-3 beside ours"
    )
    parser.add_argument("--protocols", default=AODV, help=f"some of {','.join(PROTOCOLS)}")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="scenarios whose names begin so")
    parser.add_argument("--param", default="", help="parameters of ours, such as 'link_feedback=false'")
    parser.add_argument("--csv", action="store_true", help="print the table as CSV")
    asked = parser.parse_args(arguments)
    cases = [case for case in CASES if case.name.startswith(asked.only)]
    protocols = [name for name in PROTOCOLS if name in asked.protocols.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        worker = _unless_missing("ns-3", lambda: build_worker(Path(folder)))
        ours: dict[str, Run] = {"roambus": partial(run_ours, more=asked.param)}
        if _unless_missing(OVER_NS3, find_adapter) is not None:
            ours[OVER_NS3] = partial(run_over_ns3, more=asked.param)
        rows = (row for name in protocols for row in rows_of(cases, name, asked.seeds, worker, ours))
        if asked.csv:
            csv.writer(sys.stdout, lineterminator="\n").writerows(chain([_HEAD], rows))
        else:
            print(markdown_table(_HEAD, list(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
