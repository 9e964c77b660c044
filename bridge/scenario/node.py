"""What can differ from node to node: its place, when it boots, its clock, and what it draws beside its radio."""

from __future__ import annotations

from dataclasses import dataclass

from roambus.bridge import keys
from roambus.bridge.keys import (
    COORDINATE,
    EVERY_NODE,
    MILLISECONDS,
    SECONDS,
    TRUTH,
    key,
    keys_of,
    quoted,
)
from roambus.bridge.scenario import plans
from roambus.bridge.scenario.application import APPLICATION
from roambus.bridge.scenario.mobility import Mobility, Static
from roambus.python_protocol.roles import Role
from roambus.python_protocol.settings import NUMBER, Range, Setting
from roambus.python_protocol.simtime import SimTime

_NODE = f"SN.{EVERY_NODE}."
_RESOURCES = _NODE + "ResourceManager."
_BOOT = Range(at_least=0)

X = Setting(_NODE + "xCoor", COORDINATE, "0", "where the node starts; uniform(a, b) draws it per node")
Y = Setting(_NODE + "yCoor", COORDINATE, "0", "where the node starts; uniform(a, b) draws it per node")
FAULTS = Setting(
    _NODE + "faults",
    quoted("plan of faults", plans.faults),
    '""',
    'when the node fails, such as "12s crash, 20s recover, 25s freeze"; Castalia never asks for it',
)


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """What can differ from node to node; without a `position` a node starts anywhere in the field, drawn uniformly."""

    position: tuple[float, float] | None = None
    mobility: Mobility = Static()
    tx_power_dbm: float = 0.0
    roles: Role = key(
        APPLICATION + "roles", quoted("roles", keys.roles), '""', "any of publisher, subscriber and broker"
    )
    start_offset: SimTime = key(_NODE + "startupOffset", SECONDS, "0", "when the node boots", within=_BOOT)
    start_spread: SimTime = key(
        _NODE + "startupRandomization", SECONDS, "0.05", "bound of a random time by which it boots later", within=_BOOT
    )
    clock_drift_sigma: float = key(
        _RESOURCES + "sigmaCPUClockDrift",
        NUMBER,
        "0.00003",
        "standard deviation of the drift of the node's clock",
        within=Range(0, 0.1),
    )
    baseline_power_mw: float = key(
        _RESOURCES + "baselineNodePower", NUMBER, "6", "what the node draws beside its radio", "mW", Range(0, 1e9)
    )
    initial_energy_j: float = key(
        _RESOURCES + "initialEnergy",
        NUMBER,
        "18720",
        "what the node's battery holds; a node whose battery is empty is dead",
        "J",
        Range(above=0, at_most=1e9),
    )
    energy_interval: SimTime = key(
        _RESOURCES + "periodicEnergyCalculationInterval",
        MILLISECONDS,
        "1000",
        "how long a node waits before it looks at its battery again",
        within=Range(at_least=1),
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
