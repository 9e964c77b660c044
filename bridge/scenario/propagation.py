"""The settings of a path loss, and of the one that is Castalia's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from roambus.bridge.keys import key
from roambus.bridge.scenario.model import Model
from roambus.bridge.scenario.radio import CHANNEL, DEVIATION, LEVEL
from roambus.python_protocol.settings import NUMBER, Range

PREFIX = "SN.propagation."
"""Of the keys that a model of a package has."""


@dataclass(frozen=True, slots=True)
class Propagation(Model):
    """The settings of all path losses: none. The module has `roambus.bridge.backends.radio.propagation.interface`."""


@dataclass(frozen=True, slots=True)
class LogDistance(Propagation):
    """Castalia's: a power law of the distance with log-normal shadowing; its ranges keep the reach finite."""

    MODULE: ClassVar[str] = "roambus.bridge.backends.radio.propagation.log_distance"

    path_loss_exponent: float = key(
        CHANNEL + "pathLossExponent", NUMBER, "2.4", "how fast the signal fades", within=Range(0.5, 100)
    )
    pl_d0_db: float = key(CHANNEL + "PLd0", NUMBER, "55", "path loss at the distance d0", "dB", LEVEL)
    d0_m: float = key(CHANNEL + "d0", NUMBER, "1.0", "reference distance of the path loss", "m", Range(0.001, 1e6))
    sigma_db: float = key(CHANNEL + "sigma", NUMBER, "4.0", "standard deviation of the shadowing", "dB", DEVIATION)
    bidirectional_sigma_db: float = key(
        CHANNEL + "bidirectionalSigma",
        NUMBER,
        "1.0",
        "standard deviation of the difference between a pair's two directions",
        "dB",
        DEVIATION,
    )

    def range_m(self, budget_db: float, better_db: float = 0.0) -> float:
        """Return the distance at which a path loss so much better than the mean uses the budget up."""
        spent_db = budget_db - self.pl_d0_db + better_db
        return float(self.d0_m * 10 ** (spent_db / (10 * self.path_loss_exponent)))
