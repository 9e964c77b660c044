"""A run's scenario: everything that its rendered ini says, typed. Times are SimTime, powers dBm, distances metres.

`roambus.bridge.ini` reads these from the ini's keys; back-ends and host only ever see these classes. Defaults are those of
the modules that Castalia would run (see the design, section 7), so that a key left out means the same to both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from roambus.python_protocol.events import Attach, Detach, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, Value
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND, SECOND, SimTime
from roambus.python_protocol.sites import Sites


@dataclass(frozen=True, slots=True)
class ChannelParameters:
    """SN.wirelessChannel.*: log-normal shadowing, drawn per node pair (static) or per cell pair."""

    only_static_nodes: bool = True
    path_loss_exponent: float = 2.4
    pl_d0_db: float = 55.0
    d0_m: float = 1.0
    sigma_db: float = 4.0
    bidirectional_sigma_db: float = 1.0
    x_cell_m: float = 5.0
    y_cell_m: float = 5.0
    signal_delivery_threshold_dbm: float = -100.0
    max_tx_power_dbm: float = 0.0


@dataclass(frozen=True, slots=True)
class RadioParameters:
    """SN.node[*].Communication.Radio.*, with the mode and power levels of its radio parameters file."""

    data_rate_bps: int
    bits_per_symbol: int
    noise_bandwidth_hz: float
    noise_floor_dbm: float
    sensitivity_dbm: float
    rx_power_mw: float
    tx_levels_mw: tuple[tuple[float, float], ...]
    """(dBm, mW drawn), strongest first."""
    rx_to_tx: SimTime = 10 * MICROSECOND
    tx_to_rx: SimTime = 10 * MICROSECOND
    transition_power_mw: float = 62.0
    cca_threshold_dbm: float = -95.0
    symbols_for_rssi: int = 8
    buffer_size: int = 16
    max_frame_bytes: int = 1024
    frame_overhead_bytes: int = 6
    collision_model: int = 2


@dataclass(frozen=True, slots=True)
class MacParameters:
    """SN.node[*].Communication.MAC.*: TunableMAC as CSMA (duty cycle 1), and the routing header above it."""

    buffer_size: int = 32
    packet_overhead_bytes: int = 9
    max_packet_bytes: int = 0
    """0: no limit."""
    network_overhead_bytes: int = 10
    backoff_base: SimTime = 16 * MILLISECOND
    backoff_type: int = 2
    random_tx_offset: SimTime = 0
    valid_cs_delay: SimTime = 128 * MICROSECOND


@dataclass(frozen=True, slots=True)
class Static:
    """SN.node[i] stays at its place."""


@dataclass(frozen=True, slots=True)
class Line:
    """LineMobilityManager: to and fro between the start and (x, y)."""

    x: float
    y: float
    speed_mps: float
    update_interval: SimTime = SECOND


@dataclass(frozen=True, slots=True)
class RandomWaypoint:
    """RandomWaypointMobilityManager: uniform destinations in the field, constant speed, pause at each."""

    speed_mps: float
    pause: SimTime = 0
    update_interval: SimTime = 100 * MILLISECOND


class WayPoint(NamedTuple):
    """The node is at (x, y) metres at `time_s`."""

    time_s: float
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class GivenWay:
    """A way from a movement file: straight from point to point, the first at time 0; the node rests at the last."""

    points: tuple[WayPoint, ...]
    update_interval: SimTime = 100 * MILLISECOND


Mobility = Static | Line | RandomWaypoint | GivenWay


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """What can differ from node to node; `position` None means uniform in the field."""

    position: tuple[float, float] | None = None
    mobility: Mobility = Static()
    tx_power_dbm: float = 0.0
    roles: Role = Role.NONE
    start_offset: SimTime = 0
    start_spread: SimTime = 50 * MILLISECOND
    clock_drift_sigma: float = 30e-6
    baseline_power_mw: float = 6.0


@dataclass(frozen=True, slots=True)
class Subscription:
    """Node `node` subscribes to `filter` at `at`, but not before it has booted."""

    node: NodeId
    at: SimTime
    filter: Filter


@dataclass(frozen=True, slots=True)
class Publications:
    """Node `node` publishes every `interval` from `start` (plus a random phase within one interval) to `until`."""

    node: NodeId
    start: SimTime
    until: SimTime
    interval: SimTime
    attributes: tuple[tuple[str, Value], ...]
    payload: int


@dataclass(frozen=True, slots=True)
class Publication:
    """One notification: the workload numbers it."""

    attributes: tuple[tuple[str, Value], ...]
    payload: int = 0


class Command(NamedTuple):
    """At `at`, the application of `node` does this, but not before the node has booted."""

    at: SimTime
    node: NodeId
    command: Subscribe | Unsubscribe | Detach | Attach | Publication


@dataclass(frozen=True, slots=True)
class Workload:
    """The application's commands: they belong to the scenario, so that every protocol gets the same ones."""

    subscriptions: tuple[Subscription, ...] = ()
    publications: tuple[Publications, ...] = ()
    commands: tuple[Command, ...] = ()
    """Single ones, beside those; in any order."""


@dataclass(frozen=True, slots=True)
class ParentChange:
    """From `at` on, the parent of `node` in the given tree is `parent` (None: it has none).

    A broker's parent is a broker; so is a client's.
    """

    at: SimTime
    node: NodeId
    parent: NodeId | None


class FaultKind(Enum):
    """What can be done to a node; see `Crashed`, `Stopped` and `Recovered`."""

    CRASH = "crash"
    FREEZE = "freeze"
    RECOVER = "recover"


@dataclass(frozen=True, slots=True)
class Fault:
    """At `at`, `node` crashes, freezes or recovers."""

    at: SimTime
    node: NodeId
    kind: FaultKind


@dataclass(frozen=True, slots=True)
class LinkChange:
    """At `at`, the ideal link between `a` and `b` comes up or goes down: then what is under way on it is lost."""

    at: SimTime
    a: NodeId
    b: NodeId
    up: bool


@dataclass(frozen=True, slots=True)
class Partition:
    """From `at` on, no link carries between nodes of different groups; without groups, all are merged again.

    Nodes that no group names are a group of their own.
    """

    at: SimTime
    groups: tuple[frozenset[NodeId], ...] = ()


@dataclass(frozen=True, slots=True)
class LinkDelay:
    """The ideal link between `a` and `b` has a delay of its own, whenever it is up."""

    a: NodeId
    b: NodeId
    delay: SimTime


@dataclass(frozen=True, slots=True)
class IdealLinks:
    """The links of the ideal back-end; other back-ends ignore them.

    They are the edges of the scenario's tree if it gives one; else those of its sites and what `changes` makes of them;
    else `links` and `changes` if there are any; else every pair of nodes within `range_m` of each other, wherever the
    mobility takes them.
    """

    delay: SimTime = MILLISECOND
    """Of every link that is not in `delays`; more than 0."""
    delays: tuple[LinkDelay, ...] = ()
    links: tuple[tuple[NodeId, NodeId], ...] = ()
    changes: tuple[LinkChange, ...] = ()
    partitions: tuple[Partition, ...] = ()
    """Of any kind of graph but a tree, whose own changes say what becomes of it."""
    range_m: float = 0.0
    """0: the distance at which the mean path loss leaves the radio's sensitivity."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A whole run, but for the agents' code."""

    seed: int
    time_limit: SimTime
    field_m: tuple[float, float]
    channel: ChannelParameters
    radio: RadioParameters
    mac: MacParameters
    nodes: tuple[NodeSettings, ...]
    workload: Workload = Workload()
    processing_delay: SimTime = 0
    agent: str = ""
    agent_parameters: dict[str, str] = field(default_factory=dict)
    tree: tuple[ParentChange, ...] = ()
    """In the order of time. Agents whose parameter `tree` is "given" are told of it."""
    sites: Sites | None = None
    """Agents that want sites are told of them; over ideal links they say who is linked to whom."""
    faults: tuple[Fault, ...] = ()
    """In the order of time."""
    ideal: IdealLinks = IdealLinks()
