"""What is told to an agent whose timers and chance are worked by hand (`roambus.bridge.transcript.by_hand`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HandsOn:
    """From now on the node's timers are worked by hand."""


@dataclass(frozen=True, slots=True)
class Ring:
    """The timer that is due next runs out now, whenever it is due."""


@dataclass(frozen=True, slots=True)
class Picks:
    """The numbers that the draws of the next event pick, in their order."""

    numbers: tuple[int, ...]


Handling = HandsOn | Ring | Picks
