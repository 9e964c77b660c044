"""A run's scenario: its rendered ini, typed. Times are SimTime, powers dBm, distances metres.

`bridge.formats.ini` reads it; back-ends and host see only these classes. Classes declare their keys, so that a missing
key has the same default in Castalia, the embedded radio and tests. A plan for many nodes has one key (`SN.tree`,
`SN.commands`), which shows the order between nodes; OMNeT++ ignores it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, NamedTuple

from roambus.bridge.formats.temporal_model import TemporalModel
from roambus.bridge.keys import TEXT, TIME, WHOLE, WORD, key, keys_of, quoted
from roambus.bridge.scenario import plans
from roambus.bridge.scenario.ideal import IdealLinks, MeasuredLinks
from roambus.bridge.scenario.mac import MacSettings
from roambus.bridge.scenario.nodes import Handling, NodeSettings
from roambus.bridge.scenario.plans import Fault, Order, ParentChange
from roambus.bridge.scenario.propagation import LogDistance, Propagation
from roambus.bridge.scenario.radio import (
    ChannelSettings,
    GivenLosses,
    InterferenceSettings,
    Ns3Settings,
    RadioSettings,
)
from roambus.bridge.scenario.reception import BitErrors, Reception
from roambus.bridge.system.limits import DURATION, NODES, Limit
from roambus.python_protocol.actions import GoTo, Halt
from roambus.python_protocol.events import Attach, Detach, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, Value
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import NUMBER, Kind, Range, Setting
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime, format_time

DEPARTURE = 100 * MILLISECOND
"""Default time from detachment until a client leaves its place in a given tree."""
MOST_NODES = 65534
"""Higher addresses are not for nodes."""
MOST_SEED = 2**31 - 1
"""OMNeT++'s largest seed."""

_NETWORK = "SN."
_SIDE = Range(above=0, at_most=1e6)


def _limited(kind: Kind, limit: Limit, unit: int = 1) -> Kind:
    """The kind with a limit on its values, against long runs; `unit` converts the limit."""

    def read(text: str) -> Any:
        value = kind.read(text)
        limit.check(value / unit)
        return value

    return replace(kind, read=read)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """OMNeT++ options of a run."""

    time_limit: SimTime = key(
        "sim-time-limit", _limited(TIME, DURATION, SECOND), None, "how long a run lasts", within=Range(at_least=0)
    )
    # OMNeT++'s own option: Castalia's statistics leave that time out, too, and the trace keeps it for the metrics.
    warm_up: SimTime = key("warmup-period", TIME, "0s", "metrics leave out everything before", within=Range(at_least=0))
    seed: int = key("seed-set", WHOLE, "0", "the run's seed", within=Range(0, MOST_SEED))


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """The field, and plans for many nodes."""

    nodes: int = key(
        _NETWORK + "numNodes", _limited(WHOLE, NODES), None, "number of nodes", "nodes", Range(1, MOST_NODES)
    )
    field_x_m: float = key(_NETWORK + "field_x", NUMBER, "30", "width of the field", "m", _SIDE)
    field_y_m: float = key(_NETWORK + "field_y", NUMBER, "30", "height of the field", "m", _SIDE)
    deployment: str = key(
        _NETWORK + "deployment", TEXT, '""', "where nodes start: uniform, center, 5x5, or by ranges: [0..3]->2x2"
    )
    tree: tuple[ParentChange, ...] = key(
        _NETWORK + "tree",
        quoted("plan of parents", plans.tree),
        '""',
        'parents in a given tree, such as "1:0 2:0 3:1, 12s 2:1, 15s 2:-"; Castalia ignores it',
    )
    commands: tuple[Order, ...] = key(
        _NETWORK + "commands",
        quoted("plan of commands", plans.commands),
        '""',
        'what applications do, such as "12s 7 subscribe, 20s 9 publish, 30s 7 detach"; Castalia ignores it',
    )
    # Long enough for a goodbye over several hops of the ideal links (1 ms each), and short against any heartbeat.
    departure: SimTime = key(
        _NETWORK + "departure",
        TIME,
        format_time(DEPARTURE),
        "from a client's detachment until it leaves its place in a given tree; Castalia ignores it",
        within=Range(above=0),
    )


KEYS = (
    Setting("network", WORD, None, "the network of Castalia", choices=("SN",)),
    *keys_of(RunSettings),
    # Castalia's is ps, with which 64 bits last 106 days; ns last for 292 years, and the wire counts in them.
    Setting("simtime-resolution", WORD, "ps", "OMNeT++'s step of time; the bridge to it needs ns"),
    Setting("num-rngs", WHOLE, "1", "streams of random numbers in OMNeT++, which have no effect here"),
    *keys_of(NetworkSettings),
    Setting(_NETWORK + "field_z", NUMBER, "0", "depth of the field", "m", choices=(0.0,)),
    Setting(_NETWORK + "wirelessChannelName", TEXT, '"WirelessChannel"', "the channel", choices=("WirelessChannel",)),
    Setting(_NETWORK + "numPhysicalProcesses", WHOLE, "1", "what sensors sense, which has no effect here"),
    Setting(
        _NETWORK + "physicalProcessName",
        TEXT,
        '"CustomizablePhysicalProcess"',
        "what sensors sense, which has no effect here",
    ),
    Setting(
        _NETWORK + "debugInfoFileName", TEXT, '"Castalia-Trace.txt"', "Castalia's own trace, which has no effect here"
    ),
)


# The keys of the run and its network


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
    placed: bool = False
    """Whether the publisher's place at that time becomes the attributes x and y."""


TOPIC = "topic"
"""The attribute of drawn topics."""


@dataclass(frozen=True, slots=True)
class Publication:
    """One notification, numbered by the workload."""

    attributes: tuple[tuple[str, Value], ...]
    payload: int = 0


class Follow(NamedTuple):
    """The area of a subscription follows its subscriber."""

    filter: Filter


class Command(NamedTuple):
    """The application of `node` acts at `at`, but not before boot; it moves the node as its agent does."""

    at: SimTime
    node: NodeId
    command: Subscribe | Unsubscribe | Detach | Attach | Publication | Handling | Follow | GoTo | Halt


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
    mac: MacSettings
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
    propagation: Propagation = LogDistance()
    reception: Reception = BitErrors()
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
        return all(node.initial_energy_j * 1000 > (node.baseline_power_mw + highest) * seconds for node in self.nodes)

    @property
    def header_bytes(self) -> int:
        """What network, MAC and radio add to a message."""
        return self.mac.network_overhead_bytes + self.mac.packet_overhead_bytes + self.radio.frame_overhead_bytes

    @property
    def room_bytes(self) -> float:
        """The longest message of a frame; infinite without a limit by radio or MAC."""
        mac, radio = self.mac, self.radio
        of_mac = mac.max_packet_bytes or inf
        of_radio = radio.max_frame_bytes - radio.frame_overhead_bytes if radio.max_frame_bytes else inf
        return min(of_mac, of_radio) - mac.packet_overhead_bytes - mac.network_overhead_bytes
