"""A MAC of tests: it refuses every frame for one of two reasons of its own, and follows the faults of its node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from roambus.bridge.backends.radio.engine import compiled
from roambus.bridge.backends.radio.mac.interface import takes
from roambus.bridge.backends.radio.state import FIRST_REASON_OF_MAC, State, release
from roambus.bridge.scenario.mac import MacSettings

REASONS = ("too odd", "too even")


@dataclass(frozen=True, slots=True)
class Picky(MacSettings):
    """Odd nodes are refused for one reason, even ones for the other."""

    MODULE: ClassVar[str] = __name__
    FOLLOWS_FAULTS: ClassVar[bool] = True


@compiled
def accept(s: State, sender: int, frame: int, now: int) -> None:
    """Refuse a frame."""
    if takes(s, sender, frame, now):
        s.frames[frame].refusal = FIRST_REASON_OF_MAC + 1 - sender % 2
    release(s, frame)


@compiled
def receive(s: State, frame: int, arrival: Any, now: int) -> None:
    """Take nothing."""
