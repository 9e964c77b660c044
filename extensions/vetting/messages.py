"""Tests an agent's messages: round trips of random bytes, and harmless foreign messages.

Ideal links hand on objects, the radio bytes; frames can be damaged or foreign. So bytes are a message, which equals its
own bytes' reading, in transcripts too, or they raise DecodeError only; unknown messages and timers are ignored. A
seeded generator, which prefers bounds and small counts, makes findings repeatable.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from roambus.bridge.host.agents import handler_of, make_agents, place_of
from roambus.bridge.host.codec import CodecCheck, CodecError, place_of_class, type_of
from roambus.bridge.scenario.definition import Scenario
from roambus.extensions.vetting.findings import Finding, of_error
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, Received, Started, TimerFired
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.messages.octets import DecodeError, Reader
from roambus.python_protocol.simtime import MILLISECOND

STRANGERS_CHECK = "unknown messages"
ROUND_TRIPS_CHECK = "messages"
TRIES = 500
"""Times that each class is read from random bytes."""
LONGEST = 2000
"""Bytes after which a message is given up."""
_FREQUENT = b"\0\0\0\0\1\1\1\2\3a01\xff"
"""The bytes of short tuples and texts, of truth values, and of numbers at their bounds."""


def check_round_trips(agent_class: type[Agent]) -> Iterator[Finding]:
    """Return a finding for each class unlike its bytes."""
    for cls in agent_class.messages:
        if found := _round_trip(agent_class, cls):
            yield Finding(ROUND_TRIPS_CHECK, found, place_of_class(cls))


def _round_trip(agent_class: type[Agent], cls: type[Message]) -> str:
    codec, reader = CodecCheck(agent_class), RandomReader(agent_class.messages, Random(f"vet {type_of(cls)}"))
    for _ in range(TRIES):
        try:
            message = reader.read(cls)
            data = message.encode()
        except DecodeError:
            continue
        except Exception as error:  # whatever it is: a stranger's bytes end the run by it
            text = f"message {type_of(cls)}: invalid bytes raise {type(error).__name__}: {error}"
            return f"{text}, and not DecodeError"
        try:
            codec.compare(message, data)
        except CodecError as error:
            return str(error)
    return ""


class RandomReader(Reader):
    """Reads random bytes, as many as a message asks for."""

    __slots__ = ("_left", "_random")

    def __init__(self, messages: MessageSet, random: Random) -> None:
        super().__init__(b"", messages)
        self._random = random

    def read(self, cls: type[Message]) -> Message:
        """Return a message of the class; raise DecodeError, or what its `read` raises."""
        self._left, self._nesting = LONGEST, 0
        return cls.read(self)

    def _take(self, count: int) -> bytes:
        self._left -= count
        if self._left < 0:
            raise DecodeError(f"it is longer than {LONGEST} bytes")
        return bytes(self._random.choice(_FREQUENT) for _ in range(count))


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
