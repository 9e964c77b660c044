"""Values for fields follow from the fields' types, the same ones each time."""

from __future__ import annotations

from enum import Enum
from random import Random
from typing import NamedTuple

import pytest

from roambus.experiments.vetting.messages import Generator, UnknownTypeError
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import I64, U8, U32, LongBytes, LongTuple, bit
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.vocabulary import NodeId


class Mood(Enum):
    GOOD, BAD = range(2)


class Place(NamedTuple):
    x: U8
    name: str


class Inner(Message, tag=1):
    number: U32


class Everything(Message, tag=2):
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
    wanted: Filter | None
    news: tuple[Notification, ...]
    inside: Inner
    anything: Message


MESSAGES = MessageSet([Inner, Everything])


def generated(seed: int) -> list[bytes]:
    generator = Generator(MESSAGES, Random(seed))
    return [generator.message(Everything).encode() for _ in range(100)]


def test_every_type_of_field_has_values_that_travel() -> None:
    """The same seed gives the same ones, and they differ among each other."""
    assert generated(1) == generated(1)
    assert len(set(generated(1))) > 90
    assert generated(1) != generated(2)


def test_the_bounds_of_numbers_are_drawn() -> None:
    """That is where codecs are wrong."""
    generator = Generator(MESSAGES, Random(0))
    numbers = {generator.value(U8, 0) for _ in range(200)}
    assert {0, 1, 255} <= numbers
    assert numbers <= set(range(256))


def test_a_type_without_values_is_named() -> None:
    """A class of the user's own, which travels by its own methods."""
    with pytest.raises(UnknownTypeError, match="object"):
        Generator(MESSAGES, Random(0)).value(object, 0)
