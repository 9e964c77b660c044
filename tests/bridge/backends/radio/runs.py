"""Small scenarios on the embedded radio, and what happens in them, one line a happening."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.reference_scenarios import CC2420, MAC, Air
from roambus.bridge.backend import Step, Totals, Transmission
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.propagation import LogDistance
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

STEEP = Air(propagation=LogDistance(path_loss_exponent=4, sigma_db=0, bidirectional_sigma_db=0))
"""At 5 m a signal has -83 dBm, at 8 m -91, at 12 m -98; beyond 13.3 m it is not there."""

START = 100 * MILLISECOND
"""When the tests begin to send."""

PAYLOAD = 40
AIRTIME = (PAYLOAD + 25) * 8 * SECOND // 250_000
"""2.08 ms"""


class Text(Message, tag=1, name="Text"):
    """A message that says something; its size is given to the back-end by the test."""

    text: str


def at_places(*xs: float, air: Air = STEEP, seed: int = 1) -> Scenario:
    """Static nodes at (x, 0), booted at time 0, with exact clocks; 10 s."""
    nodes = tuple(NodeSettings(position=(x, 0.0), start_spread=0, clock_drift_sigma=0) for x in xs)
    field = (100.0, 100.0)
    return Scenario(seed, 10 * SECOND, field, air.channel, CC2420, MAC, nodes, propagation=air.propagation)


def with_mac(scenario: Scenario, **changes: Any) -> Scenario:
    """The scenario with other MAC parameters."""
    return replace(scenario, mac=replace(scenario.mac, **changes))


def send(
    node: NodeId, text: str, at: SimTime = START, destination: NodeId = BROADCAST, size: int = PAYLOAD
) -> Transmission:
    """`node` hands `text` to its MAC."""
    return Transmission(node, at, destination, Text(text), size)


def run(scenario: Scenario, transmissions: Iterable[Transmission]) -> tuple[list[str], Totals]:
    """What the host is told until the end, and the totals."""
    backend = RadioBackend(scenario)
    backend.open()
    log: list[str] = []
    outgoing = list(transmissions)
    while (step := backend.advance(outgoing, None)) is not None:
        outgoing = []
        log += lines(step)
    return log, backend.close()


def lines(step: Step) -> Sequence[str]:
    """A line for each delivery and failure, times in us since START."""
    since = (step.now - START) // 1000
    delivered = [
        f"{since} us: {delivery.receiver} gets {said(delivery.message)} from {delivery.sender}"
        for delivery in step.deliveries
    ]
    return delivered + [f"{since} us: {failure.node} cannot send: {failure.reason}" for failure in step.failures]


def said(message: Message) -> str:
    """The text of a message, or the name of another type."""
    return message.text if isinstance(message, Text) else type(message).__name__


def total(totals: Totals, name: str) -> int:
    """A count, summed over the nodes."""
    return sum(totals.counts[name])
