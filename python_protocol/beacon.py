"""The smallest agent: broadcasts beacons at random times and ignores what it hears.

It is the traffic of the radio's reference measurements, and the example to start from for an agent of one's own.
"""

from __future__ import annotations

from typing import Annotated

from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Recovered, Started
from roambus.python_protocol.messages.bytes import Reader, Writer
from roambus.python_protocol.messages.fields import By
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.messages.shapes import Padding
from roambus.python_protocol.parameters import Parameters, parameter
from roambus.python_protocol.process import on, on_timer
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SimTime, from_seconds

HEADER_BYTES = 3
"""Tag and length: no beacon is smaller."""

TIMER = "beacon"


class BeaconParameters(Parameters):
    """What the beacons are; raises ValueError for values that make no sense."""

    rate: float = parameter(
        1.0,
        unit="1/s",
        source="castalia-reference",
        at_least=0,
        at_most=1e6,
        doc="mean beacons per second; 0: listen only",
    )
    payload: int = parameter(
        40,
        unit="bytes",
        source="castalia-reference",
        at_least=HEADER_BYTES,
        at_most=0xFFFF,
        doc="length of a beacon, 3 to 65535",
    )


def _write_zeros(writer: Writer, size: int) -> None:
    writer.u16(size - HEADER_BYTES)
    writer.zeros(size - HEADER_BYTES)


def _read_zeros(reader: Reader) -> int:
    rest = reader.u16()
    reader.zeros(rest)
    return rest + HEADER_BYTES


class BeaconMessage(Message, tag=0x01, name="Beacon"):
    """Zeros: the encoded message is `size` bytes long, tag and length included."""

    size: Annotated[int, By(_write_zeros, _read_zeros, shape=Padding())]


class Beacon(Agent):
    """Poisson broadcasts: exponential gaps of mean 1/rate; the first is uniform in one mean gap after the start."""

    parameters: BeaconParameters
    messages = MessageSet([BeaconMessage])

    @on(Started, Recovered)
    def start(self, _: Started | Recovered, __: SimTime) -> None:
        """Sets the time of the first beacon."""
        if self.parameters.rate > 0:
            self.set_timer(TIMER, from_seconds(self.random.uniform(0, 1 / self.parameters.rate)))

    @on_timer(TIMER)
    def broadcast(self, _: str, __: SimTime) -> None:
        """Sends a beacon, and draws the time of the next."""
        gap = from_seconds(self.random.expovariate(self.parameters.rate))
        self.send(BROADCAST, BeaconMessage(self.parameters.payload))
        self.set_timer(TIMER, gap)
