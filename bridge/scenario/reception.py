"""The settings of a radio's reception, which also has the airtime, and of the one that is Castalia's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from roambus.bridge.scenario.model import Model

PREFIX = "SN.radio."
"""Of the keys of a package's reception."""


@dataclass(frozen=True, slots=True)
class Reception(Model):
    """The settings of all receptions: none. The module has `roambus.bridge.backends.radio.reception.interface`."""


@dataclass(frozen=True, slots=True)
class BitErrors(Reception):
    """Castalia's: bits are wrong by the ratio of the signal to noise and interference; its keys are the radio's."""

    MODULE: ClassVar[str] = "roambus.bridge.backends.radio.reception.bit_errors"
