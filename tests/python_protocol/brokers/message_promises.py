"""What the messages of every protocol of the family promise: a test imports * and has a fixture `protocol`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.octets import DecodeError
from roambus.python_protocol.parts.link import LinkData

EMPTY = Notification(NotificationId(1, 2), ())


class Protocol(NamedTuple):
    """An agent, and any of its own messages by type."""

    agent: type[BrokerAgent]
    messages: Mapping[type[Message], st.SearchStrategy[Message]]


def test_every_message_of_the_protocol_is_tried_here(protocol: Protocol) -> None:
    """The strategies above leave out none."""
    assert {*protocol.messages, *SHARED_MESSAGES} == set(protocol.agent.messages)


@given(st.data())
def test_every_message_decodes_to_itself(protocol: Protocol, data: st.DataObject) -> None:
    """The bytes hold every field, bare and inside the link layer."""
    message = data.draw(st.one_of(*protocol.messages.values()))
    frame = LinkData(1, 2, message)
    assert protocol.agent.messages.decode(message.encode()) == message
    assert protocol.agent.messages.decode(frame.encode()) == frame


@given(st.data())
def test_a_message_cut_short_is_refused(protocol: Protocol, data: st.DataObject) -> None:
    """Any prefix raises DecodeError and nothing else."""
    encoded = data.draw(st.one_of(*protocol.messages.values())).encode()
    with pytest.raises(DecodeError):
        protocol.agent.messages.decode(encoded[: data.draw(st.integers(0, len(encoded) - 1))])


@given(garbage=st.binary(max_size=60))
def test_garbage_is_refused_or_is_a_message(protocol: Protocol, garbage: bytes) -> None:
    """Whatever arrives, there is a message whose bytes mean the same, or a DecodeError."""
    try:
        message = protocol.agent.messages.decode(garbage)
    except DecodeError:
        return
    assert protocol.agent.messages.decode(message.encode()).encode() == message.encode()
