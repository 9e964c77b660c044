"""Tests an agent's messages: round trips, and harmless foreign messages.

Ideal links hand on objects, the radio bytes; frames can be damaged or foreign. So a message equals its bytes' reading,
in transcripts too; other bytes raise DecodeError only; unknown messages and timers are ignored. A seeded generator,
which prefers bounds, makes findings repeatable; users lack Hypothesis.
"""

from __future__ import annotations

import dataclasses
import struct
import typing
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from random import Random
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin

from roambus.bridge.host.agents import handler_of, make_agents, place_of
from roambus.bridge.host.codec import CodecCheck, CodecError, place_of_class, type_of
from roambus.bridge.scenario.definition import Scenario
from roambus.experiments.vetting.findings import Finding, of_error
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, Received, Started, TimerFired
from roambus.python_protocol.messages.fields import U8, Integer, Maybe
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.messages.octets import DecodeError
from roambus.python_protocol.vocabulary import MILLISECOND

STRANGERS_CHECK = "unknown messages"
ROUND_TRIPS_CHECK = "messages"
VALUES = 200
"""Messages of each class that are tried."""
DAMAGED = 20
"""Messages decoded from all prefixes and some other bytes."""
_REFUSALS = (ValueError, TypeError, OverflowError, LookupError, struct.error)
"""The errors by which a class refuses values."""
MOST_DRAWS = 100
DEEPEST = 2
"""The nesting of generated messages, below `messages.bytes.MAX_NESTING`."""
_TEXTS = ("", "a", "topic", "ä€😀", "0" * 255, "01101", "x y\n'z'")
_REALS = (0.0, -0.0, 1.5, -1e300, 5e-324, float("inf"), float("-inf"), float("nan"))
_WHOLE = (0, 1, 2, 9, 255)
"""Values of numbers with a class's own encoding, so without a width."""


_PLAIN: dict[type, Callable[[Random], Any]] = {
    bool: lambda random: random.random() < 0.5,
    str: lambda random: random.choice(_TEXTS),
    bytes: lambda random: random.randbytes(random.choice((0, 1, 8, 255))),
    float: lambda random: random.choice(_REALS),
    int: lambda random: random.choice(_WHOLE),
}


def check_round_trips(agent_class: type[Agent]) -> Iterator[Finding]:
    """Return a finding for each class unlike its bytes."""
    for cls in agent_class.messages:
        random = Random(f"vet {type_of(cls)}")
        if found := _round_trip(agent_class, cls, Generator(agent_class.messages, random), random):
            yield Finding(ROUND_TRIPS_CHECK, found, place_of_class(cls))


def _round_trip(agent_class: type[Agent], cls: type[Message], generator: Generator, random: Random) -> str:
    codec, whole = CodecCheck(agent_class), []
    for _ in range(VALUES):
        try:
            message = generator.message(cls)
            data = message.encode()
        except UnknownTypeError:  # what it sends in the scenes is compared there
            return ""
        except _REFUSALS:
            continue
        try:
            codec.compare(message, data)
        except CodecError as error:
            return str(error)
        whole.append(data)
    return next(filter(None, (_damage(agent_class, cls, data, random) for data in whole[:DAMAGED])), "")


def _damage(agent_class: type[Agent], cls: type[Message], data: bytes, random: Random) -> str:
    beginnings = [data[:length] for length in range(min(len(data), 64))]
    noise = [data[:1] + random.randbytes(random.randrange(40)) for _ in range(5)]
    for damaged in (*beginnings, *noise, data + b"\0"):
        try:
            agent_class.messages.decode(damaged)
        except DecodeError:
            continue
        except Exception as error:  # whatever it is: a stranger's bytes end the run by it
            text = f"message {type_of(cls)}: invalid bytes raise {type(error).__name__}: {error}"
            return f"{text}, and not DecodeError"
    return ""


class Stranger(Message, tag=255, name="STRANGER"):
    """A message that no agent knows."""

    number: U8


def check_strangers(agent_class: type[Agent], scenario: Scenario) -> Iterator[Finding]:
    """Return a finding if an agent raises for foreign messages or timers."""
    for agent in make_agents(scenario, agent_class):
        handle = handler_of(agent)
        stranger = Received((agent.node + 1) % len(scenario.nodes), Stranger(agent.node), -80.0, 10.0)
        unknown = (stranger, stranger, TimerFired("a timer of nobody's"))
        events: tuple[Event, ...] = (Started(), *unknown)
        for now, event in enumerate(events):
            try:
                list(handle(event, now * MILLISECOND))
            except Exception as error:
                if event in unknown:
                    text = f"on {event}, {type(error).__name__}: {error}{place_of(error, agent, event, None)}"
                    yield of_error(STRANGERS_CHECK, Exception(f"{text}: an agent ignores what it does not know"))
                return


class UnknownTypeError(TypeError):
    """No value can be made for this type."""


class Generator:
    """Makes messages and values by type; raises UnknownTypeError."""

    def __init__(self, messages: MessageSet, random: Random) -> None:
        self._classes = list(messages)
        self._random = random

    def message(self, cls: type[Message], depth: int = 0) -> Message:
        """Return a message, or raise its class's refusal."""
        return cls(**self._fields(cls, depth))

    def value(self, annotation: Any, depth: int) -> Any:
        """A value of a type."""
        origin = get_origin(annotation)
        kinds = get_args(annotation)
        if origin is Annotated:
            return self._annotated(annotation, depth)
        if origin in (UnionType, typing.Union):
            return self.value(self._random.choice(kinds), depth)
        if origin in (tuple, frozenset):
            if len(kinds) != 2 or kinds[1] is Ellipsis:
                kinds = kinds[:1] * self._random.choice((0, 1, 2, 3))
            return origin([self.value(kind, depth) for kind in kinds])
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

    def _of_class(self, cls: Any, depth: int) -> Any:
        if cls is NoneType:
            return None
        if issubclass(cls, Message):
            return self._inner(cls, depth + 1)
        if issubclass(cls, Enum):
            return self._random.choice(list(cls))
        if dataclasses.is_dataclass(cls) or hasattr(cls, "_fields"):
            return self._valid(cls, depth)
        if cls not in _PLAIN:
            raise UnknownTypeError(cls.__name__)
        return _PLAIN[cls](self._random)

    def _valid(self, cls: Any, depth: int) -> Any:
        """Return an instance; draw its fields again while the class refuses them, such as an infinite operand."""
        for _ in range(MOST_DRAWS):
            try:
                return cls(**self._fields(cls, depth))
            except ValueError:
                continue
        raise UnknownTypeError(cls.__name__)

    def _inner(self, cls: type[Message], depth: int) -> Message:
        kinds = [one for one in self._classes if issubclass(one, cls)]
        if depth >= DEEPEST:
            kinds = [one for one in kinds if not _carries_messages(one)]
        if not kinds:
            raise UnknownTypeError(f"no message fits into a field of type {cls.__name__}")
        return self.message(self._random.choice(kinds), depth)

    def _fields(self, cls: Any, depth: int) -> dict[str, Any]:
        return {name: self.value(kind, depth) for name, kind in _types(cls)}


@cache
def _types(cls: Any) -> tuple[tuple[str, Any], ...]:
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
