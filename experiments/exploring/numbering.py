"""Numbers for values: equal values have one number, so that what is large is compared and kept once only."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value", bound=Hashable)


class Tally:
    """Counts how many values have got a number, in several numberings together."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Numbering(Generic[Value]):
    """Counts different values, from 0."""

    def __init__(self, tally: Tally | None = None) -> None:
        self._tally = tally or Tally()
        self._numbers: dict[Value, int] = {}
        self._values: list[Value] = []

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, number: int) -> Value:
        return self._values[number]

    def number(self, value: Value) -> int:
        """The number of a value, a new one if no equal one has come before."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self._values)
            self._values.append(value)
            self._tally.count += 1
        return number
