"""Freezes the state of an agent to a value that can be compared and hashed, and thaws an agent from it.

A frozen state is a tree of tuples. What cannot change is kept as it is. What can, is a tuple that begins with its kind,
and a second occurrence of the same object is its number: parts of an agent share lists, and must share them again.
Dicts keep their order, which an agent may go by; sets are sorted. Instants are relative to now. What can be neither
copied nor compared is refused by its name: "self.overlay.reader is a generator".
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import fields
from enum import Enum
from random import Random
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from roambus.bridge.errors import UserError
from roambus.experiments.exploring.instants import NOW, Instant

Frozen = Hashable
_VALUES: dict[int, Any] = {}
"""Objects that cannot change, by their identity: agents hold the same few messages, filters and notifications."""
_PLAIN = (int, str, bytes, type(None))
_EXACT = (bool, float, complex)
_FIXED = (Enum, type, BuiltinFunctionType, ModuleType, range)


class CannotFreezeError(UserError):
    """Something in an agent's state can be neither copied nor compared."""


class Freezer:
    """Freezes one agent after the other; `chance` stands for the agent's generator, and is no part of the state."""

    def __init__(self, chance: Random, now: int, left_out: tuple[str, ...] = ()) -> None:
        """Instants are relative to `now`; attributes of the agent itself that are `left_out` are not looked at."""
        self._chance = chance
        self._now = now
        self._left_out = left_out
        self._numbers: dict[int, int] = {}

    def freeze(self, agent: Any, cls: type[Any]) -> Frozen:
        """The state of an agent as one of class `cls`; raises CannotFreezeError."""
        self._numbers = {id(agent): 0}
        kept = [(name, value) for name, value in attributes(agent) if name not in self._left_out]
        return ("object", cls, tuple((name, self._any(value, f"self.{name}")) for name, value in kept))

    def _any(self, value: Any, path: str) -> Frozen:
        kind = type(value)
        if kind in _PLAIN:
            return value  # type: ignore[no-any-return]  # an int, a str, bytes or None
        if kind in _EXACT:
            return (kind, value)
        if kind is Instant:
            return ("instant", int(value) - self._now)
        if isinstance(value, tuple | frozenset):
            return self._tuple(value, path)
        if isinstance(value, _FIXED) or (kind is FunctionType and not value.__closure__) or self._is_value(value):
            return ("as it is", value)
        return ("chance",) if value is self._chance else self._changeable(value, path)

    def _is_value(self, value: Any) -> bool:
        """Whether an object cannot change; what was found to be so is known by its identity, and kept for that."""
        if id(value) not in _VALUES:
            if not _is_value(value):
                return False
            _VALUES[id(value)] = value
        return True

    def _tuple(self, value: Any, path: str) -> Frozen:
        if isinstance(value, frozenset):
            return ("frozenset", type(value), self._set(value, path))
        items = tuple(self._any(one, f"{path}[{place}]") for place, one in enumerate(value))
        return ("tuple", type(value), items)

    def _set(self, value: Any, path: str) -> Frozen:
        return tuple(sorted((self._any(one, path) for one in value), key=repr))

    def _changeable(self, value: Any, path: str) -> Frozen:
        number = self._numbers.get(id(value))
        if number is not None:
            return ("again", number)
        self._numbers[id(value)] = len(self._numbers)
        for base, freeze in _COLLECTIONS:
            if isinstance(value, base):
                return freeze(self, value, path)
        if isinstance(value, MethodType):
            return ("method", value.__func__.__name__, self._any(value.__self__, path))
        return self._object(value, path)

    def _list(self, value: Any, path: str) -> Frozen:
        items = tuple(self._any(one, f"{path}[{place}]") for place, one in enumerate(value))
        return ("list", type(value), items, getattr(value, "maxlen", None))

    def _changeable_set(self, value: Any, path: str) -> Frozen:
        return ("set", type(value), self._set(value, path))

    def _dict(self, value: Any, path: str) -> Frozen:
        items = tuple((self._any(key, path), self._any(one, f"{path}[{key!r}]")) for key, one in value.items())
        factory = getattr(value, "default_factory", None)
        return ("dict", type(value), items, None if factory is None else self._any(factory, path))

    def _bytes(self, value: Any, _: str) -> Frozen:
        return ("bytearray", bytes(value))

    def _object(self, value: Any, path: str) -> Frozen:
        kind = type(value)
        if isinstance(value, Random):
            raise CannotFreezeError(f"{path} is a generator of chance of its own: draw from self.random only")
        if isinstance(value, Iterator) or not _is_plain_object(kind):
            raise CannotFreezeError(f"{path} is a {kind.__name__}, which can be neither copied nor compared")
        return ("object", kind, tuple((name, self._any(one, f"{path}.{name}")) for name, one in attributes(value)))


_COLLECTIONS: tuple[tuple[Any, Callable[[Freezer, Any, str], Frozen]], ...] = (
    (dict, Freezer._dict),
    (list, Freezer._list),
    (deque, Freezer._list),
    (set, Freezer._changeable_set),
    (bytearray, Freezer._bytes),
)


def attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object, whether in slots or not."""
    for cls in type(value).__mro__:
        slots = vars(cls).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            mangled = f"_{cls.__name__.lstrip('_')}{name}" if name.startswith("__") and name[-2:] != "__" else name
            if mangled not in ("__dict__", "__weakref__") and hasattr(value, mangled):
                yield mangled, getattr(value, mangled)
    yield from getattr(value, "__dict__", {}).items()


def _is_value(value: Any) -> bool:
    """Whether an object is a frozen dataclass, such as a message, that holds nothing which changes or is a moment."""
    how: Any = getattr(type(value), "__dataclass_params__", None)
    if how is None or not how.frozen:
        return False
    return all(_is_fixed(getattr(value, one.name)) for one in fields(value) if one.compare)


def _is_fixed(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(map(_is_fixed, value))
    return type(value) in _PLAIN + _EXACT or isinstance(value, _FIXED) or _is_value(value)


def _is_plain_object(kind: type[Any]) -> bool:
    """Whether all that an object of this class is, is its attributes."""
    return kind.__flags__ & (1 << 9) != 0 and all(
        base is object or base.__flags__ & (1 << 9) != 0 for base in kind.__mro__
    )


class Thawer:
    """Makes agents from frozen states, at the time `NOW`, with one generator of chance."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._made: list[Any] = []

    def thaw(self, frozen: Any) -> Any:
        """An agent that nobody else has."""
        self._made = []
        return self._any(frozen)

    def _any(self, frozen: Any) -> Any:
        return _THAW[frozen[0]](self, frozen) if type(frozen) is tuple else frozen

    def _object(self, frozen: Any) -> Any:
        made = object.__new__(frozen[1])
        self._made.append(made)
        for name, value in frozen[2]:
            object.__setattr__(made, name, self._any(value))
        return made

    def _list(self, frozen: Any) -> Any:
        cls = frozen[1]
        made = cls(maxlen=frozen[3]) if issubclass(cls, deque) else cls.__new__(cls)
        self._made.append(made)
        made.extend(map(self._any, frozen[2]))
        return made

    def _set(self, frozen: Any) -> Any:
        made = frozen[1]()
        self._made.append(made)
        made.update(map(self._any, frozen[2]))
        return made

    def _dict(self, frozen: Any) -> Any:
        cls = frozen[1]
        made = cls.__new__(cls)
        self._made.append(made)
        put = OrderedDict.__setitem__ if issubclass(cls, OrderedDict) else dict.__setitem__
        for key, value in frozen[2]:
            put(made, self._any(key), self._any(value))
        if frozen[3] is not None:
            made.default_factory = self._any(frozen[3])
        return made

    def _tuple(self, frozen: Any) -> Any:
        return tuple.__new__(frozen[1], [self._any(one) for one in frozen[2]])

    def _frozenset(self, frozen: Any) -> Any:
        return frozen[1](self._any(one) for one in frozen[2])

    def _bytes(self, frozen: Any) -> Any:
        self._made.append(bytearray(frozen[1]))
        return self._made[-1]

    def _method(self, frozen: Any) -> Any:
        self._made.append(None)
        place = len(self._made) - 1
        self._made[place] = getattr(self._any(frozen[2]), frozen[1])
        return self._made[place]


_THAW: dict[Any, Callable[[Thawer, Any], Any]] = {
    "instant": lambda _, frozen: Instant(NOW + frozen[1]),
    "chance": lambda thawer, _: thawer._chance,
    "as it is": lambda _, frozen: frozen[1],
    "again": lambda thawer, frozen: thawer._made[frozen[1]],
    "object": Thawer._object,
    "list": Thawer._list,
    "set": Thawer._set,
    "dict": Thawer._dict,
    "tuple": Thawer._tuple,
    "frozenset": Thawer._frozenset,
    "bytearray": Thawer._bytes,
    "method": Thawer._method,
    **{kind: lambda _, frozen: frozen[1] for kind in _EXACT},
}
