"""The smallest agent: broadcasts beacons at random times and ignores what it hears.

It is the traffic of the radio's reference measurements, and the example to start from for an agent of one's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from roambus.python_protocol.actions import Action, Send, SetTimer
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, Received, Recovered, Started, TimerFired
from roambus.python_protocol.messages.codec import Message, MessageSet, Reader, Writer
from roambus.python_protocol.parameters import parameter
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SimTime, from_seconds

HEADER_BYTES = 3
"""Tag and length: no beacon is smaller."""

TIMER = "beacon"


@dataclass(frozen=True, slots=True)
class BeaconParameters:
    """What the beacons are; raises ValueError for values that make no sense."""

    rate: float = parameter(1.0, unit="1/s", source="castalia-reference", doc="mean beacons per second; 0: listen only")
    payload: int = parameter(40, unit="bytes", source="castalia-reference", doc="length of a beacon, 3 to 65535")

    def __post_init__(self) -> None:
        if not 0 <= self.rate < float("inf"):
            raise ValueError(f"parameter rate: {self.rate} is not a number of beacons per second")
        if not HEADER_BYTES <= self.payload <= 0xFFFF:
            raise ValueError(f"parameter payload: {self.payload} is not between {HEADER_BYTES} and 65535 bytes")


@dataclass(frozen=True, slots=True)
class BeaconMessage(Message):
    """Zeros: the encoded message is `size` bytes long, tag and length included."""

    tag: ClassVar[int] = 0x01
    message_type: ClassVar[str] = "Beacon"
    size: int

    def write(self, writer: Writer) -> None:
        """Length of the rest, the rest."""
        writer.u16(self.size - HEADER_BYTES)
        writer.zeros(self.size - HEADER_BYTES)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        rest = reader.u16()
        reader.zeros(rest)
        return cls(rest + HEADER_BYTES)


class Beacon(Agent):
    """Poisson broadcasts: exponential gaps of mean 1/rate; the first is uniform in one mean gap after the start."""

    parameters: BeaconParameters
    parameters_type = BeaconParameters
    messages = MessageSet((BeaconMessage,))

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:  # noqa: ARG002  # chance alone sets the times
        """A beacon on each timer; everything received is ignored."""
        if isinstance(event, Received):
            return ()
        if isinstance(event, TimerFired):
            return self._send()
        if isinstance(event, Started | Recovered):
            return self._start()
        return ()

    def _start(self) -> list[Action]:
        if self.parameters.rate == 0:
            return []
        return [SetTimer(TIMER, from_seconds(self.random.uniform(0, 1 / self.parameters.rate)))]

    def _send(self) -> list[Action]:
        gap = from_seconds(self.random.expovariate(self.parameters.rate))
        return [Send(BROADCAST, BeaconMessage(self.parameters.payload)), SetTimer(TIMER, gap)]
