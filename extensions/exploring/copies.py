"""Copies and compares agents by the standard library's pickle.

The bytes of a pickle are the state: types, signs, insertion orders, subclass attributes and shared references. Three
exceptions go through `persistent_id`: text, bytes, notifications and filters are stored by value; classes, modules,
what these hold, and the agent's generator are the same objects in every copy; with relative time a `Moment` is relative
to now. A copy must have the bytes of its original.

A set is filled again when it is copied, which can change its order, and the next copy changes it back. So the stored
bytes are those whose copy has the original's order. Where no bytes have, the verdict names it.
"""

from __future__ import annotations

import io
import pickle
import sys
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from random import Random
from types import FunctionType, ModuleType
from typing import Any, Generic, TypeVar

from roambus.bridge.system.errors import UserError
from roambus.extensions.exploring.moments import ClockError, Moment
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.simtime import SimTime

Value = TypeVar("Value")


class Numbering(Generic[Value]):
    """Gives different values different numbers, from 0; `key` tells them apart."""

    def __init__(self, key: Callable[[Any], Hashable] = lambda value: value) -> None:
        self._key = key
        self._numbers: dict[Hashable, int] = {}
        self._values: list[Value] = []

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, number: int) -> Value:
        return self._values[number]

    def number(self, value: Value) -> int:
        """Return the number of a value."""
        number = self._numbers.setdefault(self._key(value), len(self._values))
        if number == len(self._values):
            self._values.append(value)
        return number


_FIXED, _CHANCE, _MOMENT, _VALUE = range(4)
VALUES = (Notification, NotificationId, Filter)
"""Our immutable classes: equal values are one object in every copy."""
_MOST_COPIES = 200
"""After so many copies of copies a state has to come again: sets of few orders each may all have to be back."""


class _Pickler(pickle.Pickler):
    """Python 3.13.0 lets `persistent_id` be set on instances of a subclass only."""


class _Unpickler(pickle.Unpickler):
    """The same for `persistent_load`."""


class Copier:
    """Turns agents into bytes and back; all agents share one generator, `chance`."""

    def __init__(self, chance: Random, shared: Iterable[object] = ()) -> None:
        self.chance = chance
        self._texts: dict[str | bytes, str | bytes] = {}
        self._fixed: Numbering[Any] = Numbering(id)
        """Classes and modules, which are the same in every copy."""
        self._values: Numbering[Any] = Numbering(lambda value: (type(value), repr(value)))
        """The text separates 1, 1.0 and True."""
        self._known: dict[int, tuple[Any, int]] = {}
        """Each value and its number by identity; the value is held for that."""
        self._shared = {id(value): value for value in shared}
        """What all nodes of a run share, which is the same object in every copy."""
        self._stable: dict[bytes, bytes] = {}
        """The stored bytes of each state."""
        self.met_moments = False
        """Whether a moment was stored."""

    def encode(self, value: object, now: SimTime | None = None) -> bytes:
        """Return the state of an object; raises pickle's errors.

        Raises ClockError for a moment without `now`.
        """
        buffer = io.BytesIO()
        pickler: Any = _Pickler(buffer, 5)
        pickler.persistent_id = partial(self._identify, now)
        pickler.dump(value)
        return buffer.getvalue()

    def decode(self, data: bytes, now: SimTime) -> Any:
        """Return a new object in that state."""
        unpickler: Any = _Unpickler(io.BytesIO(data))  # our own bytes
        unpickler.persistent_load = partial(self._find, now)
        return unpickler.load()

    def _identify(self, now: SimTime | None, value: Any) -> Any:
        """Return what is stored of an object in place of its pickle; None for its pickle."""
        kind = type(value)
        if kind is str or kind is bytes:
            return self._texts.setdefault(value, value)
        if kind is int or kind is tuple or value is None or (kind is dict and id(value) not in self._shared):
            return None  # nearly all objects
        return self._identify_rare(now, value, kind)

    def _identify_rare(self, now: SimTime | None, value: Any, kind: type[Any]) -> Any:
        if kind in VALUES:
            known = self._known.get(id(value))
            return _VALUE, (known or self._known.setdefault(id(value), (value, self._values.number(value))))[1]
        if isinstance(value, type | ModuleType) or id(value) in self._shared:
            return _FIXED, self._fixed.number(value)
        if isinstance(value, Moment):
            value.note_use()
            self.met_moments = True
            if now is None:
                raise ClockError("puts a moment into a message, a delivery or a timer's key")
            return _MOMENT, value.at - now
        if _is_generator(value) and value is not self.chance:
            raise pickle.PicklingError("a generator of its own")
        return (_CHANCE, 0) if value is self.chance else None

    def _find(self, now: SimTime, stored: Any) -> Any:
        """Return the object of which this was stored."""
        if type(stored) is not tuple:
            return stored
        kind, number = stored
        if kind == _MOMENT:
            return Moment(now + number)
        if kind == _CHANCE:
            return self.chance
        return (self._values if kind == _VALUE else self._fixed)[number]

    def encode_stable(self, value: object, now: SimTime, narrowed: set[str]) -> bytes:
        """Return bytes whose copy is in this state; raises UserError with the path of the refused part."""
        try:
            first = self.encode(value, now)
            if first not in self._stable:
                self._stable[first] = self._before_copy(first, now, narrowed)
            return self._stable[first]
        except (UserError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise UserError(f"{self._refused(value, error)}") from error

    def _before_copy(self, first: bytes, now: SimTime, narrowed: set[str]) -> bytes:
        """Return the bytes whose copy has those bytes, or the nearest bytes that come again."""
        found = [first]
        while (after := self.encode(self.decode(found[-1], now), now)) not in found:
            if len(found) == _MOST_COPIES:
                raise UserError("its state changes whenever it is copied")
            found.append(after)
        if after != first:
            narrowed.add("sets in the order of their copies")
        return found[-1]

    def _refused(self, value: object, error: Exception) -> str:
        """Return the path of the innermost refused part, and the reason."""
        path, met = "self", {id(value)}
        while True:
            inner = ((step, part) for step, part in parts(value) if id(part) not in met and not self._can_encode(part))
            step, part = next(inner, ("", None))
            if not step:
                return f"{path} is {_description(value, error)}"
            met.add(id(part))
            path, value = path + step, part

    def _can_encode(self, value: object) -> bool:
        try:
            self.encode(value, 0)
        except Exception:  # whatever the classes of an author's own raise
            return False
        return True


def _description(value: object, error: Exception) -> str:
    if _is_generator(value):
        return "a generator of its own: draw from self.random only"
    if type(value) is FunctionType:
        return f"the function {value.__qualname__}, which cannot be copied: name a method, or a function of a module"
    return f"a {type(value).__name__}, which cannot be copied ({error})"


def _is_generator(value: object) -> bool:
    return issubclass(type(value), Random) or type(value).__module__.startswith("numpy.random")


def parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of an object, each with the text of its access; a weak proxy has none of its own."""
    if type(value) in weakref.ProxyTypes:  # whatever it is asked, its object answers, or nobody
        return
    if isinstance(value, Mapping):
        yield from (
            (f"[{key!r}]", part) for pair in list(value.items()) for key, part in ((pair[0], part) for part in pair)
        )
    elif isinstance(value, list | tuple | deque | set | frozenset):
        yield from ((f"[{place}]", part) for place, part in enumerate(value))
    if not isinstance(value, type | ModuleType | FunctionType):
        state = object.__getstate__(value)  # the attributes, and those in slots
        for attributes in state if isinstance(state, tuple) else (state,):
            yield from ((f".{name}", part) for name, part in list((attributes or {}).items()))


def shared_by(agent_class: type[Any]) -> Iterator[object]:
    """Yield the objects that the modules and classes of an agent hold, such as a sentinel or a registry."""
    for name in dict.fromkeys(cls.__module__ for cls in agent_class.__mro__):
        for value in list(vars(sys.modules[name]).values()):
            yield value
            if isinstance(value, type) and value.__module__ == name:
                yield from list(vars(value).values())
