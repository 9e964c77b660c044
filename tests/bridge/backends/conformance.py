"""What every back-end promises, whoever carries its messages: the back-ends under test, and the promises.

A further back-end is one more entry of SUBJECTS.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from types import ModuleType

import pytest

from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.endpoint import Transport
from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.backends.castalia.simulators import StartedSimulator
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.interface import Backend, Delivery, Failure, Hello, Step, Totals, Transmission
from roambus.bridge.backends.ns3 import SETTINGS_FILE, settings_text, ways_of
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.ini import read_scenario
from roambus.bridge.runs.identity import RunPlan
from roambus.bridge.runs.run import write_inputs
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.radio import Ns3Settings
from roambus.experiments.shipped import TEMPLATES
from roambus.experiments.templates.render import render
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.messages.fields import U16
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.vocabulary import BROADCAST, SECOND, NodeId, SimTime, format_time
from tests.support.omnet import castalia, ns3, stand_in

DEADLINE_S = 20
ROOT = Path(__file__).parents[3]
TEMPLATE = Path(__file__).with_name("conformance.ini.j2")


@dataclass(frozen=True, slots=True)
class Case:
    """A run to be: `folder` holds the rendered ini and its radio parameters file, `messages` are the agents'."""

    folder: Path
    scenario: Scenario
    messages: MessageSet


Factory = Callable[[Case], Backend]


def make_given_graph(case: Case) -> Backend:
    """Ideal links between all nodes."""
    links = tuple(combinations(range(len(case.scenario.nodes)), 2))
    return make_ideal(replace(case.scenario, ideal=IdealLinks(links=links)))


def make_unit_disk(case: Case) -> Backend:
    """Ideal links between nodes in range of each other, as all are."""
    return make_ideal(case.scenario)


def make_radio(case: Case) -> Backend:
    """The embedded radio."""
    return RadioBackend(case.scenario)


def make_stand_in(case: Case, *, batching: bool = True, transport: Transport = "zeromq") -> Backend:
    """The scripted simulator, over the real wire."""
    scenario = case.scenario
    nodes = len(scenario.nodes)
    lines = [
        f"nodes {nodes}",
        f"seed {scenario.seed}",
        f"time_limit {scenario.time_limit}",
        f"processing_delay {scenario.processing_delay}",
        *(f"link {a} {b}" for a, b in combinations(range(nodes), 2)),
    ]
    (case.folder / "links").write_text("\n".join(lines) + "\n")
    program = Program((str(stand_in()), "links"))
    simulator = StartedSimulator(case.folder, program, DEADLINE_S, transport=transport)
    return CastaliaBackend(scenario, case.messages, simulator, batching=batching)


def make_castalia(case: Case, *, batching: bool = True, transport: Transport = "zeromq") -> Backend:
    """Real Castalia."""
    simulator = StartedSimulator(case.folder, castalia(), DEADLINE_S, transport=transport)
    return CastaliaBackend(case.scenario, case.messages, simulator, batching=batching)


def make_ns3(case: Case, *, stack: str = "lr-wpan", batching: bool = True, transport: Transport = "zeromq") -> Backend:
    """Real ns-3."""
    scenario = replace(case.scenario, ns3=Ns3Settings(stack))
    program = replace(ns3(), files={SETTINGS_FILE: settings_text(scenario)})
    simulator = StartedSimulator(case.folder, program, DEADLINE_S, ways_of(scenario), transport)
    return CastaliaBackend(scenario, case.messages, simulator, batching=batching)


@cache
def documented() -> ModuleType:
    """The back-end that docs/backends.md has as its example."""
    (source,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "backends.md").read_text(), re.DOTALL)
    module = ModuleType("bus")
    sys.modules[module.__name__] = module  # a dataclass looks for its own module
    exec(compile(source, "docs/backends.md", "exec"), module.__dict__)  # noqa: S102  # our own page
    return module


def make_documented(case: Case) -> Backend:
    """The bus of the documentation."""
    backend: Backend = documented().BusFactory().make(case.scenario, Agent, case.folder)
    return backend


SUBJECTS = [
    pytest.param(make_given_graph, id="ideal"),
    pytest.param(make_unit_disk, id="ideal-disk"),
    pytest.param(make_radio, id="radio"),
    pytest.param(make_documented, id="documented"),
    pytest.param(make_stand_in, id="stand-in"),
    pytest.param(partial(make_stand_in, batching=False), id="stand-in-unbatched"),
    pytest.param(partial(make_stand_in, transport="local"), id="stand-in-local"),
    pytest.param(make_castalia, id="castalia", marks=pytest.mark.castalia),
    pytest.param(partial(make_castalia, batching=False), id="castalia-unbatched", marks=pytest.mark.castalia),
    pytest.param(partial(make_castalia, transport="local"), id="castalia-local", marks=pytest.mark.castalia),
    pytest.param(make_ns3, id="ns3", marks=pytest.mark.ns3),
    pytest.param(partial(make_ns3, batching=False), id="ns3-unbatched", marks=pytest.mark.ns3),
    pytest.param(partial(make_ns3, stack="wifi", transport="local"), id="ns3-wifi-local", marks=pytest.mark.ns3),
]


def write_case(
    folder: Path,
    messages: MessageSet,
    *,
    agent: str = "",
    parameters: str = "",
    seed: int = 1,
    time_limit: SimTime = 4 * SECOND,
    processing_delay: SimTime = 0,
) -> Case:
    """Renders the ini of the four nodes into `folder`."""
    values: dict[str, int | float | str | bool] = {
        "agent": agent,
        "agent_parameters": parameters,
        "seed": seed,
        "time_limit": format_time(time_limit),
        "processing_delay": format_time(processing_delay),
    }
    plan = RunPlan(folder, Path(), render(TEMPLATE, values), TEMPLATES / "CC2420.txt", agent, seed)
    write_inputs(plan, folder)
    return Case(folder, read_scenario(folder / "run.ini"), messages)


class Marker(Message, tag=1):
    """A message that can be told from others, as long as a frame is."""

    number: U16
    rest: bytes = bytes(19)

    def __repr__(self) -> str:
        return f"Marker(number={self.number})"


MARKERS = MessageSet([Marker])


def send(node: NodeId, number: int, at: SimTime, destination: NodeId = BROADCAST) -> Transmission:
    """`node` hands a marker to its MAC."""
    message = Marker(number)
    return Transmission(node, at, destination, message, len(message.encode()))


Packet = tuple[NodeId, NodeId, Message]
"""Sender, destination, message."""


@dataclass(slots=True)
class Conforming:
    """Passes everything on to a back-end, and asserts what the interface promises about each call."""

    backend: Backend
    calls: list[str] = field(default_factory=list)
    heard: list[tuple[SimTime, Delivery]] = field(default_factory=list)
    failed: list[tuple[SimTime, Failure]] = field(default_factory=list)
    _hello: Hello = field(default_factory=lambda: Hello("", (), 0))
    _now: SimTime = 0
    _sent: Counter[Packet] = field(default_factory=Counter)
    _since: dict[Packet, SimTime] = field(default_factory=dict)
    _heard: Counter[tuple[NodeId, Packet]] = field(default_factory=Counter)

    def open(self) -> Hello:
        """First, and once."""
        assert self.calls == []
        self.calls.append("open")
        self._hello = self.backend.open()
        return self._hello

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Between the others; the first brings no transmissions, none follows the one that gives None."""
        assert self.calls[0] == "open"
        assert not {"end", "close"} & {*self.calls}
        assert self.calls != ["open"] or not transmissions
        self._keep(transmissions)
        step = self.backend.advance(transmissions, wake_up)
        self.calls.append("step" if step else "end")
        if step is not None:
            self._check_step(step, wake_up)
        return step

    def fail(self, error: BaseException) -> None:
        """At most once, before the end."""
        assert not {"fail", "close"} & {*self.calls}
        self.calls.append("fail")
        self.backend.fail(error)

    def close(self) -> Totals:
        """Last, and once."""
        assert "close" not in self.calls
        self.calls.append("close")
        totals = self.backend.close()
        if self.calls[0] == "open":
            self._check_totals(totals)
        return totals

    def _keep(self, transmissions: Sequence[Transmission]) -> None:
        for node, at, destination, message, size in transmissions:
            assert size == len(message.encode())
            self._sent[node, destination, message] += 1
            self._since.setdefault((node, destination, message), at)

    def _check_step(self, step: Step, wake_up: SimTime | None) -> None:
        assert self._now <= step.now < self._hello.time_limit
        assert wake_up is None or step.now <= wake_up
        assert step.deliveries or step.failures or step.now == wake_up
        assert list(step.deliveries) == sorted(step.deliveries, key=lambda delivery: delivery.receiver)
        self._now = step.now
        for delivery in step.deliveries:
            self._check_delivery(delivery)
        for node, destination, message, reason in step.failures:
            assert self._since[node, destination, message] <= step.now
            assert reason
        self.heard += [(step.now, delivery) for delivery in step.deliveries]
        self.failed += [(step.now, failure) for failure in step.failures]

    def _check_delivery(self, delivery: Delivery) -> None:
        receiver, sender, message, rssi_dbm, lqi_db = delivery
        assert receiver in range(len(self._hello.nodes))
        assert receiver != sender
        assert self._now >= self._hello.nodes[receiver].start
        assert -100 < rssi_dbm < 30
        assert -100 < lqi_db < 130
        packets = [(sender, BROADCAST, message), (sender, receiver, message)]
        assert any(self._since.get(packet, self._hello.time_limit) <= self._now for packet in packets)
        self._heard[receiver, packets[0]] += 1
        assert self._heard[receiver, packets[0]] <= sum(self._sent[packet] for packet in packets)

    def _check_totals(self, totals: Totals) -> None:
        nodes, limit = len(self._hello.nodes), self._hello.time_limit
        assert all(len(counts) == nodes and min(counts) >= 0 for counts in totals.counts.values())
        assert len(totals.energy_mj) in (0, nodes)
        assert all(0 <= move.time <= limit and 0 <= move.node < nodes for move in totals.moves)
        assert [move.time for move in totals.moves] == sorted(move.time for move in totals.moves)
        heard = Counter(delivery.receiver for _, delivery in self.heard)
        assert list(totals.counts.get("received", [heard[node] for node in range(nodes)])) == [
            heard[node] for node in range(nodes)
        ]
