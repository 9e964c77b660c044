"""The beacons of `benchmarks.peers` on GrADyS-SIM NG (the package gradysim)."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gradysim.protocol.interface import IProtocol
from gradysim.protocol.messages.communication import BroadcastMessageCommand
from gradysim.simulator.handler.communication import CommunicationHandler, CommunicationMedium
from gradysim.simulator.handler.timer import TimerHandler
from gradysim.simulator.simulation import SimulationBuilder, SimulationConfiguration


class GradysBeacon(IProtocol):  # type: ignore[misc]  # the package ships no types
    """Poisson broadcasts as the agent `beacon` sends them; one subclass a run has the values and counts."""

    rate_per_s: float
    message: str
    random: random.Random
    received: int

    def initialize(self) -> None:
        """The first beacon is uniform in one mean gap."""
        self.provider.schedule_timer("beacon", self.random.uniform(0, 1 / self.rate_per_s))

    def handle_timer(self, timer: str) -> None:
        """A beacon, and the next one after an exponential gap."""
        self.provider.send_communication_command(BroadcastMessageCommand(self.message))
        self.provider.schedule_timer(timer, self.provider.current_time() + self.random.expovariate(self.rate_per_s))

    def handle_packet(self, message: str) -> None:  # noqa: ARG002  # its interface
        """Counts, for all nodes together."""
        type(self).received += 1

    def handle_telemetry(self, telemetry: object) -> None:
        """Nodes do not move."""

    def finish(self) -> None:
        """Nothing is left to do."""


def run(  # noqa: PLR0913  # what both simulators are told
    places: Sequence[Sequence[float]],
    range_m: float,
    *,
    delay_s: float,
    rate_per_s: float,
    payload_bytes: int,
    seconds: float,
) -> int:
    """Deliveries of static nodes within `range_m` of each other; nothing is logged."""
    values = {"rate_per_s": rate_per_s, "message": "0" * payload_bytes, "random": random.Random(1), "received": 0}
    protocol = type("RunsBeacon", (GradysBeacon,), values)
    builder = SimulationBuilder(SimulationConfiguration(duration=seconds, execution_logging=False))
    builder.add_handler(CommunicationHandler(CommunicationMedium(transmission_range=range_m, delay=delay_s)))
    builder.add_handler(TimerHandler())
    for x, y in places:
        builder.add_node(protocol, (x, y, 0.0))
    with _silent():
        builder.build().start_simulation()
    return int(protocol.received)  # type: ignore[attr-defined]  # one of `values`


@contextmanager
def _silent() -> Iterator[None]:
    """It puts handlers on the root logger, and leaves them there."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    logging.disable(logging.INFO)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        root.handlers[:] = handlers
        root.setLevel(level)
