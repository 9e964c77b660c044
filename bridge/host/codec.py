"""Checks that a message passed as an object equals the one its bytes give on a socket.

Embedded back-ends pass the agent's object, which would hide a forgotten field in `write`, swapped ones in `read`, or an
undeclared message, with wrong sizes on the air. So the first messages of each type, then one in so many (or all, with
`everything`), are read back and compared.
"""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from roambus.python_protocol.agent import Agent
from roambus.python_protocol.messages.message import Message

FIRST = 4
"""First messages of each type to compare: a mistake shows in nearly every message."""
EVERY = 512
"""Of later messages, one in so many is compared: it finds rare mistakes at almost no cost."""
LONGEST = 200
"""Characters shown of a differing value."""


class CodecError(Exception):
    """A message differs from its bytes; the text names agent, type, field, file and line."""


class CodecCheck:
    """Compares the messages of one run with their bytes."""

    def __init__(self, agent_class: type[Agent], *, everything: bool = False) -> None:
        self._agent_class = agent_class
        self._name = agent_class.__name__
        self._every = 1 if everything else EVERY
        self._numbers: dict[type[Message], int] = {}
        """For each type, the number of the next message to compare."""
        self.uncompared: dict[type[Message], int] = {}
        """Messages of each type before the next comparison."""

    def compared_size(self, message: Message) -> int:
        """The size of a message due for comparison; raises CodecError, ValueError.

        Counting, not a host generator, selects it, so that mistakes repeat.
        """
        data, kind = message.encode(), type(message)
        number = self._numbers.get(kind, 0)
        following = number + 1 if number + 1 < FIRST else (number // self._every + 1) * self._every
        self._numbers[kind], self.uncompared[kind] = following, following - number - 1
        self.compare(message, data)
        return len(data)

    def compare(self, message: Message, data: bytes) -> None:
        """Raise CodecError unless the bytes read back as this message."""
        read = self._decode(message, data)
        if type(read) is not type(message):
            raise self._wrong(message, f"it is read as a {read.message_type}, for both have the tag {message.tag}")
        if field := _difference(message, read):
            raise self._wrong(
                message, f"{field} from its {len(data)} bytes: read must consume exactly the bytes that write appends"
            )
        if (again := read.encode()) != data:
            raise self._wrong(
                message,
                f"it has {len(data)} bytes, but reading and writing them again gives {len(again)} others: "
                f"read must consume exactly the bytes that write appends",
            )

    def _decode(self, message: Message, data: bytes) -> Message:
        if type(message) not in self._agent_class.messages:
            advice = f"write messages = MessageSet([{type(message).__name__}]) in the class {self._name}"
            raise self._wrong(message, f"it is not one of the agent's messages: {advice}")
        try:
            return self._agent_class.messages.decode(data)
        except Exception as error:
            problem = f"it cannot be read from its own {len(data)} bytes: {type(error).__name__}: {error}"
            raise self._wrong(message, problem) from error

    def _wrong(self, message: Message, text: str) -> CodecError:
        cls = type(message)
        return CodecError(f"message {type_of(cls)} of agent {self._name} ({place_of_class(cls)}): {text}")


def type_of(cls: type[Message]) -> str:
    """The type name of a message class in traces; the class's own if types vary by message."""
    name: object = cls.message_type
    return name if isinstance(name, str) else cls.__name__


def place_of_class(cls: type[Any]) -> str:
    """File and line of a message class, or of its own `read` or `write`."""
    for method in ("read", "write"):
        own = vars(cls).get(method)
        code = getattr(getattr(own, "__func__", own), "__code__", None)
        if code is not None:
            return f"{Path(code.co_filename).name}:{code.co_firstlineno}"
    try:
        return f"{Path(inspect.getfile(cls)).name}:{inspect.getsourcelines(cls)[1]}"
    except (OSError, TypeError):
        return cls.__module__


def _difference(before: Message, after: Message) -> str:
    """The first differing field, with both values; empty if only NaNs differ."""
    for field in before.__dataclass_fields__:
        sent, read = getattr(before, field), getattr(after, field)
        if not _are_same(sent, read):
            return f"field {field} was {_shown(sent)} when it was sent, and is {_shown(read)}"
    return ""


def _are_same(a: Any, b: Any) -> bool:
    """Whether the values are alike in depth, without the classes' own equality."""
    if type(a) is not type(b):  # a subclass could hold more than travels
        return {type(a), type(b)} <= {int, float} and a == b
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_are_same, a, b))
    if is_dataclass(a):
        # A field that is neither compared nor given only keeps what follows from the others.
        given = (field.name for field in fields(a) if field.compare or field.init)
        return all(_are_same(getattr(a, name), getattr(b, name)) for name in given)
    return bool(a == b) or (a != a and b != b)  # noqa: PLR0124  # that is how one knows a NaN


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
