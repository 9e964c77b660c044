"""Small runs of the LoRa radio: senders whose powers at each receiver are given, and frames at given times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from roambus.bridge.backend import Totals, Transmission
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import TunableMacSettings
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.scenario.radio import ChannelSettings, GivenLosses, RadioSettings
from roambus.extensions.lora.radio.airtime import airtime_ns, symbol_ns
from roambus.extensions.lora.radio.settings import LoRa
from roambus.python_protocol.messages.fields import U32
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MICROSECOND, SECOND, SimTime

NOISE_DBM = -117.0
START: SimTime = SECOND
TURNAROUND: SimTime = 92 * MICROSECOND
"""From a request to the beginning of its frame."""
BACK: SimTime = 41 * MICROSECOND
"""From the end of a radio's own frame until it listens."""
UNHEARD_DBM = -300.0

LORA = LoRa(factors=(9,), bandwidth_khz=125, coding_rate=5, preamble=8)
"""SF9: a symbol of 4.096 ms, a floor of -12.5 dB; the first 3 symbols of a preamble are not needed."""


class Data(Message, tag=1, name="Data"):
    """A frame of the tests."""

    number: U32


class Frame(NamedTuple):
    """A frame that begins so long after START."""

    sender: NodeId
    after: SimTime
    size: int = 20


Powers = Mapping[tuple[NodeId, NodeId], float]
"""dBm by sender and receiver; all other pairs do not hear each other."""


class Outcome(NamedTuple):
    """The receptions as (receiver, number of the frame), their LQIs in this order, and the totals."""

    received: list[tuple[NodeId, int]]
    lqi_db: list[float]
    totals: Totals

    def counts(self, node: NodeId) -> dict[str, int]:
        """Return what became of the signals at a node, without zeros."""
        names = ("rx_no_interf", "rx_despite", "fail_no_interf", "fail_interf", "fail_sens", "fail_nonrx")
        return {name: self.totals.counts[name][node] for name in names if self.totals.counts[name][node]}


def scenario(powers: Powers, law: LoRa = LORA, nodes: int = 0) -> Scenario:
    """Return static nodes that send at 0 dBm, and do not sense."""
    count = nodes or 1 + max(max(pair) for pair in powers)
    senders, receivers = zip(*powers, strict=True)
    radio = RadioSettings(
        data_rate_bps=366,
        bits_per_symbol=12,
        noise_bandwidth_hz=law.bandwidth_khz * 1e3,
        noise_floor_dbm=NOISE_DBM,
        sensitivity_dbm=-137.0,
        rx_power_mw=15.0,
        tx_levels_mw=((0.0, 100.0),),
        rx_to_tx=TURNAROUND,
        tx_to_rx=BACK,
        cca_threshold_dbm=300.0,
        symbols_for_rssi=1,
        max_frame_bytes=255,
        frame_overhead_bytes=0,
    )
    return Scenario(
        seed=1,
        time_limit=20 * SECOND,
        field_m=(1.0, 1.0),
        channel=ChannelSettings(signal_delivery_threshold_dbm=-200.0),
        radio=radio,
        mac=TunableMacSettings(packet_overhead_bytes=0, network_overhead_bytes=0),
        nodes=(NodeSettings(start_spread=0, clock_drift_sigma=0),) * count,
        propagation=LogDistance(pl_d0_db=300.0, sigma_db=0.0, bidirectional_sigma_db=0.0),
        losses=GivenLosses(senders, receivers, tuple(-power for power in powers.values())),
        reception=law,
    )


def run(described: Scenario, frames: Sequence[Frame]) -> Outcome:
    """Return what became of frames, whose numbers are their places."""
    backend = RadioBackend(described)
    backend.open()
    outgoing = [
        Transmission(frame.sender, START + frame.after - TURNAROUND, BROADCAST, Data(number), frame.size)
        for number, frame in sorted(enumerate(frames), key=lambda pair: pair[1].after)
    ]
    received, lqi_db = [], []
    while (step := backend.advance(outgoing, None)) is not None:
        outgoing = []
        assert not step.failures
        for delivery in step.deliveries:
            assert isinstance(delivery.message, Data)
            received.append((delivery.receiver, delivery.message.number))
            lqi_db.append(delivery.lqi_db)
    return Outcome(received, lqi_db, backend.close())


def lasting(law: LoRa = LORA, size: int = 20, factor: int | None = None) -> SimTime:
    """Return the airtime of a frame."""
    return airtime_ns(law.modem(factor), size)


def symbol(law: LoRa = LORA) -> SimTime:
    """Return a symbol of node 0."""
    return symbol_ns(law.factors[0], law.bandwidth_khz)


def changed(law: LoRa = LORA, /, **settings: Any) -> LoRa:
    """Return other settings."""
    return replace(law, **settings)
