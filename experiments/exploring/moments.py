"""The two times that an agent can be given: `relative time`, and a probe that notices any use.

With relative time a state holds differences of times only, so that a periodic protocol returns to a state. This is
sound only if the agent never depends on a moment itself. So a moment supports only `moment + duration`, `moment -
moment` and comparisons, whose results survive a shift of all moments. Everything else raises ClockError with its line.
"""

from __future__ import annotations

from typing import Any, NoReturn

from roambus.python_protocol.vocabulary import SimTime

NOW: SimTime = 10**15
"""The time of every event with relative time; states are relative to it."""


class ClockError(TypeError):
    """An agent depends on a moment itself, not on differences alone."""


def _refused(what: str) -> Any:
    def refuse(self: Moment, *_: object) -> NoReturn:
        self.note_use()
        raise ClockError(f"with relative time it {what}, which depends on the clock")

    return refuse


class Moment:
    """A moment of which only differences matter."""

    __slots__ = ("at",)

    def __init__(self, at: SimTime) -> None:
        self.at = at

    def note_use(self) -> None:
        """Note that an agent has used it."""

    def __add__(self, duration: object) -> Moment:
        self.note_use()
        if type(duration) is not int:
            raise ClockError(f"with relative time it adds {type(duration).__name__} to a moment: add a duration")
        return type(self)(self.at + duration)

    __radd__ = __add__

    def __sub__(self, other: object) -> Any:
        self.note_use()
        if isinstance(other, Moment):
            return self.at - other.at
        if type(other) is not int:
            raise ClockError(f"with relative time it takes {type(other).__name__} from a moment")
        return type(self)(self.at - other)

    def __lt__(self, other: object) -> bool:
        return self.at < self._other(other)

    def __le__(self, other: object) -> bool:
        return self.at <= self._other(other)

    def __gt__(self, other: object) -> bool:
        return self.at > self._other(other)

    def __ge__(self, other: object) -> bool:
        return self.at >= self._other(other)

    def __eq__(self, other: object) -> bool:
        return other is not None and self.at == self._other(other)

    def __repr__(self) -> str:
        return "a moment"

    def _other(self, other: object) -> SimTime:
        self.note_use()
        if not isinstance(other, Moment):
            raise ClockError(f"with relative time it compares a moment with {other!r}, which depends on the clock")
        return other.at

    __hash__ = _refused("hashes a moment")
    __bool__ = _refused("takes a moment for true or false")
    __int__ = __index__ = _refused("makes an integer of a moment")
    __float__ = __complex__ = _refused("makes a float of a moment")
    __str__ = __format__ = _refused("writes a moment as text")
    __rsub__ = _refused("takes a moment from a number")
    __round__ = __trunc__ = __floor__ = __ceil__ = _refused("rounds a moment")
    __neg__ = __pos__ = __abs__ = __invert__ = _refused("computes with a moment alone")
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _refused("multiplies or divides")
    __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __pow__ = __rpow__ = _refused("divides a moment")
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _refused("shifts a moment")
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _refused("takes bits of a moment")
    __reduce_ex__ = __reduce__ = _refused("copies a moment by itself")

    def __copy__(self) -> Moment:
        return self

    def __deepcopy__(self, _: object) -> Moment:
        return self


class Probe(Moment):
    """A moment that notices any use, and so finds agents that read the clock."""

    __slots__ = ("uses",)

    def __init__(self, at: SimTime, uses: list[bool] | None = None) -> None:
        super().__init__(at)
        self.uses = [] if uses is None else uses

    def note_use(self) -> None:
        """Note that an agent has used it."""
        self.uses.append(True)
