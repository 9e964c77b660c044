"""The messages of AODV: sizes on the air and round trips."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.aodv import Aodv
from roambus.python_protocol.aodv.messages import (
    Hello,
    RouteError,
    RouteReply,
    RouteReplyAck,
    RouteRequest,
    Unreachable,
)
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.octets import DecodeError
from roambus.python_protocol.parts.link import LinkData
from roambus.python_protocol.parts.unicast import DataPacket

bytes_1 = st.integers(0, 255)
addresses = st.integers(0, 65533)
numbers = st.integers(0, 2**32 - 1)
notifications = st.builds(
    Notification, st.builds(NotificationId, addresses, numbers), st.just((("topic", "news"),)), st.integers(0, 50)
)
messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(
        RouteRequest,
        bytes_1,
        bytes_1,
        numbers,
        addresses,
        numbers,
        addresses,
        numbers,
        unknown_sequence=st.booleans(),
        destination_only=st.booleans(),
        gratuitous=st.booleans(),
    ),
    st.builds(RouteReply, bytes_1, bytes_1, addresses, numbers, addresses, numbers, acknowledge=st.booleans()),
    st.builds(Hello.of, addresses, numbers, numbers),
    st.builds(RouteError, st.lists(st.builds(Unreachable, addresses, numbers)).map(tuple), no_delete=st.booleans()),
    st.just(RouteReplyAck()),
    st.builds(DataPacket, bytes_1, bytes_1, addresses, addresses, notifications),
)


@given(messages)
def test_every_message_decodes_to_itself(message: Message) -> None:
    """The bytes hold every field."""
    assert Aodv.messages.decode(message.encode()) == message


@given(messages, st.integers(0, 65535), st.integers(0, 255))
def test_every_message_travels_inside_the_link_layer(message: Message, session: int, sequence: int) -> None:
    """The link layer's data frame carries each of them."""
    frame = LinkData(session, sequence, message)
    assert Aodv.messages.decode(frame.encode()) == frame


@given(messages, st.data())
def test_a_message_cut_short_is_refused(message: Message, data: st.DataObject) -> None:
    """Any prefix raises DecodeError and nothing else."""
    encoded = message.encode()
    with pytest.raises(DecodeError):
        Aodv.messages.decode(encoded[: data.draw(st.integers(0, len(encoded) - 1))])


@pytest.mark.parametrize(
    ("message", "size"),
    [
        (RouteRequest(0, 1, 1, 2, 3, 4, 5), 20),
        (RouteReply(0, 1, 2, 3, 4, 5), 16),
        (Hello.of(2, 3, 4), 16),
        (RouteError((Unreachable(1, 2), Unreachable(3, 4))), 15),
        (RouteReplyAck(), 1),
        (DataPacket(0, 1, 2, 3, Notification(NotificationId(2, 1), ())), 16),
    ],
)
def test_sizes_are_the_rfcs_with_short_addresses(message: Message, size: int) -> None:
    """Section 5, with 16 bits instead of 32 for each address."""
    assert len(message.encode()) == size


@pytest.mark.parametrize(
    ("message", "hexadecimal"),
    [
        (
            RouteRequest(2, 3, 0x01020304, 0x0506, 0x0708090A, 0x0B0C, 0x0D0E0F10),
            "11 00 0203 01020304 0506 0708090a 0b0c 0d0e0f10",
        ),
        (RouteRequest(0, 0, 0, 0, 0, 0, 0, gratuitous=True), "11 20 0000 00000000 0000 00000000 0000 00000000"),
        (RouteRequest(0, 0, 0, 0, 0, 0, 0, destination_only=True), "11 10 0000 00000000 0000 00000000 0000 00000000"),
        (RouteRequest(0, 0, 0, 0, 0, 0, 0, unknown_sequence=True), "11 08 0000 00000000 0000 00000000 0000 00000000"),
        (RouteReply(2, 3, 0x0506, 0x0708090A, 0x0B0C, 0x0D0E0F10), "12 00 0203 0506 0708090a 0b0c 0d0e0f10"),
        (RouteReply(0, 0, 0, 0, 0, 0, acknowledge=True), "12 40 0000 0000 00000000 0000 00000000"),
        (Hello.of(0x0506, 0x0708090A, 0x0D0E0F10), "13 00 0001 0506 0708090a 0506 0d0e0f10"),
        (RouteError((Unreachable(1, 2), Unreachable(3, 4))), "14 00 02 0001 00000002 0003 00000004"),
        (RouteError((Unreachable(1, 2),), no_delete=True), "14 80 01 0001 00000002"),
        (RouteReplyAck(), "15"),
        (
            DataPacket(2, 3, 0x0506, 0x0708, Notification(NotificationId(3, 4), (("x", 1),), 2)),
            "16 0203 0506 0708 0003 00000004 01 0178 00 0000000000000001 0002 0000",
        ),
    ],
)
def test_the_layout_is_the_rfcs(message: Message, hexadecimal: str) -> None:
    """Sections 5.1 to 5.4: type, flags in their places, hop count (and TTL), then the fields in the RFC's order."""
    assert message.encode() == bytes.fromhex(hexadecimal)
