"""The mobility models, by the name of their manager in the ini."""

from __future__ import annotations

from roambus.bridge.keys import EVERY_NODE, TEXT, TRUTH
from roambus.bridge.mobility import model
from roambus.bridge.mobility.given_way import GivenWay
from roambus.bridge.mobility.line import Line
from roambus.bridge.mobility.model import Mobility
from roambus.bridge.mobility.random_waypoint import RandomWaypoint
from roambus.bridge.mobility.static import Static
from roambus.python_protocol.settings import Setting

MODELS: dict[str, type[Mobility]] = {
    mobility.MANAGER_NAME: mobility for mobility in (Static, Line, RandomWaypoint, GivenWay)
}

MANAGER = Setting(
    f"SN.{EVERY_NODE}.MobilityManagerName",
    TEXT,
    f'"{Static.MANAGER_NAME}"',
    "how the node moves",
    choices=tuple(MODELS),
)

KEYS = (
    MANAGER,
    Setting(model.PREFIX + "collectTraceInfo", TRUTH, "false", "Castalia's own trace, which has no effect here"),
)
"""The keys of every node's mobility."""

MODEL_KEYS: dict[str, tuple[Setting, ...]] = {name: mobility.keys() for name, mobility in MODELS.items()}
"""The further keys of each model."""
