"""Copies and compares agents by the standard library's pickle.

The bytes of a pickle are the state: types, signs, insertion orders, subclass attributes and shared references. Three
exceptions go through `persistent_id`: text, bytes, notifications and filters are stored by value; classes, modules and
the agent's generator are the same objects in every copy; with relative time a `Moment` is relative to now. A copy must
have the bytes of its original, but for a set's order, which the verdict names.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from types import FunctionType, ModuleType
from typing import Any

from roambus.bridge.agents import agent_sources
from roambus.bridge.errors import UserError
from roambus.experiments.exploring.moments import ClockError, Moment
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.vocabulary import SimTime

_CLASS, _CHANCE, _MOMENT, _VALUE = range(4)
_VALUES = (Notification, NotificationId, Filter)
"""Our immutable classes: equal values are one object in every copy."""
_ROUNDS = 4
"""After so many copies a state has to be stable."""


class CannotCopyError(UserError):
    """A part of an agent's state cannot be copied."""


class Copier:
    """Turns agents into bytes and back; all agents share one generator, `chance`."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.texts: dict[str | bytes, str | bytes] = {}
        self.fixed: list[Any] = []
        """Classes and modules, which are the same in every copy."""
        self.fixed_numbers: dict[int, int] = {}
        self.values: list[Any] = []
        self._value_numbers: dict[tuple[type[Any], str], int] = {}
        self._known_values: dict[int, tuple[Any, int]] = {}
        """The number of each value by identity; the value is held for that."""
        self._stable: dict[bytes, bytes] = {}
        """The state of the copy of each state."""
        self.met_moments = False
        """Whether a moment was stored."""

    def encode(self, value: object, now: SimTime | None = None) -> bytes:
        """Return the state of an object; raises pickle's errors.

        Raises ClockError for a moment without `now`.
        """
        buffer = io.BytesIO()
        _Encoder(buffer, self, now).dump(value)
        return buffer.getvalue()

    def value_number(self, value: Any) -> int:
        """Return the number of a value; its text separates 1, 1.0 and True."""
        known = self._known_values.get(id(value))
        if known is not None:
            return known[1]
        number = self._value_numbers.setdefault((type(value), repr(value)), len(self.values))
        if number == len(self.values):
            self.values.append(value)
        self._known_values[id(value)] = value, number
        return number

    def decode(self, data: bytes, now: SimTime) -> Any:
        """Return a new object in that state."""
        return _Decoder(io.BytesIO(data), self, now).load()

    def encode_stable(self, value: object, now: SimTime, narrowed: set[str]) -> bytes:
        """Return a state that a copy reproduces; raises CannotCopyError with the path of the refused part."""
        try:
            first = data = self.encode(value, now)
            if first in self._stable:
                return self._stable[first]
            for _ in range(_ROUNDS):
                again = self.encode(self.decode(data, now), now)
                if again == data:
                    self._stable[first] = data
                    return data
                narrowed.add("sets in the order of their copies")
                data = again
        except (UserError, KeyboardInterrupt):
            raise
        except Exception as error:
            path, why = self._path_to_refused(value, error)
            raise CannotCopyError(f"{path} is {why}") from error
        raise CannotCopyError(f"the state of {type(value).__name__} changes whenever it is copied")

    def _path_to_refused(self, value: object, error: Exception) -> tuple[str, str]:
        """Return the path of the innermost refused part, and the reason."""
        path, at, met = "self", value, {id(value)}
        while True:
            for step, part in parts(at):
                if id(part) in met or self._can_encode(part):
                    continue
                met.add(id(part))
                path, at = path + step, part
                break
            else:
                return path, _description(at, error)

    def _can_encode(self, value: object) -> bool:
        try:
            self.encode(value, 0)
        except Exception:  # whatever the classes of an author's own raise
            return False
        return True


def _description(value: object, error: Exception) -> str:
    if isinstance(value, Random) or type(value).__module__.startswith("numpy.random"):
        return "a generator of its own: draw from self.random only"
    if isinstance(value, FunctionType):
        return f"the function {value.__qualname__}, which cannot be copied: name a method, or a function of a module"
    return f"a {type(value).__name__}, which cannot be copied ({error})"


def parts(value: object) -> Iterator[tuple[str, Any]]:
    """Yield the parts of an object, each with the text of its access."""
    yield from _elements(value)
    if isinstance(value, type | ModuleType | FunctionType):
        return
    for cls in type(value).__mro__:
        slots = vars(cls).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            name = f"_{cls.__name__.lstrip('_')}{name}" if name.startswith("__") and name[-2:] != "__" else name  # noqa: PLW2901
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                yield f".{name}", getattr(value, name)
    yield from ((f".{name}", one) for name, one in list(getattr(value, "__dict__", {}).items()))


def _elements(value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, one in list(value.items()):
            yield f"[{key!r}]", key
            yield f"[{key!r}]", one
    elif isinstance(value, list | tuple | deque):
        yield from ((f"[{place}]", one) for place, one in enumerate(value))
    elif isinstance(value, set | frozenset):
        yield from (("", one) for one in value)


class _Encoder(pickle.Pickler):
    def __init__(self, buffer: io.BytesIO, copier: Copier, now: SimTime | None) -> None:
        super().__init__(buffer, 5)
        self._copier = copier
        self._now = now

    def persistent_id(self, value: Any) -> Any:  # noqa: PLR0911  # a kind of object a line
        kind = type(value)
        if kind is str or kind is bytes:
            return self._copier.texts.setdefault(value, value)
        if kind is int or kind is tuple or kind is dict or value is None:
            return None  # nearly all objects
        if kind in _VALUES:
            return (_VALUE, self._copier.value_number(value))
        if isinstance(value, type | ModuleType):
            return self._fixed(value)
        if isinstance(value, Moment):
            return self._moment(value)
        if isinstance(value, Random) or kind.__module__.startswith("numpy.random"):
            if value is not self._copier.chance:
                raise pickle.PicklingError("a generator of its own")
            return (_CHANCE, 0)
        return None

    def _fixed(self, value: Any) -> tuple[int, int]:
        copier = self._copier
        number = copier.fixed_numbers.setdefault(id(value), len(copier.fixed))
        if number == len(copier.fixed):
            copier.fixed.append(value)
        return (_CLASS, number)

    def _moment(self, value: Moment) -> tuple[int, int]:
        value.note_use()
        self._copier.met_moments = True
        if self._now is None:
            raise ClockError("with relative time it puts a moment into a message, a delivery or a timer's key")
        return (_MOMENT, value.at - self._now)


class _Decoder(pickle.Unpickler):
    def __init__(self, buffer: io.BytesIO, copier: Copier, now: SimTime) -> None:
        super().__init__(buffer)
        self._copier = copier
        self._now = now

    def persistent_load(self, pid: Any) -> Any:
        if type(pid) is not tuple:
            return pid
        kind, number = pid
        if kind == _CLASS:
            return self._copier.fixed[number]
        if kind == _VALUE:
            return self._copier.values[number]
        return self._copier.chance if kind == _CHANCE else Moment(self._now + number)


_MADE = ("handlers", "timer_handlers", "messages", "parameters_type")
"""Attributes of agents' classes that no agent changes."""


class Surroundings:
    """Detects changes of an agent's classes and modules: the search cannot hold such state.

    It checks the agent's modules except those of roambus, their classes, and the defaults and closures of functions.
    """

    def __init__(self, agent_class: type[Any], copier: Copier) -> None:
        self._copier = copier
        bases = [cls for cls in agent_class.__mro__ if cls is not object and hasattr(cls, "handle")]
        files = {file.resolve() for cls in bases for file in agent_sources(cls)}
        modules = [one for one in sys.modules.values() if _file_of(one) in files]
        beside = [one for module in modules for one in vars(module).values() if isinstance(one, ModuleType)]
        beside += [sys.modules[name] for module in modules for name in _origins(module) if name in sys.modules]
        theirs = [one for one in {*modules, *beside} if _is_theirs(one)]
        self._spaces: list[tuple[str, ModuleType | type]] = [(one.__name__, one) for one in sorted(theirs, key=_name)]
        names = {name for name, _ in self._spaces}
        for name, module in list(self._spaces):
            classes = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ in names]
            self._spaces += [(f"{name}.{cls.__qualname__}", cls) for cls in classes]
        self._before = self._look()

    def change(self) -> str | None:
        """Return a name that has changed since the last call."""
        if not self._spaces:
            return None
        now, before = self._look(), self._before
        self._before = now
        if now == before:
            return None
        return next(name for name in (*now, *before) if now.get(name) != before.get(name))

    def _look(self) -> dict[str, object]:
        return {
            f"{space}.{name}": self._state_of(value)
            for space, holder in self._spaces
            for name, value in list(vars(holder).items())
            if not name.startswith("__") and name not in _MADE
        }

    def _state_of(self, value: Any) -> object:
        value = named = getattr(value, "__func__", value)
        if isinstance(value, FunctionType):
            cells = [one.cell_contents for one in value.__closure__ or () if _is_filled(one)]
            value = (value.__defaults__, value.__kwdefaults__, value.__dict__, cells)
            if value == (None, None, {}, []):
                return None
        if isinstance(value, type | ModuleType):
            return id(value)
        try:
            return self._copier.encode(value, 0)
        except Exception:  # an object that cannot be copied is compared by its identity
            return id(named)


def _name(module: ModuleType) -> str:
    return module.__name__


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # an empty cell raises
    except ValueError:
        return False
    return True


def _origins(module: ModuleType) -> Iterable[str]:
    """The modules from which a module has imported anything."""
    return {getattr(one, "__module__", None) or "" for one in vars(module).values()}


def _file_of(module: Any) -> Path | None:
    name = getattr(module, "__file__", None)
    return Path(name).resolve() if isinstance(name, str) else None


def _is_theirs(module: ModuleType) -> bool:
    """Whether a module is neither ours, nor Python's, nor an installed library's."""
    file = _file_of(module)
    if file is None or module.__name__.startswith("roambus."):
        return False
    return not any(part in ("site-packages", "dist-packages") or part.startswith("python3") for part in file.parts)
