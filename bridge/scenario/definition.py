"""A run's scenario: everything that its rendered ini says, typed. Times are SimTime, powers dBm, distances metres.

`roambus.bridge.ini` reads a scenario from an ini; back-ends and host only ever see the classes of this room. The
classes that mirror modules of Castalia stand in files of their own and declare the keys that they are read from, so
that a key left out means the same to Castalia, to the embedded radio, and to whoever makes one of these classes in a
test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from roambus.bridge.scenario.ideal import IdealLinks, MeasuredLinks
from roambus.bridge.scenario.mac import AnyMac
from roambus.bridge.scenario.nodes import Handling, NodeSettings
from roambus.bridge.scenario.plans import Fault, ParentChange
from roambus.bridge.scenario.radio import (
    ChannelSettings,
    GivenLosses,
    InterferenceSettings,
    Ns3Settings,
    RadioSettings,
)
from roambus.bridge.temporal_model import TemporalModel
from roambus.python_protocol.events import Attach, Detach, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, Value
from roambus.python_protocol.vocabulary import SECOND, NodeId, SimTime


@dataclass(frozen=True, slots=True)
class Subscription:
    """Node `node` subscribes to `filter` at `at`, but not before it has booted."""

    node: NodeId
    at: SimTime
    filter: Filter


@dataclass(frozen=True, slots=True)
class Publications:
    """Node `node` publishes every `interval` from `start` (plus a random phase within one interval) to `until`.

    Each time it publishes a `burst` of notifications. With `topics` each of them has a topic of its own, drawn by
    Zipf's law: the k-th, counted from 1, with a probability that goes with 1 / k to the power of `popularity`.
    """

    node: NodeId
    start: SimTime
    until: SimTime
    interval: SimTime
    attributes: tuple[tuple[str, Value], ...]
    payload: int
    topics: int = 0
    popularity: float = 0.0
    burst: int = 1


TOPIC = "topic"
"""The attribute that drawn topics are."""


@dataclass(frozen=True, slots=True)
class Publication:
    """One notification: the workload numbers it."""

    attributes: tuple[tuple[str, Value], ...]
    payload: int = 0


class Command(NamedTuple):
    """At `at`, the application of `node` does this, but not before the node has booted."""

    at: SimTime
    node: NodeId
    command: Subscribe | Unsubscribe | Detach | Attach | Publication | Handling


@dataclass(frozen=True, slots=True)
class Workload:
    """The application's commands: they belong to the scenario, so that every protocol gets the same ones."""

    subscriptions: tuple[Subscription, ...] = ()
    publications: tuple[Publications, ...] = ()
    commands: tuple[Command, ...] = ()
    """Single commands beside those, in any order."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything that makes a run, except for the code of the agents."""

    seed: int
    time_limit: SimTime
    field_m: tuple[float, float]
    channel: ChannelSettings
    radio: RadioSettings
    mac: AnyMac
    nodes: tuple[NodeSettings, ...]
    workload: Workload = Workload()
    processing_delay: SimTime = 0
    fragments: bool = False
    """Whether a message that is longer than a frame is sent in several frames."""
    agent: str = ""
    agent_parameters: dict[str, str] = field(default_factory=dict)
    """Those of node 0, and of every node that has no others."""
    other_parameters: Mapping[NodeId, Mapping[str, str]] = field(default_factory=dict)
    """Those of the nodes that have others than node 0."""
    tree: tuple[ParentChange, ...] = ()
    """The changes are in the order of time. Agents whose parameter `tree` is "given" get them as events."""
    faults: tuple[Fault, ...] = ()
    """The faults are in the order of time."""
    ideal: IdealLinks = IdealLinks()
    ns3: Ns3Settings = Ns3Settings()
    interference: InterferenceSettings = InterferenceSettings()
    measured: MeasuredLinks | None = None
    """A recorded testbed, which stands in for the channel's path loss."""
    temporal: TemporalModel | None = None
    """How links vary in time around the channel's path loss."""
    losses: GivenLosses | None = None
    """Path losses that are not drawn but given."""
    warm_up: SimTime = 0
    """Metrics leave out what happens before."""

    @property
    def batteries_last(self) -> bool:
        """Whether no battery can be empty before the end of the run, whatever its node does."""
        radio, seconds = self.radio, self.time_limit / SECOND
        highest = max(radio.rx_power_mw, radio.transition_power_mw, *(mw for _, mw in radio.tx_levels_mw))
        return all(one.initial_energy_j * 1000 > (one.baseline_power_mw + highest) * seconds for one in self.nodes)

    @property
    def room_bytes(self) -> float:
        """The longest message that a frame has room for; infinite if neither radio nor MAC has a limit."""
        mac, radio = self.mac, self.radio
        of_mac = mac.max_packet_bytes or inf
        of_radio = radio.max_frame_bytes - radio.frame_overhead_bytes if radio.max_frame_bytes else inf
        return min(of_mac, of_radio) - mac.packet_overhead_bytes - mac.network_overhead_bytes
