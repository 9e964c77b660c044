"""The conformance suite's cases: four nodes in mutual reach, and checks of the interface's promises.

`Conforming` wraps the back-end of a `Case` and asserts the promises of `roambus.bridge.backend` at each call: call
order, order within a step, that arrivals were sent, to the right nodes, at most once per transmission, and that totals
agree. So whole runs of agents test a back-end, too.

The nodes stand 5 m to 7.1 m apart without shadowing: on any radio they hear each other if undisturbed. The last boots
late.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from roambus.bridge.backend import Backend, Course, Delivery, Failure, Hello, Step, Totals, Transmission
from roambus.bridge.formats.ini import read_scenario
from roambus.bridge.runs.run import RunPlan, write_inputs
from roambus.bridge.scenario.definition import Scenario
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.templates.template import Template
from roambus.python_protocol.messages.fields import U16
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SECOND, SimTime, format_time

TEMPLATE = Template(Path(__file__).with_name("backend_case.ini.j2"))


@dataclass(frozen=True, slots=True)
class Case:
    """A run to make: `folder` holds the ini and its radio parameters file, `messages` are the agents'."""

    folder: Path
    scenario: Scenario
    messages: MessageSet


Factory = Callable[[Case], Backend]


def write_case(
    folder: Path,
    messages: MessageSet,
    *,
    agent: str = "",
    parameters: str = "",
    seed: int = 1,
    time_limit: SimTime = 4 * SECOND,
    processing_delay: SimTime = 0,
    mobility: str = "",
) -> Case:
    """Render the four nodes' ini into `folder`; by `mobility` the last node moves, and the field is larger."""
    values: dict[str, int | float | str | bool] = {
        "agent": agent,
        "agent_parameters": parameters,
        "seed": seed,
        "time_limit": format_time(time_limit),
        "processing_delay": format_time(processing_delay),
        "mobility": mobility,
    }
    plan = RunPlan(folder, Path(), TEMPLATE.render(values), TEMPLATES / "CC2420.txt", agent, seed)
    write_inputs(plan, folder)
    return Case(folder, read_scenario(folder / "run.ini"), messages)


class Marker(Message, tag=1):
    """A distinguishable message as long as a frame."""

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
    """Passes everything on to a back-end, and asserts the interface's promises at each call."""

    backend: Backend
    calls: list[str] = field(default_factory=list)
    heard: list[tuple[SimTime, Delivery]] = field(default_factory=list)
    failed: list[tuple[SimTime, Failure]] = field(default_factory=list)
    courses: list[Course] = field(default_factory=list)
    _hello: Hello = field(default_factory=lambda: Hello("", (), 0))
    _now: SimTime = 0
    _sent: Counter[Packet] = field(default_factory=Counter)
    _since: dict[Packet, SimTime] = field(default_factory=dict)
    _heard: Counter[tuple[NodeId, Packet]] = field(default_factory=Counter)

    def open(self) -> Hello:
        """Open the back-end; the host calls this first, and once."""
        assert self.calls == []
        self.calls.append("open")
        self._hello = hello = self.backend.open()
        return hello if hello.steer is None else replace(hello, steer=self._steer)

    def _steer(self, course: Course) -> None:
        """Keep a course of the host's, and pass it on."""
        self.courses.append(course)
        assert self._hello.steer is not None
        self._hello.steer(course)

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Check one step; none follows a result of None, and the first brings no transmissions."""
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
        """Close the back-end; the host calls this last, and once."""
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
