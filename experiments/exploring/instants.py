"""Instants: times that know that they are times, so that states of agents do not depend on when they are reached.

An agent keeps times such as the end of a route's life. Two states that differ only in the clock behave alike, so such a
time has to be seen relative to now. `now` is therefore told as an `Instant`, an integer that stays one when a duration
is added, and gives a plain integer when another instant is taken from it. What an agent has kept is then found by its
type. An agent that does anything else with the absolute time, such as `now % period`, depends on the clock, and cannot
be explored: that raises ClockError.
"""

from __future__ import annotations

from typing import Any, NoReturn

from roambus.python_protocol.simtime import SimTime

NOW: SimTime = 10**15
"""The time at which every event is told: states are stored relative to it."""


class ClockError(TypeError):
    """An agent does something with a moment that depends on the clock."""


class Instant(int):
    """A moment, in nanoseconds."""

    __slots__ = ()

    def __add__(self, other: int) -> Instant:
        if isinstance(other, Instant):
            raise ClockError("two moments are added: only a duration can be added to a moment")
        return Instant(int(self) + other)

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        rest = int(self) - int(other)
        return rest if isinstance(other, Instant) else Instant(rest)

    def __rsub__(self, other: int) -> NoReturn:
        raise ClockError(f"a moment is taken from {other}, which is none: the difference depends on the clock")

    def _refuse(self, *_: Any) -> NoReturn:
        raise ClockError("it computes with the absolute time, so what it does depends on the clock")

    __mul__ = __rmul__ = __floordiv__ = __truediv__ = __mod__ = __divmod__ = __neg__ = __float__ = _refuse
