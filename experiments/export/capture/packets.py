"""Reads what nodes sent and received from the record of a run, and writes it as a capture.

The record holds the bytes of every message that agents handed over, and of every one that arrived. So no agent is run,
and none has to be installed. Each node is an interface of the capture: what it hands to its network stack is an
outbound packet, and what its radio hands to it an inbound one. A node that is down hears nothing, as in the trace.
"""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import NamedTuple

from roambus.bridge.errors import UserError
from roambus.bridge.record.record_file import Record
from roambus.bridge.record.rerun import scenario_of
from roambus.bridge.scenario.happenings import Fault, FaultKind
from roambus.bridge.scenario.scenario import Scenario
from roambus.bridge.wire.wire_pb2 import Arrival, Hello, Send, ToSimulator
from roambus.experiments.export.capture import pcapng
from roambus.experiments.export.capture.frames import agent_name, frame, pan_of, tapped
from roambus.python_protocol.roles import BROADCAST, NodeId, format_roles
from roambus.python_protocol.simtime import SimTime

REMEMBERED = 4096
"""So many of the last frames are known by what they hold: an arrival does not say for whom the frame was."""
STRONGEST_DBM = 1000.0
"""No power on either side of zero is further from it."""
WITHOUT_RADIO = "ideal"
"""What the ideal back-end calls itself: nothing is measured there."""


class Packet(NamedTuple):
    """What `node` sent or received at `time`; `rssi_dbm` is None for what it sent, and where links are ideal."""

    time: SimTime
    node: NodeId
    is_sent: bool
    sender: NodeId
    destination: NodeId
    sequence: int
    message: bytes
    rssi_dbm: float | None = None


def capture(record: Record, node: NodeId | None = None) -> Iterator[bytes]:
    """The blocks of the capture of a recorded run, or of what one node sent and received; raises UserError."""
    scenario = scenario_of(record)
    name = agent_name(record.header.agent)
    nodes = range(len(scenario.nodes)) if node is None else [node]
    pan = pan_of(name)
    yield pcapng.section(f"roambus {version('roambus')}", f"agent {record.header.agent}, seed {scenario.seed}")
    yield from (pcapng.interface(f"node{one}", format_roles(scenario.nodes[one].roles)) for one in nodes)
    for one in packets(record, scenario):
        if one.node in nodes:
            data = frame(pan, one.sequence, one.sender, one.destination, one.message)
            yield pcapng.packet(nodes.index(one.node), one.time, tapped(data, one.rssi_dbm), _flags(one))


def _flags(one: Packet) -> int:
    direction = pcapng.OUTBOUND if one.is_sent else pcapng.INBOUND
    return direction | (pcapng.BROADCAST if one.destination == BROADCAST else pcapng.UNICAST)


def packets(record: Record, scenario: Scenario) -> Iterator[Packet]:
    """The packets of a recorded run in the order of time; raises UserError for a record that is damaged."""
    air = _Air(len(scenario.nodes), scenario.faults)
    for recorded in record.frames():
        said = recorded.message
        if isinstance(said, ToSimulator):
            air.hand_over(said.reply.sends)
            continue
        if recorded.kind == "hello":
            air.greet(said.hello)
        for arrival in said.step.arrivals:
            yield from air.sent_before(arrival.time)
            yield from air.arrive(arrival)
        yield from air.sent_before(said.step.now)
    yield from air.sent_before(None)


class _Air:
    """What is on its way: frames that agents have handed over for later, and those that may still arrive."""

    def __init__(self, nodes: int, faults: Sequence[Fault]) -> None:
        self._nodes = nodes
        self._faults = sorted(faults, key=lambda fault: fault.at)
        self._down: set[NodeId] = set()
        self._measures = True
        self._handed_over: list[tuple[SimTime, int, Packet]] = []
        self._counts: Counter[NodeId] = Counter()
        self._total = 0
        self._last: OrderedDict[tuple[NodeId, NodeId, bytes], int] = OrderedDict()

    def greet(self, hello: Hello) -> None:
        """The simulator says what it is."""
        self._measures = hello.simulator != WITHOUT_RADIO

    def hand_over(self, sends: Sequence[Send]) -> None:
        """Agents hand these over, each for its time; raises UserError for a node that there is not."""
        for send in sends:
            self._check(send.time, send.node, send.destination)
            sequence = self._counts[send.node]
            packet = Packet(send.time, send.node, True, send.node, send.destination, sequence, send.payload)
            self._counts[send.node] += 1
            self._total += 1
            heapq.heappush(self._handed_over, (send.time, self._total, packet))

    def sent_before(self, time: SimTime | None) -> Iterator[Packet]:
        """What was handed over for an earlier time, or for any."""
        while self._handed_over and (time is None or self._handed_over[0][0] < time):
            packet = heapq.heappop(self._handed_over)[2]
            self._remember(packet)
            yield packet

    def arrive(self, arrival: Arrival) -> Iterator[Packet]:
        """A packet for each receiver that is up."""
        self._fail_until(arrival.time)
        for receiver, rssi in zip(arrival.receivers, arrival.rssi_dbm, strict=False):
            self._check(arrival.time, receiver, arrival.sender)
            if not abs(rssi) <= STRONGEST_DBM:
                raise UserError(f"the record is damaged: a frame arrives with {rssi} dBm")
            if receiver not in self._down:
                destination, sequence = self._recall(arrival.sender, receiver, arrival.payload)
                measured = rssi if self._measures else None
                yield Packet(
                    arrival.time,
                    receiver,
                    False,
                    arrival.sender,
                    destination,
                    sequence,
                    arrival.payload,
                    measured,
                )

    def _remember(self, packet: Packet) -> None:
        key = packet.sender, packet.destination, packet.message
        self._last[key] = packet.sequence
        self._last.move_to_end(key)
        if len(self._last) > REMEMBERED:
            self._last.popitem(last=False)

    def _recall(self, sender: NodeId, receiver: NodeId, message: bytes) -> tuple[NodeId, int]:
        """For whom the frame was, and its number: those of the last that fits; of one long ago nothing is known."""
        fitting = [
            (self._last[sender, to, message], to) for to in (receiver, BROADCAST) if (sender, to, message) in self._last
        ]
        sequence, destination = max(fitting, default=(0, BROADCAST))
        return destination, sequence

    def _fail_until(self, time: SimTime) -> None:
        while self._faults and self._faults[0].at <= time:
            fault = self._faults.pop(0)
            if fault.kind is FaultKind.RECOVER:
                self._down.discard(fault.node)
            else:
                self._down.add(fault.node)

    def _check(self, time: SimTime, *nodes: NodeId) -> None:
        if time < 0:
            raise UserError(f"the record is damaged: something happens at {time} ns")
        for node in nodes:
            if node != BROADCAST and not 0 <= node < self._nodes:
                raise UserError(f"the record is damaged: it names node {node} of {self._nodes}")
