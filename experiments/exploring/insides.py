"""What objects hold: the attributes of one, and the path to something inside."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from types import MethodType
from typing import Any

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
