"""What may be shared: on the embedded back-ends all receivers of a frame get one object, which nobody may change.

The class of a message is refused if the type of one of its fields lets somebody change what the field holds, however
deep it lies. A value can be shared if it is a number, a text, bytes, a member of an enumeration, None, a message, or a
tuple, a frozen set, a `NamedTuple` or a frozen dataclass of such values. Type hints bind nobody, so fields also refuse
a value of another type when it is written (`messages.fields`).
"""

from __future__ import annotations

import dataclasses
import typing
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin

_FIXED: tuple[type, ...] = (int, float, complex, str, bytes, NoneType)
_FROZEN_COLLECTIONS = (tuple, frozenset)
_CHANGEABLE: dict[type, str] = {
    list: "tuple[T, ...]",
    set: "frozenset[T]",
    dict: "tuple[tuple[K, V], ...]",
    bytearray: "bytes",
}


def what_can_be_changed(annotation: Any) -> str:
    """What of a field of this type others could change, and what to write instead; empty if nothing."""
    return _search(annotation, set())


def _search(annotation: Any, seen: set[Any]) -> str:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _search(annotation.__origin__, seen)
    if origin in (UnionType, typing.Union) or origin in _FROZEN_COLLECTIONS:
        return _first(get_args(annotation), seen)
    kind = origin or annotation
    if kind is Ellipsis or kind is None:
        return ""
    if not isinstance(kind, type) or kind is Any:
        return f"{annotation} could be anything: write the type"
    return _search_class(kind, annotation if origin else kind.__name__, seen)


def _search_class(cls: Any, name: Any, seen: set[Any]) -> str:
    if cls in seen or hasattr(cls, "as_field") or issubclass(cls, Enum):
        return ""
    seen.add(cls)
    if dataclasses.is_dataclass(cls):
        return _search_dataclass(cls, seen)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _first(typing.get_type_hints(cls, include_extras=True).values(), seen)
    if issubclass(cls, _FIXED + _FROZEN_COLLECTIONS) and not _has_attributes(cls):
        return ""
    advice = f"whoever receives a {name} could change it for everybody else: make it a frozen dataclass"
    return collection_problem(cls, name) or advice


def collection_problem(cls: Any, name: Any) -> str:
    """What to write instead of a list, a set, a dict or a bytearray; empty for every other class."""
    for changeable, instead in _CHANGEABLE.items():
        if issubclass(cls, changeable):
            return f"whoever receives a {name} could change it for everybody else who does: write {instead}"
    return ""


def _search_dataclass(cls: Any, seen: set[Any]) -> str:
    if not cls.__dataclass_params__.frozen:
        name = cls.__name__
        return f"whoever receives a {name} could change it for everybody else: write @dataclass(frozen=True)"
    hints = typing.get_type_hints(cls, include_extras=True)
    return _first((hints[field.name] for field in dataclasses.fields(cls)), seen)


def _has_attributes(cls: type[Any]) -> bool:
    """Whether instances of a subclass of something fixed have attributes, which can be set."""
    return cls.__dictoffset__ != 0


def _first(annotations: typing.Iterable[Any], seen: set[Any]) -> str:
    return next(filter(None, (_search(one, seen) for one in annotations)), "")
