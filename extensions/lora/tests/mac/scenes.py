"""Scenes of LoRa's MACs: nodes on a line, frames that they send, and the frames that others get, with their times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from roambus.bridge.backend import Totals, Transmission
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import MacSettings
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.propagation import LogDistance
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.extensions.lora.mac.settings import LoRaAloha
from roambus.extensions.lora.radio.airtime import airtime_ns, symbol_ns
from roambus.extensions.lora.radio.settings import LoRa
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MICROSECOND, SECOND, SimTime
from tests.bridge.backends.radio.runs import Text

PAYLOAD, HEADER = 24, 16
START: SimTime = 10 * SECOND
HOUR: SimTime = 3600 * SECOND
DELAY = 10 * MICROSECOND
"""From a receiver's radio to its MAC."""
LAW = LogDistance(path_loss_exponent=2.32, pl_d0_db=59.35, d0_m=1, sigma_db=0, bidirectional_sigma_db=0)
"""With 22 dBm and SF7 a frame is received over 4.2 km, and seen by the radio over 28 km."""


def _read() -> Scenario:
    template = find_template("lora")
    run: dict[str, Scalar] = {"seed": 1, "agent": "beacon", "agent_parameters": "", "preset": "ShortFast"}
    return parse_scenario(template.render(run), template.file, template.file.parent)


READ = _read()
"""The template's, with its radio."""


def scene(*xs: float, mac: MacSettings | None = None, hours: float = 1, **reception: Any) -> Scenario:
    """Nodes at (x, 0) with 14 dBm, exact clocks and ShortFast, unless a test says otherwise."""
    law = replace(LoRa(preset="ShortFast"), **reception).resolved()
    nodes = tuple(NodeSettings(position=(x, 0.0), start_spread=0, clock_drift_sigma=0, tx_power_dbm=14.0) for x in xs)
    radio = replace(READ.radio, noise_bandwidth_hz=1000.0 * law.bandwidth_khz)
    return replace(
        READ,
        time_limit=round(hours * HOUR),
        field_m=(100_000.0, 100.0),
        radio=radio,
        mac=mac or LoRaAloha(),
        nodes=nodes,
        propagation=LAW,
        reception=law,
    )


def airtime(scenario: Scenario, size: int = PAYLOAD) -> SimTime:
    """The airtime of node 0's frame with a message of `size` bytes."""
    assert isinstance(scenario.reception, LoRa)
    return airtime_ns(scenario.reception.modem(), size + HEADER)


def symbol(scenario: Scenario) -> SimTime:
    """Node 0's symbol."""
    assert isinstance(scenario.reception, LoRa)
    modem = scenario.reception.modem()
    return symbol_ns(modem.factor, modem.bandwidth_khz)


def frame(node: NodeId, text: str, at: SimTime = 0, to: NodeId = BROADCAST, size: int = PAYLOAD) -> Transmission:
    """`node` hands `text` to its MAC at a time after START."""
    return Transmission(node, START + at, to, Text(text), size)


class Got(NamedTuple):
    """A message that a node got."""

    at: SimTime
    """after START, at the frame's end"""
    node: NodeId
    text: str


class Failed(NamedTuple):
    """A message that a node's MAC gave back."""

    at: SimTime
    node: NodeId
    text: str
    reason: str


class Course(NamedTuple):
    """A run."""

    got: list[Got]
    failed: list[Failed]
    totals: Totals
    queued: list[int]
    """at the end, by node"""

    def count(self, name: str) -> int:
        """A count, summed over the nodes."""
        return sum(self.totals.counts[name])

    def texts(self, node: NodeId) -> list[str]:
        """The messages that a node got."""
        return [got.text for got in self.got if got.node == node]

    def time_of(self, text: str) -> SimTime:
        """The end of the frame with this message."""
        return next(got.at for got in self.got if got.text == text)


def run(
    scenario: Scenario,
    frames: Iterable[Transmission],
    overhearing: Iterable[NodeId] = (),
    reporting: Iterable[NodeId] = (),
) -> Course:
    """Run to the end; some nodes overhear unicasts of others, and some get reports of the frames that they sent."""
    backend = RadioBackend(scenario)
    hello = backend.open()
    if hello.overhear is not None:
        hello.overhear(list(overhearing))
    if hello.report_sent is not None:
        hello.report_sent(list(reporting))
    got: list[Got] = []
    failed: list[Failed] = []
    outgoing = sorted(frames, key=lambda one: one.at)
    while (step := backend.advance(outgoing, None)) is not None:
        outgoing, now = [], step.now - START
        got += [Got(now - DELAY, one.receiver, said(one.message)) for one in step.deliveries]
        got += [Got(now - DELAY, one.receiver, said(one.message)) for one in step.overheard]
        failed += [Failed(now, one.node, said(one.message), one.reason) for one in step.failures]
    return Course(got, failed, backend.close(), backend._state.nodes["queued"].tolist())


def said(message: Message) -> str:
    """The text of a message, or the name of another type."""
    return message.text if isinstance(message, Text) else type(message).__name__
