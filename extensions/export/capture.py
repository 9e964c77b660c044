"""Captures: the frames of a run, in a format for Wireshark.

The record holds the bytes of every message, so no agent runs. Each node is an interface: messages to its network stack
are outbound, at their hand-over time; those from its radio are inbound. The header is an IEEE 802.15.4 data frame's,
nine bytes as the model counts for the MAC; the network's ten have no content and are left out. A TAP header has the
signal strength. The PAN, a hash of the agent's name, identifies the agent.
"""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from roambus.bridge.runs.layout import RECORD_FILE
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.bridge.system.errors import UserError
from roambus.bridge.wire.wire_pb2 import Arrival, Send, ToSimulator
from roambus.python_protocol.roles import BROADCAST, NodeId, format_roles
from roambus.python_protocol.simtime import SimTime
from roambus.spark.aggregation.traces import Trace

if TYPE_CHECKING:
    from roambus.extensions.recording.record_file import Record

CHANNEL = 11
"""The standard's channel (2405 MHz) nearest to the model's 2400 MHz."""

_DATA_FRAME = 0x8841
"""Short addresses, one PAN, no security, no acknowledgement request."""
_MAC = Struct("<HBHHH")
"""Frame control, sequence number, PAN, destination, source: nine bytes."""
_TAP = Struct("<BBH")
_TLV = Struct("<HH")
_U8, _F32, _ASSIGNMENT = Struct("<Bxxx"), Struct("<f"), Struct("<HBx")
_FCS_TYPE, _RSS, _CHANNEL_ASSIGNMENT = 0, 1, 3
"""The kinds of fields in a TAP header."""
_NO_FCS = 0
"""No checksum follows the frame, because the model has none."""
_GREATEST_PAN = 0xFFFE
"""0xFFFF is the broadcast PAN."""


def agent_name(reference: str) -> str:
    """Return the agent's own name, or its file's or class's; capture and dissector must agree."""
    file, _, class_name = reference.rpartition(":") if ":" in reference else (reference, "", "")
    if file.endswith(".py") and not class_name:
        return Path(file).stem
    return class_name or reference


def pan_of(name: str) -> int:
    """Return the PAN of the agent's frames: from 1 on, never the broadcast PAN."""
    return crc32(name.encode()) % _GREATEST_PAN + 1


def frame(pan: int, sequence: int, sender: NodeId, destination: NodeId, message: bytes) -> bytes:
    """Return a data frame with the standard's broadcast address; `sequence` is taken modulo 256."""
    return _MAC.pack(_DATA_FRAME, sequence % 256, pan, destination, sender) + message


def tapped(data: bytes, rssi_dbm: float | None) -> bytes:
    """Return the frame with its radio data; `rssi_dbm` is None if not measured."""
    fields = [_TLV.pack(_FCS_TYPE, 1) + _U8.pack(_NO_FCS)]
    if rssi_dbm is not None:
        fields.append(_TLV.pack(_RSS, 4) + _F32.pack(rssi_dbm))
    fields.append(_TLV.pack(_CHANNEL_ASSIGNMENT, 3) + _ASSIGNMENT.pack(CHANNEL, 0))
    head = b"".join(fields)
    return _TAP.pack(0, 0, _TAP.size + len(head)) + head + data


LINK_TYPE = 283
"""LINKTYPE_IEEE802_15_4_TAP: IEEE 802.15.4 frames with radio data."""
INBOUND, OUTBOUND = 1, 2
"""The directions of a packet, the lowest bits of its flags."""
UNICAST, BROADCAST_PACKET = 1 << 2, 3 << 2
"""The kind of destination, further bits of the flags."""

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_ORDER = 0x1A2B3C4D
_COMMENT, _NAME, _DESCRIPTION, _APPLICATION, _RESOLUTION, _FLAGS = 1, 2, 3, 4, 9, 2
_NANOSECONDS = bytes([9])
_ENDS = Struct("<II")
_OPTION = Struct("<HH")
_U32 = Struct("<I")
_SECTION_HEAD = Struct("<IHHq")
_INTERFACE_HEAD = Struct("<HHI")
_PACKET_HEAD = Struct("<IIIII")


def section(application: str, comment: str) -> bytes:
    """Return the first block of a file: its writer and its content."""
    options = [(_COMMENT, comment.encode()), (_APPLICATION, application.encode())]
    return _block(_SECTION, _SECTION_HEAD.pack(_ORDER, 1, 0, -1) + _options(options))


def interface(name: str, description: str) -> bytes:
    """Return the next interface's block; interfaces are numbered from 0."""
    options = [(_NAME, name.encode()), (_DESCRIPTION, description.encode()), (_RESOLUTION, _NANOSECONDS)]
    return _block(_INTERFACE, _INTERFACE_HEAD.pack(LINK_TYPE, 0, 0) + _options(options))


def packet(number: int, time: int, data: bytes, flags: int) -> bytes:
    """Return the block of a packet on the interface of this number at `time` (ns)."""
    head = _PACKET_HEAD.pack(number, time >> 32, time & 0xFFFFFFFF, len(data), len(data))
    return _block(_PACKET, head + _padded(data) + _options([(_FLAGS, _U32.pack(flags))]))


def _block(kind: int, body: bytes) -> bytes:
    """Return a block with its length at both ends, for backward reading."""
    length = len(body) + _ENDS.size + _U32.size
    return _ENDS.pack(kind, length) + body + _U32.pack(length)


def _options(options: Iterable[tuple[int, bytes]]) -> bytes:
    encoded = [_OPTION.pack(code, len(value)) + _padded(value) for code, value in options]
    return b"".join(encoded) + _OPTION.pack(0, 0)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


REMEMBERED = 4096
"""Last frames kept by content: an arrival does not name the destination."""
STRONGEST_DBM = 1000.0
"""No power on either side of zero is further from it."""
WITHOUT_RADIO = "ideal"
"""The ideal back-end's name: it measures nothing."""


class Packet(NamedTuple):
    """A packet of `node` at `time`; `rssi_dbm` is None if sent, or over ideal links."""

    time: SimTime
    node: NodeId
    is_sent: bool
    sender: NodeId
    destination: NodeId
    sequence: int
    message: bytes
    rssi_dbm: float | None = None


def capture(record: Record, scenario: Scenario) -> Iterator[bytes]:
    """Return the capture's blocks; raise UserError."""
    name = agent_name(record.header.agent)
    pan = pan_of(name)
    yield section(f"roambus {version('roambus')}", f"agent {record.header.agent}, seed {scenario.seed}")
    yield from (interface(f"node{number}", format_roles(node.roles)) for number, node in enumerate(scenario.nodes))
    for sent in packets(record, scenario):
        data = frame(pan, sent.sequence, sent.sender, sent.destination, sent.message)
        direction = OUTBOUND if sent.is_sent else INBOUND
        flags = direction | (BROADCAST_PACKET if sent.destination == BROADCAST else UNICAST)
        yield packet(sent.node, sent.time, tapped(data, sent.rssi_dbm), flags)


def packets(record: Record, scenario: Scenario) -> Iterator[Packet]:
    """Return a recorded run's packets in time order; raise UserError for a damaged record."""
    air = _Channel(len(scenario.nodes), scenario.faults)
    for recorded in record.frames():
        said = recorded.message
        if isinstance(said, ToSimulator):
            air.hand_over(said.reply.sends)
            continue
        if recorded.kind == "hello":
            air.measures = said.hello.simulator != WITHOUT_RADIO
        for arrival in said.step.arrivals:
            yield from air.sent_before(arrival.time)
            yield from air.arrive(arrival)
        yield from air.sent_before(said.step.now)
    yield from air.sent_before(None)


class _Channel:
    """Frames handed over for later, and those still able to arrive."""

    def __init__(self, nodes: int, faults: Sequence[Fault]) -> None:
        self._nodes = nodes
        self._faults = sorted(faults, key=lambda fault: fault.at)
        self._down: set[NodeId] = set()
        self.measures = True
        """Whether the simulator measures signals: over ideal links it does not."""
        self._handed_over: list[tuple[SimTime, int, Packet]] = []
        self._counts: Counter[NodeId] = Counter()
        self._last: OrderedDict[tuple[NodeId, NodeId, bytes], int] = OrderedDict()

    def hand_over(self, sends: Sequence[Send]) -> None:
        """Hand over agents' frames; raise UserError for an unknown node."""
        for send in sends:
            self._check(send.time, send.node, send.destination)
            sequence = self._counts[send.node]
            packet = Packet(send.time, send.node, True, send.node, send.destination, sequence, send.payload)
            self._counts[send.node] += 1
            heapq.heappush(self._handed_over, (send.time, self._counts.total(), packet))

    def sent_before(self, time: SimTime | None) -> Iterator[Packet]:
        """Yield frames for an earlier time, or for any; from then on they can arrive."""
        while self._handed_over and (time is None or self._handed_over[0][0] < time):
            packet = heapq.heappop(self._handed_over)[2]
            key = packet.sender, packet.destination, packet.message
            self._last[key] = packet.sequence
            self._last.move_to_end(key)
            if len(self._last) > REMEMBERED:
                self._last.popitem(last=False)
            yield packet

    def arrive(self, arrival: Arrival) -> Iterator[Packet]:
        """Yield a packet for each receiver that is up."""
        self._fail_until(arrival.time)
        for receiver, rssi in zip(arrival.receivers, arrival.rssi_dbm, strict=False):
            self._check(arrival.time, receiver, arrival.sender)
            if not abs(rssi) <= STRONGEST_DBM:
                raise UserError(f"the record is damaged: a frame arrives with {rssi} dBm")
            if receiver not in self._down:
                destination, sequence = self._recall(arrival.sender, receiver, arrival.payload)
                packet = Packet(arrival.time, receiver, False, arrival.sender, destination, sequence, arrival.payload)
                yield packet._replace(rssi_dbm=rssi if self.measures else None)

    def _recall(self, sender: NodeId, receiver: NodeId, message: bytes) -> tuple[NodeId, int]:
        """Return destination and number of the last matching frame, or broadcast and 0 for an old one."""
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


def capture_of(trace: Trace) -> Iterator[bytes]:
    """Return the capture of a run; raise UserError without a sound record."""
    path = trace.file.with_name(RECORD_FILE)
    if not path.is_file():
        advice = "traces hold no bytes of messages: make the run with --record"
        raise UserError(f"{trace.file.parent}: there is no {RECORD_FILE}, and {advice}")
    try:  # no other format needs the extension
        from roambus.extensions.recording.record_file import open_record  # noqa: PLC0415
        from roambus.extensions.recording.replay import scenario_of  # noqa: PLC0415
    except ModuleNotFoundError:
        raise UserError(f"{path}: this installation has no extension recording, which reads it") from None
    with open_record(path) as record:
        yield from capture(record, scenario_of(record))
