"""The settings of a path loss, and of the one that is Castalia's.

A settings class declares its keys, and names the module that computes the loss
(`roambus.bridge.backends.radio.propagation`). Entry points name the classes (`propagations`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from roambus.bridge.keys import key, keys_of
from roambus.bridge.scenario.radio import CHANNEL, DEVIATION, LEVEL
from roambus.python_protocol.settings import NUMBER, Range, Setting

PREFIX = "SN.propagation."
"""Of the keys that a model of a package has."""


class KeysOfIni(Protocol):
    """The questions of a path loss to an ini; every method raises UserError, with the line of the key."""

    def build(self, settings: type[Any]) -> Any:
        """Return settings with the values of their keys."""

    def file(self, key: Setting) -> Path:
        """Return the file that a key names."""

    def refuse(self, wrong: object, path: str, problem: str) -> None:
        """Report a problem of the key at a path if it is wrong."""


@dataclass(frozen=True, slots=True)
class Propagation:
    """The settings of all path losses: none."""

    MODULE: ClassVar[str]
    """The module that computes it, as `roambus.bridge.backends.radio.propagation` has it."""
    FURTHER_KEYS: ClassVar[tuple[Setting, ...]] = ()
    """Keys beside those of its fields, such as a file's."""

    @classmethod
    def keys(cls) -> tuple[Setting, ...]:
        """Return all keys of the path loss."""
        return (*keys_of(cls), *cls.FURTHER_KEYS)

    @classmethod
    def read(cls, ini: KeysOfIni) -> Self:
        """Return the path loss as the ini has it; raise UserError."""
        built: Self = ini.build(cls)
        return built


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
