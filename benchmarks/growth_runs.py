"""One run for `benchmarks.growth`, in a process of its own: what it took, and what happened in it.

The scenario is the thesis' (two publishers, as many brokers as subscribers, all by random waypoint at 8 m/s) on a
field that grows with the number of nodes, so that each has as much room as in C32.
"""

from __future__ import annotations

import dataclasses
import math
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import Step, Totals, Transmission
from roambus.bridge.backends.radio.backend import RadioBackend, RadioFactory
from roambus.bridge.backends.radio.mac import PoissonSources
from roambus.bridge.host.event_loop import Host
from roambus.bridge.ini import parse_scenario
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import Static
from roambus.bridge.trace.parquet import TraceWriter
from roambus.experiments.shipped import TEMPLATES
from roambus.experiments.templates.render import find_template, render
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.vocabulary import SimTime

NODES, SIDE_M, PUBLISHERS, SPEED_MPS = 66, 110, 2, 8
"""Of C32 at the speed of claim 3."""
RADIO, STATIC_RADIO = "radio", "radio-static"
"""In place of an agent's name: the radio alone, with traffic of its own; and the same where no node moves."""
RADIOS = (RADIO, STATIC_RADIO)
RATE_PER_S, PAYLOAD_BYTES = 1.0, 40
"""Of the radio's own traffic and of beacons, unless told otherwise."""
PARAMETERS = {"aodv": "profile=thesis"}


@dataclass(frozen=True, slots=True)
class Case:
    """A run to measure; `rate_per_s` is each publisher's notifications, or each node's packets or beacons."""

    agent: str
    nodes: int
    seconds: float
    rate_per_s: float = RATE_PER_S
    seed: int = 1

    @property
    def side_m(self) -> float:
        """The field's side that gives each node the room it has in C32."""
        return round(SIDE_M * math.sqrt(self.nodes / NODES), 1)


class Cost(NamedTuple):
    """Of a run. Times in s of CPU but for `wall`; `setup` is before the first event; memory in bytes; counts of it all.

    `steps` are calls of the back-end, `deliveries` frames received for the node, `trace_bytes` and `rows` those of a
    trace of level `app`; the radio alone has neither.
    """

    case: Case
    setup: float
    cpu: float
    wall: float
    writing: float
    peak_memory: int
    steps: int
    transmissions: int
    deliveries: int
    rows: int
    trace_bytes: int

    @property
    def per_second(self) -> float:
        """CPU seconds for a simulated second, set-up and writing left out."""
        return self.cpu / self.case.seconds


class CountingBackend(RadioBackend):
    """The embedded radio, which also counts its Steps."""

    steps = 0

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """See `RadioBackend`."""
        self.steps += 1
        return super().advance(transmissions, wake_up)


def measure_apart(case: Case) -> Cost:
    """The cost in a fresh process, so that its peak memory is its own; raises what the run raises."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(measure, case).result()


def scenario_of(case: Case) -> Scenario:
    """The scenario; raises UserError."""
    template = find_template("thesis")
    clients = case.nodes - PUBLISHERS
    variables: dict[str, Scalar] = {
        "seed": case.seed,
        "agent": _loaded(case.agent),
        "agent_parameters": PARAMETERS.get(case.agent, ""),
        "subscribers": clients // 2,
        "brokers": clients - clients // 2,
        "side": case.side_m,
        "speed": SPEED_MPS,
        "time_limit": case.seconds,
        "publish_until": case.seconds,
        "publish_interval": 1 / case.rate_per_s,
    }
    if case.agent == "beacon":
        variables["agent_parameters"] = f"rate={case.rate_per_s} payload={PAYLOAD_BYTES}"
    scenario = parse_scenario(render(template, variables), template, TEMPLATES)
    return _where_nothing_moves(scenario) if case.agent == STATIC_RADIO else scenario


def _where_nothing_moves(scenario: Scenario) -> Scenario:
    nodes = tuple(dataclasses.replace(node, mobility=Static()) for node in scenario.nodes)
    channel = dataclasses.replace(scenario.channel, only_static_nodes=True)
    return dataclasses.replace(scenario, nodes=nodes, channel=channel)


def _loaded(agent: str) -> str:
    """The agent of the scenario, which the radio alone has no use for."""
    return "beacon" if agent in RADIOS else agent


def measure(case: Case) -> Cost:
    """The cost in this process."""
    scenario = scenario_of(case)
    load_agent(_loaded(case.agent))  # a sweep loads its modules once, too
    RadioFactory().prepare(dataclasses.replace(scenario, nodes=scenario.nodes[:1], field_m=(1.0, 1.0)))
    return _measure_radio(case, scenario) if case.agent in RADIOS else _measure_agents(case, scenario)


def _measure_radio(case: Case, scenario: Scenario) -> Cost:
    started = time.process_time()
    backend = RadioBackend(scenario, PoissonSources(case.rate_per_s, PAYLOAD_BYTES))
    backend.open()
    ready, wall = time.process_time(), time.perf_counter()
    backend.advance((), None)
    cpu, wall = time.process_time() - ready, time.perf_counter() - wall
    totals = backend.close()
    return Cost(case, ready - started, cpu, wall, 0, _peak_memory(), 1, *_carried(totals), 0, 0)


def _measure_agents(case: Case, scenario: Scenario) -> Cost:
    started = time.process_time()
    backend, trace = CountingBackend(scenario), TraceWriter()
    host = Host(scenario, load_agent(case.agent), backend, trace)
    ready, wall = time.process_time(), time.perf_counter()
    totals = host.run()
    done, wall = time.process_time(), time.perf_counter() - wall
    rows, written = _write(trace)
    writing = time.process_time() - done
    counts = (backend.steps, *_carried(totals), rows, written)
    return Cost(case, ready - started, done - ready, wall, writing, _peak_memory(), *counts)


def _carried(totals: Totals) -> tuple[int, int]:
    return sum(totals.counts["transmitted"]), sum(totals.counts["received"])


def _write(trace: TraceWriter) -> tuple[int, int]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.parquet")
        trace.write(path, {})
        return int(pq.read_metadata(path).num_rows), path.stat().st_size


def _peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
