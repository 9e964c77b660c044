"""Takes every message of an agent to bytes and back, with generated values, and then decodes damaged bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from random import Random

from roambus.bridge.host.codec import CodecCheck, CodecError, place_of_class, type_of
from roambus.experiments.vetting.finding import Finding
from roambus.experiments.vetting.generating import Generator, UnknownTypeError
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.messages.bytes import DecodeError
from roambus.python_protocol.messages.message import Message

CHECK = "messages"
VALUES = 200
"""So many messages of each class are tried."""
DAMAGED = 20
"""Of so many of them, all beginnings and some other bytes are decoded."""
_REFUSALS = (ValueError, TypeError, OverflowError, LookupError, struct.error)
"""What a class raises for values that it does not take, when it is made or written."""


def check_round_trips(agent_class: type[Agent]) -> Iterator[Finding]:
    """A finding for each class of messages that is not what its bytes say."""
    for cls in agent_class.messages:
        random = Random(f"vet {type_of(cls)}")
        found = _round_trip(agent_class, cls, Generator(agent_class.messages, random), random)
        if found:
            yield Finding(CHECK, found, place_of_class(cls))


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
            text = f"message {type_of(cls)}: bytes that are none raise {type(error).__name__}: {error}"
            return f"{text}, and not DecodeError"
    return ""
