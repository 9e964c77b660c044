"""The mobility models, by the name of their manager in the ini: the entry points `roambus.mobilities`."""

from __future__ import annotations

from roambus.bridge.keys import EVERY_NODE, TEXT, TRUTH
from roambus.bridge.mobility import model
from roambus.bridge.mobility.model import Mobility
from roambus.bridge.system.code import MOBILITIES, classes
from roambus.python_protocol.settings import Setting

MODELS = classes(MOBILITIES, Mobility)

MANAGER = Setting(
    f"SN.{EVERY_NODE}.MobilityManagerName",
    TEXT,
    '"NoMobilityManager"',
    "how the node moves",
    choices=tuple(sorted(MODELS)),
)

KEYS = (
    MANAGER,
    Setting(model.PREFIX + "collectTraceInfo", TRUTH, "false", "Castalia's own trace, which has no effect here"),
)
"""The keys of every node's mobility."""

MODEL_KEYS: dict[str, tuple[Setting, ...]] = {name: mobility.keys() for name, mobility in MODELS.items()}
"""The further keys of each model."""
