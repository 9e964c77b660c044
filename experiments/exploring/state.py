"""Freezes the state of an agent to a value that can be compared and hashed, and thaws an agent from it.

A frozen state is a tree of tuples. What cannot change is kept as it is. What can, is a tuple that begins with its kind,
and a second occurrence of the same object is its number: parts of an agent share lists, and must share them again.
Dicts keep their order, which an agent may go by; sets are sorted. Instants are relative to now. What can be neither
copied nor compared is refused by its name: "self.overlay.reader is a generator".

What objects hold: the attributes of one, and the path to something inside.

Instants: times that know that they are times, so that states of agents do not depend on when they are reached.

An agent keeps times such as the end of a route's life. Two states that differ only in the clock behave alike, so such a
time has to be seen relative to now. `now` is therefore told as an `Instant`, an integer that stays one when a duration
is added, and gives a plain integer when another instant is taken from it. What an agent has kept is then found by its
type. An agent that does anything else with the absolute time, such as `now % period`, depends on the clock, and cannot
be explored: that raises ClockError.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import fields
from enum import Enum
from random import Random
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

from roambus.bridge.errors import UserError
from roambus.python_protocol.vocabulary import SimTime

_slots: dict[type[Any], tuple[str, ...]] = {}
"""The names of the slots of each class that was met."""
_MISSING = object()
_NOTHING: Mapping[str, Any] = {}


def attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object, whether in slots or not."""
    kind = type(value)
    if kind not in _slots:
        _slots[kind] = tuple(_slots_of(kind))
    for name in _slots[kind]:
        held = getattr(value, name, _MISSING)
        if held is not _MISSING:
            yield name, held
    yield from getattr(value, "__dict__", _NOTHING).items()


def _slots_of(kind: type[Any]) -> Iterator[str]:
    for cls in kind.__mro__:
        slots = vars(cls).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            mangled = f"_{cls.__name__.lstrip('_')}{name}" if name.startswith("__") and name[-2:] != "__" else name
            if mangled not in ("__dict__", "__weakref__"):
                yield mangled


def path_to(wanted: object, held: Iterable[tuple[str, Any]]) -> str:
    """The path to an object, the first one on which it is met from what is held there: "self.queue[0].reader"."""
    waiting, met = [iter(held)], set[int]()
    while waiting:
        for path, value in waiting[-1]:
            if value is wanted:
                return path
            if id(value) not in met:
                met.add(id(value))
                waiting.append(_parts(value, path))
                break
        else:
            waiting.pop()
    raise AssertionError("what is looked for was met before")


def _parts(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, tuple | list | deque):
        yield from ((f"{path}[{place}]", one) for place, one in enumerate(value))
    elif isinstance(value, set | frozenset):
        yield from ((path, one) for one in value)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield path, key
            yield f"{path}[{key!r}]", one
        yield path, getattr(value, "default_factory", None)
    elif isinstance(value, MethodType):
        yield path, value.__self__
    elif not isinstance(value, type):
        yield from ((f"{path}.{name}", one) for name, one in attributes(value))


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


Frozen = Hashable
_VALUES: dict[int, Any] = {}
"""Objects that cannot change, by their identity: agents hold the same few messages, filters and notifications."""
_PLAIN = (int, str, bytes, type(None))
_EXACT = (bool, float, complex)
_FIXED = (Enum, type, BuiltinFunctionType, ModuleType, range)


class CannotFreezeError(UserError):
    """Something in an agent's state can be neither copied nor compared."""


class _UnfreezableError(Exception):
    """An object cannot be frozen; the path to it is looked for when this has come up."""

    def __init__(self, value: object, why: str) -> None:
        super().__init__(why)
        self.value = value


class Freezer:
    """Freezes one agent after the other; `chance` stands for the agent's generator, and is no part of the state."""

    def __init__(self, chance: Random, now: int) -> None:
        """Instants are relative to `now`."""
        self._chance = chance
        self._now = now
        self._numbers: dict[int, int] = {}
        self.met_instants = False
        """Whether an agent kept a moment."""

    def freeze(self, agent: Any, cls: type[Any]) -> Frozen:
        """The state of an agent as one of class `cls`; raises CannotFreezeError."""
        self._numbers = {id(agent): 0}
        kept = list(attributes(agent))
        try:
            return ("object", cls, tuple([(name, self._any(value)) for name, value in kept]))
        except _UnfreezableError as error:
            path = path_to(error.value, ((f"self.{name}", value) for name, value in kept))
            raise CannotFreezeError(f"{path} is {error}") from error

    def number(self, value: object) -> int | None:
        """The number of an object that was met before; another one gets the next number."""
        number = self._numbers.get(id(value))
        if number is None:
            self._numbers[id(value)] = len(self._numbers)
        return number

    def _any(self, value: Any) -> Frozen:
        kind = type(value)
        if kind in _PLAIN:
            return value  # type: ignore[no-any-return]  # an int, a str, bytes or None
        freeze = _FREEZE.get(kind)
        if freeze is None:
            freeze = _FREEZE[kind] = _how(kind)
        return freeze(self, value)

    def _exact(self, value: Any) -> Frozen:
        return (type(value), value)

    def _instant(self, value: Any) -> Frozen:
        self.met_instants = True
        return ("instant", int(value) - self._now)

    def _fixed(self, value: Any) -> Frozen:
        return ("as it is", value)

    def _function(self, value: Any) -> Frozen:
        return self._refuse(value) if value.__closure__ else ("as it is", value)

    def _generator(self, value: Any) -> Frozen:
        if value is not self._chance:
            raise _UnfreezableError(value, "a generator of chance of its own: draw from self.random only")
        return ("chance",)

    def _tuple(self, value: Any) -> Frozen:
        return ("tuple", type(value), tuple([self._any(one) for one in value]))

    def _frozenset(self, value: Any) -> Frozen:
        return ("frozenset", type(value), self._sorted(value))

    def _sorted(self, value: Any) -> Frozen:
        # By their texts, because elements of several types have no order; which order it is does not matter.
        return tuple(sorted((self._any(one) for one in value), key=repr))

    def _list(self, value: Any) -> Frozen:
        return ("list", type(value), tuple([self._any(one) for one in value]), getattr(value, "maxlen", None))

    def _set(self, value: Any) -> Frozen:
        return ("set", type(value), self._sorted(value))

    def _dict(self, value: Any) -> Frozen:
        # In their order: two dicts with other orders are other states, for an agent may go by it. That can keep states
        # apart which behave alike, but never takes two for one that do not.
        items = tuple([(self._any(key), self._any(one)) for key, one in value.items()])
        factory = getattr(value, "default_factory", None)
        return ("dict", type(value), items, None if factory is None else self._any(factory))

    def _bytes(self, value: Any) -> Frozen:
        return ("bytearray", bytes(value))

    def _method(self, value: Any) -> Frozen:
        return ("method", value.__func__.__name__, self._any(value.__self__))

    def _object(self, value: Any) -> Frozen:
        return ("object", type(value), tuple([(name, self._any(one)) for name, one in attributes(value)]))

    def _refuse(self, value: Any) -> Frozen:
        raise _UnfreezableError(value, f"a {type(value).__name__}, which can be neither copied nor compared")


Freeze = Callable[[Freezer, Any], Frozen]
_FREEZE: dict[type[Any], Freeze] = dict.fromkeys(_EXACT, Freezer._exact)
"""How objects of each class that was met are frozen."""
_UNCHANGEABLE: tuple[tuple[Any, Freeze], ...] = (
    (Instant, Freezer._instant),
    (frozenset, Freezer._frozenset),
    (tuple, Freezer._tuple),
    (_FIXED, Freezer._fixed),
    (FunctionType, Freezer._function),
    (Random, Freezer._generator),
)
_COLLECTIONS: tuple[tuple[Any, Freeze], ...] = (
    (dict, Freezer._dict),
    ((list, deque), Freezer._list),
    (set, Freezer._set),
    (bytearray, Freezer._bytes),
    (MethodType, Freezer._method),
)


def _how(kind: type[Any]) -> Freeze:
    """How objects of a class are frozen."""
    freeze = _first(_UNCHANGEABLE, kind)
    if freeze is not None:
        return freeze
    changeable = _once(_first(_COLLECTIONS, kind) or _of_attributes(kind))
    params: Any = getattr(kind, "__dataclass_params__", None)
    return changeable if params is None or not params.frozen else _unless_value(changeable)


def _first(ways: Iterable[tuple[Any, Freeze]], kind: type[Any]) -> Freeze | None:
    return next((freeze for base, freeze in ways if issubclass(kind, base)), None)


def _of_attributes(kind: type[Any]) -> Freeze:
    return Freezer._refuse if issubclass(kind, Iterator) or not _is_plain_object(kind) else Freezer._object


def _once(contents: Freeze) -> Freeze:
    """Freezes the contents of an object where it is met first; elsewhere its number stands for it."""

    def freeze(freezer: Freezer, value: Any) -> Frozen:
        number = freezer.number(value)
        return contents(freezer, value) if number is None else ("again", number)

    return freeze


def _unless_value(changeable: Freeze) -> Freeze:
    """Keeps an object that cannot change as it is; it is then known by its identity, and kept for that."""

    def freeze(freezer: Freezer, value: Any) -> Frozen:
        if id(value) not in _VALUES:
            if not _is_value(value):
                return changeable(freezer, value)
            _VALUES[id(value)] = value  # held, so that no other object ever gets its identity
        return ("as it is", value)

    return freeze


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
