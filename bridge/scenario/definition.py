"""A run's scenario: its rendered ini, typed. Times are SimTime, powers dBm, distances metres.

`roambus.bridge.ini` reads it; back-ends and host see only these classes. Classes declare their keys, so that a missing
key has the same default in Castalia, the embedded radio and tests.
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
    """Node `node` publishes a `burst` every `interval` from `start` (plus a random phase) to `until`.

    With `topics` each draws its topic by Zipf's law: the k-th with probability proportional to 1 / k ** `popularity`.
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
"""The attribute of drawn topics."""


@dataclass(frozen=True, slots=True)
class Publication:
    """One notification, numbered by the workload."""

    attributes: tuple[tuple[str, Value], ...]
    payload: int = 0


class Command(NamedTuple):
    """The application of `node` acts at `at`, but not before boot."""

    at: SimTime
    node: NodeId
    command: Subscribe | Unsubscribe | Detach | Attach | Publication | Handling


@dataclass(frozen=True, slots=True)
class Workload:
    """The application's commands, the same for every protocol."""

    subscriptions: tuple[Subscription, ...] = ()
    publications: tuple[Publications, ...] = ()
    commands: tuple[Command, ...] = ()
    """Further single commands, in any order."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A complete run, except for the agents' code."""

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
    """Whether messages longer than a frame are fragmented."""
    agent: str = ""
    agent_parameters: dict[str, str] = field(default_factory=dict)
    """Of node 0, and of every node without its own."""
    other_parameters: Mapping[NodeId, Mapping[str, str]] = field(default_factory=dict)
    """Of nodes that differ from node 0."""
    tree: tuple[ParentChange, ...] = ()
    """In the order of time. Agents with parameter `tree` "given" get the changes as events."""
    faults: tuple[Fault, ...] = ()
    """In the order of time."""
    ideal: IdealLinks = IdealLinks()
    ns3: Ns3Settings = Ns3Settings()
    interference: InterferenceSettings = InterferenceSettings()
    measured: MeasuredLinks | None = None
    """A recorded testbed instead of the channel's path loss."""
    temporal: TemporalModel | None = None
    """Links' variation around the channel's path loss."""
    losses: GivenLosses | None = None
    """Path losses from a file instead of draws."""
    warm_up: SimTime = 0
    """Metrics skip events before it."""

    @property
    def batteries_last(self) -> bool:
        """Whether no battery can run empty before the end of the run."""
        radio, seconds = self.radio, self.time_limit / SECOND
        highest = max(radio.rx_power_mw, radio.transition_power_mw, *(mw for _, mw in radio.tx_levels_mw))
        return all(one.initial_energy_j * 1000 > (one.baseline_power_mw + highest) * seconds for one in self.nodes)

    @property
    def room_bytes(self) -> float:
        """The longest message of a frame; infinite without a limit by radio or MAC."""
        mac, radio = self.mac, self.radio
        of_mac = mac.max_packet_bytes or inf
        of_radio = radio.max_frame_bytes - radio.frame_overhead_bytes if radio.max_frame_bytes else inf
        return min(of_mac, of_radio) - mac.packet_overhead_bytes - mac.network_overhead_bytes
