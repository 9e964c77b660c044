"""Parts of processes, and the fields that hold one of several messages or many values."""

from __future__ import annotations

from copy import deepcopy

import pytest

from roambus.python_protocol.actions import Send, SetTimer
from roambus.python_protocol.agent import Process, heard_by, on
from roambus.python_protocol.messages.fields import U8, FieldError, LongTuple
from roambus.python_protocol.messages.layout import field_type
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Ping(Message, tag=1):
    """A question."""


class Pong(Message, tag=2):
    """An answer."""


class Other(Message, tag=3):
    """Something else."""


class Either(Message, tag=4):
    """Carries a question or an answer."""

    carried: Ping | Pong


class Many(Message, tag=5):
    """Carries many numbers."""

    numbers: LongTuple[U8]


MESSAGES = MessageSet([Ping, Pong, Other, Either, Many])


class Part(Process):
    """Answers."""

    @on(Ping)
    def answer(self, _ping: Ping, sender: NodeId, _now: SimTime) -> None:
        self.send(sender, Pong())


class Whole(Process):
    """Sets a timer before its part answers, and another one after that."""

    def __init__(self) -> None:
        super().__init__()
        self.part = Part(self)

    @on(Ping)
    def pass_on(self, ping: Ping, sender: NodeId, now: SimTime) -> None:
        self.set_timer("before", 1)
        self.part._handle_message(ping, sender, now)
        self.set_timer("after", 1)


def test_what_a_part_asks_for_stays_in_order() -> None:
    """Whoever drives the whole gets the actions of its parts among its own."""
    whole = Whole()
    for _ in range(2):
        whole._handle_message(Ping(), 3, 0)
        assert whole.take() == [SetTimer("before", 1), Send(3, Pong()), SetTimer("after", 1)]


def test_a_copy_has_parts_of_its_own() -> None:
    """What a copy asks for is not among the actions of the original."""
    whole = Whole()
    copied = deepcopy(whole)
    copied._handle_message(Ping(), 3, 0)
    assert whole.take() == []
    assert len(copied.take()) == 3


def test_a_process_tells_which_messages_it_hears() -> None:
    """They are those that it has handlers for."""
    assert heard_by(Part) == [Ping]


@pytest.mark.parametrize("carried", [Ping(), Pong()])
def test_a_field_can_hold_one_of_several_messages(carried: Ping | Pong) -> None:
    """Each travels whole, with its tag."""
    assert Either(carried).encode() == bytes([4, carried.tag])
    assert MESSAGES.decode(Either(carried).encode()) == Either(carried)


def test_a_field_holds_none_but_these_messages() -> None:
    """Bytes with another message in its place are refused."""
    with pytest.raises(ValueError, match="a OTHER is not allowed here"):
        MESSAGES.decode(bytes([4, 3]))


def test_only_messages_can_be_one_of_several() -> None:
    """There is nothing in the bytes that would tell other types apart."""
    with pytest.raises(FieldError, match="cannot travel"):
        field_type(Ping | str)


def test_a_long_tuple_has_its_count_in_two_bytes() -> None:
    """So it can have more than 255 values."""
    message = Many((7,) * 300)
    assert message.encode() == bytes([5, 1, 44]) + bytes([7]) * 300
    assert MESSAGES.decode(message.encode()) == message
