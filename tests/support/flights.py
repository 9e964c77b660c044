"""Flights of one node by commands of its agent, and the same flight as a movement file would give it.

Node 0 flies. Every node sends now and then, and notes what it hears, how strongly and where it believes to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import dist
from typing import Any, ClassVar, NamedTuple

from benchmarks.reference_scenarios import CC2420, MAC
from roambus.bridge.backend import Backend
from roambus.bridge.host.event_loop import Host
from roambus.bridge.mobility.given_way import GivenWay
from roambus.bridge.mobility.model import Mobility, WayPoint
from roambus.bridge.mobility.steered import Steered
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.scenario.radio import ChannelSettings
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.agent import Agent, on, on_timer
from roambus.python_protocol.events import Arrived, Received, Started
from roambus.python_protocol.messages.fields import U16
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

Row = dict[str, Any]
START = 10.0, 10.0
LASTING = 28 * SECOND
STATIONS = ((20.0, 10.0), (60.0, 12.0), (90.0, 80.0), (15.0, 70.0))
LAW = LogDistance(path_loss_exponent=3)
CHANNEL = ChannelSettings(only_static_nodes=False, x_cell_m=2.0, y_cell_m=2.0)


class Command(NamedTuple):
    """At a time, a go_to; without a place a halt."""

    at: SimTime
    place: tuple[float, float] | None = None
    speed: float = 10.0


class Word(Message, tag=1):
    number: U16


class Speaker(Agent):
    """Sends four times a second; notes what it hears."""

    needs_position = True
    messages = MessageSet([Word])

    @on(Started)
    def start(self, event: Started, now: SimTime) -> None:
        self.speak("speak", now)

    @on_timer("speak")
    def speak(self, key: str, now: SimTime) -> None:
        self.send(BROADCAST, Word(now // MILLISECOND % 60000), after=self.node * 7 * MILLISECOND)
        self.set_timer("speak", 250 * MILLISECOND)

    @on(Received)
    def hear(self, event: Received, now: SimTime) -> None:
        # A leg that a command cuts short has its velocity from another division than in a file.
        believed = [round(value, 9) for pair in (self.position, self.velocity) for value in pair or ()]
        self.note("hear", peer=event.sender, detail=f"{event.message} {event.rssi_dbm!r} {believed}")


class Flyer(Speaker):
    """The first nodes follow a script each, too; `arrived` are their arrivals."""

    scripts: ClassVar[Sequence[Sequence[Command]]] = ()
    arrived: ClassVar[list[tuple[SimTime, float, float]]] = []

    @on(Started)
    def start(self, event: Started, now: SimTime) -> None:
        super().start(event, now)
        for number, command in enumerate(self.scripts[self.node] if self.node < len(self.scripts) else ()):
            self.set_timer(number, command.at)

    @on_timer(int)
    def fly(self, number: int, now: SimTime) -> None:
        command = self.scripts[self.node][number]
        if command.place is None:
            self.halt()
        else:
            self.go_to(*command.place, speed=command.speed)

    @on(Arrived)
    def arrive(self, event: Arrived, now: SimTime) -> None:
        self.arrived.append((now, event.x, event.y))


def way_of(script: Sequence[Command], start: tuple[float, float] = START, delay: SimTime = 0) -> tuple[WayPoint, ...]:
    """The way-points of a script: a plain model of it, which knows nothing of the host."""
    way = [WayPoint(0.0, *start)]
    for command in script:
        at = (command.at + delay) / SECOND
        here, later = _where(way, at)
        if command.place is None and not later:
            continue  # it rests
        way = [point for point in way if point not in later]
        way.append(WayPoint(at, *here))
        if command.place is not None and command.place != here:
            lasting = round(dist(here, command.place) / command.speed * SECOND)
            way.append(WayPoint((command.at + delay + lasting) / SECOND, *command.place))
    return tuple(way)


def _where(way: Sequence[WayPoint], at: float) -> tuple[tuple[float, float], Sequence[WayPoint]]:
    """Where a node is, and its way-points from then on."""
    later = [point for point in way if point.time_s >= at]
    before = [point for point in way if point.time_s < at][-1:]
    if not later or not before:
        return (later or before)[0][1:], later
    (t0, x0, y0), (t1, x1, y1) = before[0], later[0]
    return (x0 + (x1 - x0) / (t1 - t0) * (at - t0), y0 + (y1 - y0) / (t1 - t0) * (at - t0)), later


def flying(mobility: Mobility, **changes: Any) -> Scenario:
    """Node 0 at START with this mobility, among stations in a field of 100 m by 100 m."""
    exact = NodeSettings(start_spread=0, clock_drift_sigma=0)
    stations = [replace(exact, position=place) for place in STATIONS]
    nodes = (replace(exact, position=START, mobility=mobility), *stations)
    scenario = Scenario(1, LASTING, (100.0, 100.0), CHANNEL, CC2420, MAC, nodes, propagation=LAW)
    return replace(scenario, **changes)


def rows_of(scenario: Scenario, agent: type[Agent], backend: Backend) -> list[Row]:
    """The trace of a run."""
    trace = TraceWriter()
    Host(scenario, agent, backend, trace).run()
    rows: list[Row] = trace.table().to_pylist()
    return rows


class Flight(NamedTuple):
    """The same flight by commands and by a file: scenarios and agents."""

    by_agent: tuple[Scenario, type[Agent]]
    by_file: tuple[Scenario, type[Agent]]


def flight(script: Sequence[Command], **changes: Any) -> Flight:
    """A flight by this script."""
    flyer = type("Flyer", (Flyer,), {"scripts": [script], "arrived": []})
    way = way_of(script, delay=changes.get("processing_delay", 0))
    return Flight((flying(Steered(), **changes), flyer), (flying(GivenWay(way), **changes), Speaker))


def flock(scripts: Sequence[Sequence[Command]], **changes: Any) -> Flight:
    """The flights of the first nodes of the field, each by its script."""
    scenario = flying(Steered(), **changes)
    flyers, rest = scenario.nodes[: len(scripts)], scenario.nodes[len(scripts) :]
    delay, pairs = scenario.processing_delay, zip(scripts, flyers, strict=True)
    ways = [GivenWay(way_of(script, node.position or START, delay)) for script, node in pairs]
    by_agent = (*(replace(node, mobility=Steered()) for node in flyers), *rest)
    by_file = (*(replace(node, mobility=way) for node, way in zip(flyers, ways, strict=True)), *rest)
    flyer = type("Flyer", (Flyer,), {"scripts": scripts, "arrived": []})
    return Flight((replace(scenario, nodes=by_agent), flyer), (replace(scenario, nodes=by_file), Speaker))
