"""The two times that an agent can be given: `relative time`, and a probe that notices any use.

With relative time a state holds differences of times only, so that a periodic protocol returns to a state. This is
sound only if the agent never depends on a moment itself. So a moment supports only `moment + duration`, `moment -
moment` and comparisons, whose results survive a shift of all moments. Everything else raises ClockError with its line.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from roambus.python_protocol.simtime import SimTime

NOW: SimTime = 10**15
"""The time of every event with relative time; states are relative to it."""


class ClockError(TypeError):
    """An agent depends on a moment itself, not on differences alone."""

    _last: ClassVar[ClockError | None] = None

    def __init__(self, what: str) -> None:
        super().__init__(f"with relative time it {what}")
        ClockError._last = self

    @classmethod
    def take(cls) -> ClockError | None:
        """Return the last error since the last call, which an agent may have caught."""
        last, cls._last = cls._last, None
        return last


class Moment:  # noqa: PLW1641  # hashes are refused, with the other special methods
    """A moment of which only differences matter."""

    __slots__ = ("at",)

    def __init__(self, at: SimTime) -> None:
        self.at = at

    def note_use(self) -> None:
        """Note that an agent has used it."""

    def __add__(self, duration: object) -> Moment:
        self.note_use()
        if type(duration) is not int:
            raise ClockError(f"adds {type(duration).__name__} to a moment: add a duration")
        return type(self)(self.at + duration)

    __radd__ = __add__

    def __sub__(self, other: object) -> Any:
        self.note_use()
        if isinstance(other, Moment):
            return self.at - other.at
        if type(other) is not int:
            raise ClockError(f"takes {type(other).__name__} from a moment")
        return type(self)(self.at - other)

    def __eq__(self, other: object) -> bool:
        return other is not None and self._compare(operator.eq, other)

    def _compare(self, compare: Callable[[Any, Any], bool], other: object) -> bool:
        self.note_use()
        if not isinstance(other, Moment):
            raise ClockError(f"compares a moment with a {type(other).__name__}, which depends on the clock")
        return compare(self.at, other.at)

    def __copy__(self, _: object = None) -> Moment:
        return self

    __deepcopy__ = __copy__


def _refused(what: str) -> Any:
    def refuse(self: Moment, *_: object) -> NoReturn:
        self.note_use()
        raise ClockError(f"{what}, which depends on the clock")

    return refuse


def _compared(compare: Callable[[Any, Any], bool]) -> Any:
    return lambda self, other: self._compare(compare, other)


_REFUSED = {
    "hashes a moment": "hash",
    "takes a moment for true or false": "bool",
    "makes an integer of a moment": "int index",
    "makes a float of a moment": "float complex",
    "writes a moment as text": "str repr format",
    "takes a moment from a number": "rsub",
    "rounds a moment": "round trunc floor ceil",
    "computes with a moment alone": "neg pos abs invert",
    "multiplies or divides": "mul rmul truediv rtruediv floordiv rfloordiv",
    "divides a moment": "mod rmod divmod rdivmod pow rpow",
    "shifts a moment": "lshift rlshift rshift rrshift",
    "takes bits of a moment": "and rand or ror xor rxor",
    "copies a moment by itself": "reduce reduce_ex",
}
"""Special methods that are refused, by the verb of the error."""

for _what, _names in _REFUSED.items():
    for _name in _names.split():
        setattr(Moment, f"__{_name}__", _refused(_what))
for _compare in (operator.lt, operator.le, operator.gt, operator.ge):
    setattr(Moment, f"__{_compare.__name__}__", _compared(_compare))


class Probe(Moment):
    """A moment that notices any use, and so finds agents that read the clock."""

    __slots__ = ("is_used",)

    def __init__(self, at: SimTime) -> None:
        super().__init__(at)
        self.is_used = False

    def note_use(self) -> None:
        """Note that an agent has used it."""
        self.is_used = True
