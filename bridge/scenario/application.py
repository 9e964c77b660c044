"""The application of every node, which is the module of ours that hands the node over to its agent.

Castalia reads none of these keys: the host does, from the ini itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from roambus.bridge import keys
from roambus.bridge.keys import (
    EVERY_NODE,
    TEXT,
    TIME,
    TRUTH,
    WHOLE,
    key,
    keys_of,
    quoted,
)
from roambus.bridge.scenario import plans
from roambus.bridge.scenario.plans import Away
from roambus.bridge.scenario.radio import MOST_BYTES
from roambus.python_protocol.filters import Filter, Value
from roambus.python_protocol.settings import Range, Setting
from roambus.python_protocol.simtime import SimTime

APPLICATION = f"SN.{EVERY_NODE}.Application."

_TIME = Range(at_least=0)


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The agent, which is the same on every node."""

    agent: str = key(APPLICATION + "agent", TEXT, '""', "the protocol: its name, module:Class, or file.py[:Class]")
    processing_delay: SimTime = key(
        APPLICATION + "processingDelay", TIME, "0s", "from what an agent is told to what it does", within=_TIME
    )


@dataclass(frozen=True, slots=True)
class AgentParameters:
    """What the agent of one node is set to."""

    parameters: tuple[tuple[str, str], ...] = key(
        APPLICATION + "agentParameters",
        quoted("settings", keys.assignments),
        '""',
        'the agent\'s own parameters, such as "name=value name=value"',
    )


@dataclass(frozen=True, slots=True)
class ApplicationSettings:
    """What the application of a node does with the agent."""

    filters: tuple[Filter, ...] = key(
        APPLICATION + "filter",
        quoted("filters", keys.filters),
        '"all"',
        "what a subscriber subscribes to; several filters have a semicolon between them",
    )
    unicast: bool = key(
        APPLICATION + "unicast", TRUTH, "false", "subscribe to what has the node's own id as attribute destination"
    )
    subscribe_at: SimTime = key(APPLICATION + "subscribeAt", TIME, "0s", "when a subscriber subscribes", within=_TIME)
    publish_interval: SimTime = key(
        APPLICATION + "publishInterval", TIME, "0s", "between publications; 0s means that there are none", within=_TIME
    )
    publish_start: SimTime = key(
        APPLICATION + "publishStart", TIME, "0s", "when the first of these intervals begins", within=_TIME
    )
    publish_until: SimTime = key(
        APPLICATION + "publishUntil", TIME, "1000000s", "from here on nothing is published", within=_TIME
    )
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
    payload: int = key(
        APPLICATION + "payload",
        WHOLE,
        "0",
        "what each notification holds beside its attributes",
        "bytes",
        Range(0, MOST_BYTES),
    )


KEYS = (
    Setting(f"SN.{EVERY_NODE}.ApplicationName", TEXT, None, "the application", choices=("BridgeApplication",)),
    *keys_of(AgentSettings),
    *keys_of(AgentParameters),
    *keys_of(ApplicationSettings),
    Setting(APPLICATION + "applicationID", TEXT, '"bridge"', "Castalia's name for it, which has no effect"),
    Setting(APPLICATION + "collectTraceInfo", TRUTH, "false", "Castalia's own trace, which has no effect here"),
    Setting(APPLICATION + "priority", WHOLE, "1", "Castalia's priority of the application, which has no effect"),
    Setting(APPLICATION + "packetHeaderOverhead", WHOLE, "0", "a message's bytes are all", "bytes", choices=(0,)),
    Setting(APPLICATION + "constantDataPayload", WHOLE, "0", "a message's bytes are all", "bytes", choices=(0,)),
)
