"""Nodes: their individual settings, and their applications.

The application is our module in Castalia, which passes the node to its agent; the host reads the workload from the ini.
`bridge.mobility` has their movement.
"""

from __future__ import annotations

from dataclasses import dataclass

from roambus.bridge import keys
from roambus.bridge.keys import (
    COORDINATE,
    EVERY_NODE,
    MILLISECONDS,
    SECONDS,
    TEXT,
    TIME,
    TRUTH,
    WHOLE,
    key,
    keys_of,
    quoted,
)
from roambus.bridge.mobility.model import Mobility
from roambus.bridge.mobility.static import Static
from roambus.bridge.scenario import plans
from roambus.bridge.scenario.plans import Away
from roambus.bridge.scenario.radio import MOST_BYTES
from roambus.python_protocol.filters import Filter, Value
from roambus.python_protocol.roles import Role
from roambus.python_protocol.settings import NUMBER, Range, Setting
from roambus.python_protocol.simtime import SimTime

_FROM_0 = Range(at_least=0)
_ERRORS = Range(0, 1e6)

APPLICATION = f"SN.{EVERY_NODE}.Application."


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The agent, the same on every node."""

    agent: str = key(APPLICATION + "agent", TEXT, '""', "the protocol: its name, module:Class, or file.py[:Class]")
    processing_delay: SimTime = key(
        APPLICATION + "processingDelay", TIME, "0s", "between an event and the agent's actions", within=_FROM_0
    )
    fragments: bool = key(
        APPLICATION + "fragments", TRUTH, "false", "a message that is longer than a frame is sent in several frames"
    )


@dataclass(frozen=True, slots=True)
class AgentParameters:
    """One agent's parameters."""

    parameters: tuple[tuple[str, str], ...] = key(
        APPLICATION + "agentParameters",
        quoted("settings", keys.assignments),
        '""',
        'the agent\'s own parameters, such as "name=value name=value"',
    )


@dataclass(frozen=True, slots=True)
class ApplicationSettings:
    """A node's use of its agent."""

    filters: tuple[Filter, ...] = key(
        APPLICATION + "filter",
        quoted("filters", keys.filters),
        '"all"',
        "filters of a subscriber, with semicolons between them",
    )
    unicast: bool = key(
        APPLICATION + "unicast",
        TRUTH,
        "false",
        "subscribe to notifications whose attribute destination is the node's id",
    )
    subscribe_at: SimTime = key(APPLICATION + "subscribeAt", TIME, "0s", "when a subscriber subscribes", within=_FROM_0)
    publish_interval: SimTime = key(
        APPLICATION + "publishInterval",
        TIME,
        "0s",
        "between publications; 0s means no publications",
        within=_FROM_0,
    )
    publish_start: SimTime = key(
        APPLICATION + "publishStart", TIME, "0s", "when the first of these intervals begins", within=_FROM_0
    )
    publish_until: SimTime = key(APPLICATION + "publishUntil", TIME, "1000000s", "when publishing ends", within=_FROM_0)
    absences: tuple[Away, ...] = key(
        APPLICATION + "absences",
        quoted("plan of absences", plans.absences),
        '""',
        'announced absences, such as "15s detach, 20s attach 5", where 5 is the broker in SN.tree',
    )
    attributes: tuple[tuple[str, Value], ...] = key(
        APPLICATION + "attributes",
        quoted("attributes", keys.attributes),
        '""',
        "attributes of each notification, such as \"topic = 'news' and price = 3\"",
    )
    placed: bool = key(
        APPLICATION + "placed",
        TRUTH,
        "false",
        "each notification has the place of its publisher, attributes x and y in m",
    )
    topics: int = key(
        APPLICATION + "topics",
        WHOLE,
        "0",
        "number of topics: each notification has the attribute topic, drawn from 't0', 't1', ...; 0: none is",
        within=Range(0, 65535),
    )
    popularity: float = key(
        APPLICATION + "topicExponent",
        NUMBER,
        "0",
        "exponent of Zipf's law, by which 't0' is drawn most often; 0: all topics are drawn alike",
        within=Range(0, 10),
    )
    burst: int = key(
        APPLICATION + "burst", WHOLE, "1", "notifications that are published at once", within=Range(1, 1000)
    )
    payload: int = key(
        APPLICATION + "payload",
        WHOLE,
        "0",
        "content of each notification beside its attributes",
        "bytes",
        Range(0, MOST_BYTES),
    )


APPLICATION_KEYS = (
    Setting(f"SN.{EVERY_NODE}.ApplicationName", TEXT, None, "the application", choices=("BridgeApplication",)),
    *keys_of(AgentSettings),
    *keys_of(AgentParameters),
    *keys_of(ApplicationSettings),
    Setting(APPLICATION + "applicationID", TEXT, '"bridge"', "Castalia's name for it, which has no effect"),
    Setting(APPLICATION + "collectTraceInfo", TRUTH, "false", "Castalia's own trace, which has no effect here"),
    Setting(APPLICATION + "priority", WHOLE, "1", "Castalia's priority of the application, which has no effect"),
    Setting(
        APPLICATION + "packetHeaderOverhead",
        WHOLE,
        "0",
        "no effect: a message has only its own bytes",
        "bytes",
        choices=(0,),
    ),
    Setting(
        APPLICATION + "constantDataPayload",
        WHOLE,
        "0",
        "no effect: a message has only its own bytes",
        "bytes",
        choices=(0,),
    ),
)


_NODE = f"SN.{EVERY_NODE}."
_RESOURCES = _NODE + "ResourceManager."
_POSITIONING = _NODE + "Positioning."

X = Setting(_NODE + "xCoor", COORDINATE, "0", "where the node starts; uniform(a, b) draws it per node")
Y = Setting(_NODE + "yCoor", COORDINATE, "0", "where the node starts; uniform(a, b) draws it per node")
FAULTS = Setting(
    _NODE + "faults",
    quoted("plan of faults", plans.faults),
    '""',
    'when the node fails, such as "12s crash, 20s recover, 25s freeze"; Castalia ignores it',
)


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """Settings of one node; without a `position` it starts uniformly in the field."""

    position: tuple[float, float] | None = None
    mobility: Mobility = Static()
    tx_power_dbm: float = 0.0
    roles: Role = key(
        APPLICATION + "roles", quoted("roles", keys.roles), '""', "any of publisher, subscriber and broker"
    )
    start_offset: SimTime = key(_NODE + "startupOffset", SECONDS, "0", "when the node boots", within=_FROM_0)
    # Castalia's 50 ms. Nodes that boot at one instant would send their first messages at one instant, and all collide.
    start_spread: SimTime = key(
        _NODE + "startupRandomization",
        SECONDS,
        "0.05",
        "bound of a random time by which it boots later",
        within=_FROM_0,
    )
    # 30 ppm, as crystals of sensor nodes have: at the end of 700 s the clock of a node is off by some 20 ms.
    clock_drift_sigma: float = key(
        _RESOURCES + "sigmaCPUClockDrift",
        NUMBER,
        "0.00003",
        "standard deviation of the drift of the node's clock",
        within=Range(0, 0.1),
    )
    # What Castalia's ResourceManager has for a node's processor and sensors.
    baseline_power_mw: float = key(
        _RESOURCES + "baselineNodePower", NUMBER, "6", "power of the node beside its radio", "mW", Range(0, 1e9)
    )
    # Two AA cells. At 68 mW, in RX all the time, they last for more than three days: no run ends by it unless it is
    # set.
    initial_energy_j: float = key(
        _RESOURCES + "initialEnergy",
        NUMBER,
        "18720",
        "energy in the node's battery; a node with an empty battery is dead",
        "J",
        Range(above=0, at_most=1e9),
    )
    # A battery is found empty up to so much later than it is; to look more often costs an event each time.
    energy_interval: SimTime = key(
        _RESOURCES + "periodicEnergyCalculationInterval",
        MILLISECONDS,
        "1000",
        "time between two checks of the node's battery",
        within=Range(at_least=1),
    )
    has_receiver: bool = key(
        _POSITIONING + "receiver", TRUTH, "true", "the node has a receiver that tells its position; Castalia ignores it"
    )
    position_offset_m: float = key(
        _POSITIONING + "offset", NUMBER, "0", "standard deviation of its constant error, in x and y each", "m", _ERRORS
    )
    position_noise_m: float = key(
        _POSITIONING + "noise", NUMBER, "0", "standard deviation of each fix's error, in x and y each", "m", _ERRORS
    )
    fix_interval: SimTime = key(
        _POSITIONING + "interval", TIME, "0s", "between two fixes; 0s: each event has a fix of its own", within=_FROM_0
    )


KEYS = (
    X,
    Y,
    Setting(_NODE + "zCoor", NUMBER, "0", "height of the node", "m", choices=(0.0,)),
    Setting(_NODE + "phi", NUMBER, "0", "orientation of the node, which has no effect"),
    Setting(_NODE + "theta", NUMBER, "0", "orientation of the node, which has no effect"),
    *keys_of(NodeSettings),
    FAULTS,
    Setting(_RESOURCES + "collectTraceInfo", TRUTH, "false", "Castalia's own trace, which has no effect here"),
)


@dataclass(frozen=True, slots=True)
class ManualTimers:
    """The node's timers are worked by hand from now on."""


@dataclass(frozen=True, slots=True)
class ExpireTimer:
    """The next timer, or a later one by its number from 1, expires now, whenever due."""

    number: int = 1


Handling = ManualTimers | ExpireTimer
