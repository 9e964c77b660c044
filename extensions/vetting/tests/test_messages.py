"""Random bytes make messages, the same ones each time."""

from __future__ import annotations

from contextlib import suppress
from enum import Enum
from random import Random
from typing import NamedTuple

import pytest

from roambus.extensions.vetting.messages import RandomReader
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import I64, U8, U32, LongBytes, LongTuple, bit
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.messages.octets import DecodeError, Reader
from roambus.python_protocol.roles import NodeId


class Mood(Enum):
    GOOD, BAD = range(2)


class Place(NamedTuple):
    x: U8
    name: str


class Inner(Message, tag=1):
    number: U32


class Plain(Message, tag=2):
    flag: bool = bit(0x01, default=False, kw_only=True)
    small: U8
    signed: I64
    share: float
    text: str
    data: bytes
    long: LongBytes
    mood: Mood
    node: NodeId
    place: Place
    places: tuple[Place, ...]
    nodes: LongTuple[NodeId]
    parent: NodeId | None


class Holding(Message, tag=3):
    wanted: Filter | None
    news: tuple[Notification, ...]
    inside: Inner
    anything: Message


MESSAGES = MessageSet([Inner, Plain, Holding])


def made(cls: type[Message], seed: int, tries: int = 300) -> list[Message]:
    """Of the tries those that read a message."""
    reader, found = RandomReader(MESSAGES, Random(seed)), []
    for _ in range(tries):
        with suppress(DecodeError):
            found.append(reader.read(cls))
    return found


@pytest.mark.parametrize("cls", [Plain, Holding])
def test_every_type_of_field_has_values_that_travel(cls: type[Message]) -> None:
    """The same seed gives the same ones, and they differ among each other."""
    first, again = ([message.encode() for message in made(cls, 1, 2000)] for _ in range(2))
    assert len(set(first)) > 10
    assert first == again


def test_the_bounds_of_numbers_are_drawn() -> None:
    """That is where codecs are wrong."""
    numbers = [message.number for message in made(Inner, 0) if isinstance(message, Inner)]
    assert len(numbers) == 300
    assert min(numbers) == 0
    assert max(numbers) > 0xFF000000


def test_a_message_without_end_is_given_up() -> None:
    """The `read` of a user's own class can ask for ever."""

    class Endless(Message, tag=4):
        @classmethod
        def read(cls, reader: Reader) -> Endless:
            while True:
                reader.u8()

    assert made(Endless, 0, 1) == []
