"""The states that a search has found: each as bytes, with the state and the step before it.

The way to any state can be told again. Nothing else is kept of a state, so that millions have room.
"""

from __future__ import annotations

from array import array
from struct import Struct

from roambus.experiments.exploring.rules import State

NUMBERS = "I"
"""The type code of all numbers that are kept."""


class Store:
    """Numbers the states in the order in which they are found; the first one is before itself."""

    def __init__(self, width: int) -> None:
        """A state has so many numbers."""
        struct = Struct(f"{width}{NUMBERS}")
        self.width = width
        self.pack = struct.pack
        self._unpack = struct.unpack
        self.numbers: dict[bytes, int] = {}
        self.packed: list[bytes] = []
        self.before = array(NUMBERS)
        self.steps = array(NUMBERS)
        self.depths = array(NUMBERS)

    def __len__(self) -> int:
        return len(self.packed)

    def add(self, packed: bytes, before: int, step: int, depth: int) -> int:
        """Takes a state that is new; returns its number."""
        number = self.numbers[packed] = len(self.packed)
        self.packed.append(packed)
        self.before.append(before)
        self.steps.append(step)
        self.depths.append(depth)
        return number

    def state(self, number: int) -> State:
        """The state of that number."""
        return self._unpack(self.packed[number])

    def number(self, state: State) -> int | None:
        """The number of a state that was found."""
        return self.numbers.get(self.pack(*state))

    def way(self, number: int) -> list[int]:
        """The numbers of the steps from the first state to the one of that number."""
        steps: list[int] = []
        while number:
            steps.append(self.steps[number])
            number = self.before[number]
        return steps[::-1]
