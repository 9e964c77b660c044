"""Makes values for the fields of messages, from the types that the fields are declared with.

The values are drawn from a generator with a seed, so that a finding comes again. They are made here, and not by
hypothesis, because users have no need of that package to run roambus, and because the types say all that is needed: the
width of a number, the class of a record. Bounds are drawn more often than what lies between them.
"""

from __future__ import annotations

import dataclasses
import struct
import typing
from collections.abc import Sequence
from enum import Enum
from functools import cache
from random import Random
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin

from roambus.python_protocol.messages.fields import Integer, Maybe
from roambus.python_protocol.messages.message import Message, MessageSet

DEEPEST = 2
"""So deep a generated message carries others, less than `messages.bytes.MAX_NESTING`."""
_TEXTS = ("", "a", "topic", "ä€😀", "0" * 255, "01101", "x y\n'z'")
_REALS = (0.0, -0.0, 1.5, -1e300, 5e-324, float("inf"), float("-inf"), float("nan"))
_WHOLE = (0, 1, 2, 9, 255)
"""For numbers whose width the type does not tell, because their class writes them itself."""


class UnknownTypeError(TypeError):
    """No value can be made for this type."""


class Generator:
    """Makes messages of a set, and values of the types of their fields; raises UnknownTypeError."""

    def __init__(self, messages: MessageSet, random: Random) -> None:
        self._classes = list(messages)
        self._random = random

    def message(self, cls: type[Message], depth: int = 0) -> Message:
        """A message of this class; raises what its class raises for values that it does not take."""
        return cls(**self._fields(cls, depth))

    def value(self, annotation: Any, depth: int) -> Any:
        """A value of a type."""
        origin = get_origin(annotation)
        if origin is Annotated:
            return self._annotated(annotation, depth)
        if origin in (UnionType, typing.Union):
            return self._one_of(get_args(annotation), depth)
        if origin in (tuple, frozenset):
            return origin(self._several(get_args(annotation), depth))
        if isinstance(annotation, type):
            return self._of_class(annotation, depth)
        raise UnknownTypeError(f"{annotation}")

    def _annotated(self, annotation: Any, depth: int) -> Any:
        for one in annotation.__metadata__:
            if isinstance(one, Integer) and get_origin(annotation.__origin__) is not tuple:  # there it is the count
                return self._integer(one.code)
            if isinstance(one, Maybe):
                number = self._integer(one.kind.code)
                return None if number == one.none else number
        return self.value(annotation.__origin__, depth)

    def _integer(self, code: str) -> int:
        bits = 8 * struct.calcsize(f"!{code}")
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if code.islower() else (0, 2**bits - 1)
        return self._random.choice((low, high, max(low, 1), self._random.randint(low, high)))

    def _one_of(self, kinds: Sequence[Any], depth: int) -> Any:
        return self.value(self._random.choice(kinds), depth)

    def _several(self, kinds: Sequence[Any], depth: int) -> list[Any]:
        if len(kinds) == 2 and kinds[1] is not Ellipsis:
            return [self.value(kind, depth) for kind in kinds]
        return [self.value(kinds[0], depth) for _ in range(self._random.choice((0, 1, 2, 3)))]

    def _of_class(self, cls: Any, depth: int) -> Any:
        if cls is NoneType:
            return None
        if issubclass(cls, Message):
            return self._inner(cls, depth + 1)
        if issubclass(cls, Enum):
            return self._random.choice(list(cls))
        if dataclasses.is_dataclass(cls) or hasattr(cls, "_fields"):
            return cls(**self._fields(cls, depth))
        return self._plain(cls)

    def _plain(self, cls: type[Any]) -> Any:
        if cls is bool:
            return self._random.random() < 0.5
        if cls is str:
            return self._random.choice(_TEXTS)
        if cls is bytes:
            return self._random.randbytes(self._random.choice((0, 1, 8, 255)))
        if cls is float:
            return self._random.choice(_REALS)
        if cls is int:
            return self._random.choice(_WHOLE)
        raise UnknownTypeError(cls.__name__)

    def _inner(self, cls: type[Message], depth: int) -> Message:
        kinds = [one for one in self._classes if issubclass(one, cls)]
        if depth >= DEEPEST:
            kinds = [one for one in kinds if not _carries_messages(one)]
        if not kinds:
            raise UnknownTypeError(f"no message can stand in a field of type {cls.__name__}")
        return self.message(self._random.choice(kinds), depth)

    def _fields(self, cls: Any, depth: int) -> dict[str, Any]:
        return {name: self.value(kind, depth) for name, kind in _types(cls)}


@cache
def _types(cls: Any) -> tuple[tuple[str, Any], ...]:
    """The fields that a class is made with, each with its type."""
    hints = typing.get_type_hints(cls, include_extras=True)
    if not dataclasses.is_dataclass(cls):
        return tuple((name, hints[name]) for name in cls._fields)
    return tuple((one.name, hints[one.name]) for one in dataclasses.fields(cls) if one.init)


@cache
def _carries_messages(cls: type[Message]) -> bool:
    return any("Message" in str(kind) or _holds(kind) for kind in typing.get_type_hints(cls).values())


def _holds(kind: Any) -> bool:
    parts = get_args(kind) or (kind,)
    return any(
        (isinstance(part, type) and issubclass(part, Message)) or (get_args(part) and _holds(part)) for part in parts
    )
