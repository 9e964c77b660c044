"""The wireless channel: log-normal shadowing, which is drawn once for each pair of nodes, or of cells if nodes move."""

from __future__ import annotations

from dataclasses import dataclass

from roambus.bridge.keys import (
    OPTIONAL_FILE,
    TEXT,
    TRUTH,
    key,
    keys_of,
)
from roambus.python_protocol.settings import NUMBER, Range, Setting

CHANNEL = "SN.wirelessChannel."

TEMPORAL_FILE = Setting(
    CHANNEL + "temporalModelParametersFile",
    OPTIONAL_FILE,
    '""',
    "the parameters of Castalia's temporal model, by which links vary in time; without a file they stand still",
)

_CELL = Range(at_least=0.01, at_most=1e6)
_LEVEL = Range(at_least=-300, at_most=300)
_DEVIATION = Range(at_least=0, at_most=100)


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """The wireless channel; the ranges keep the distance beyond which nobody is heard a finite number."""

    only_static_nodes: bool = key(
        CHANNEL + "onlyStaticNodes", TRUTH, "true", "path loss is drawn for each pair of nodes, and not of cells"
    )
    path_loss_exponent: float = key(
        CHANNEL + "pathLossExponent", NUMBER, "2.4", "how fast the signal fades", within=Range(0.5, 100)
    )
    pl_d0_db: float = key(CHANNEL + "PLd0", NUMBER, "55", "path loss at the distance d0", "dB", _LEVEL)
    d0_m: float = key(CHANNEL + "d0", NUMBER, "1.0", "reference distance of the path loss", "m", Range(0.001, 1e6))
    sigma_db: float = key(CHANNEL + "sigma", NUMBER, "4.0", "standard deviation of the shadowing", "dB", _DEVIATION)
    bidirectional_sigma_db: float = key(
        CHANNEL + "bidirectionalSigma",
        NUMBER,
        "1.0",
        "standard deviation of the difference between a pair's two directions",
        "dB",
        _DEVIATION,
    )
    x_cell_m: float = key(CHANNEL + "xCellSize", NUMBER, "5", "width of a cell", "m", _CELL)
    y_cell_m: float = key(CHANNEL + "yCellSize", NUMBER, "5", "height of a cell", "m", _CELL)
    signal_delivery_threshold_dbm: float = key(
        CHANNEL + "signalDeliveryThreshold", NUMBER, "-100", "weakest signal that reaches a radio", "dBm", _LEVEL
    )
    max_tx_power_dbm: float = 0.0
    """Castalia computes the reach of the channel with this power, whatever the radios send with."""


KEYS = (
    Setting(CHANNEL + "collectTraceInfo", TRUTH, "false", "Castalia's own trace, which has no effect here"),
    *keys_of(ChannelSettings),
    Setting(CHANNEL + "zCellSize", NUMBER, "1", "depth of a cell, which has no effect in a flat field", "m"),
    Setting(CHANNEL + "pathLossMapFile", TEXT, '""', "a file of given path losses", choices=("",)),
    TEMPORAL_FILE,
)
