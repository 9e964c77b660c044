"""The messages of MFT-PubSub: sizes on the air and round trips."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.brokers.agent import SHARED_MESSAGES
from roambus.python_protocol.brokers.broker import Filters, Pub
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.octets import DecodeError
from roambus.python_protocol.mft import MftPubSub
from roambus.python_protocol.mft.messages import (
    Bmig,
    Bquery,
    Bsub,
    Known,
    Mig,
    Rep,
    Sub,
    Timestamp,
    Uns,
)
from roambus.python_protocol.parts.link import LinkData
from tests.python_protocol.brokers.strategies import bytes_1, counters, filters, nodes, notifications, several

timestamps = st.builds(Timestamp, counters, bytes_1)
known = st.lists(st.builds(Known, nodes, counters, bytes_1), max_size=5).map(tuple)
by_type: dict[type[Message], st.SearchStrategy[Message]] = {
    Sub: st.builds(Sub, nodes, counters, bytes_1, filters),
    Uns: st.builds(Uns, nodes, counters, bytes_1, filters),
    Pub: st.builds(Pub, bytes_1, notifications),
    Mig: st.builds(Mig, nodes, nodes, counters, bytes_1),
    Rep: st.builds(Rep, nodes, bytes_1, st.lists(notifications, max_size=3).map(tuple)),
    Filters: st.builds(Filters, several),
    Bmig: st.builds(Bmig, bytes_1, known, known),
    Bquery: st.builds(Bquery, nodes, timestamps),
    Bsub: st.builds(Bsub, nodes, timestamps, bytes_1, several),
}
messages = st.one_of(*by_type.values())


def test_every_message_of_the_protocol_is_tried_here() -> None:
    """The strategies below leave out none."""
    assert set(by_type) == set(MftPubSub.messages) - set(SHARED_MESSAGES)


@pytest.mark.parametrize("message_type", by_type)
@given(st.data())
def test_every_message_decodes_to_itself(message_type: type[Message], data: st.DataObject) -> None:
    """The bytes hold every field."""
    message = data.draw(by_type[message_type])
    assert MftPubSub.messages.decode(message.encode()) == message


@given(messages, st.integers(0, 65535), bytes_1)
def test_every_message_travels_inside_the_link_layer(message: Message, session: int, sequence: int) -> None:
    """The link layer's data frame carries each of them."""
    frame = LinkData(session, sequence, message)
    assert MftPubSub.messages.decode(frame.encode()) == frame


@given(messages, st.data())
def test_a_message_cut_short_is_refused(message: Message, data: st.DataObject) -> None:
    """Any prefix raises DecodeError and nothing else."""
    encoded = message.encode()
    with pytest.raises(DecodeError):
        MftPubSub.messages.decode(encoded[: data.draw(st.integers(0, len(encoded) - 1))])


@given(messages, st.binary(min_size=1, max_size=5))
def test_bytes_after_a_message_are_refused(message: Message, more: bytes) -> None:
    """A message ends where it says."""
    with pytest.raises(DecodeError):
        MftPubSub.messages.decode(message.encode() + more)


@given(st.binary(max_size=60))
def test_garbage_is_refused_or_is_a_message(garbage: bytes) -> None:
    """Whatever arrives, there is a message whose bytes mean the same, or a DecodeError."""
    try:
        message = MftPubSub.messages.decode(garbage)
    except DecodeError:
        return
    assert MftPubSub.messages.decode(message.encode()).encode() == message.encode()


@pytest.mark.parametrize(
    ("message", "size"),
    [
        (Sub(1, 2, 0, Filter()), 9),
        (Uns(1, 2, 0, Filter()), 9),
        (Mig(1, 2, 3, 0), 10),
        (Pub(0, Notification(NotificationId(1, 2), ())), 11),
        (Rep(1, 0, (Notification(NotificationId(1, 2), ()),)), 14),
        (Filters((Filter(),)), 3),
        (Bmig(0, (Known(1, 2, 3), Known(4, 5, 6)), (Known(7, 8, 9),)), 25),
        (Bquery(1, Timestamp(2, 3)), 8),
        (Bsub(1, Timestamp(2, 3), 0, (Filter(),)), 11),
    ],
)
def test_sizes_on_the_air(message: Message, size: int) -> None:
    """Two bytes an address, four a counter, one for tag, hops and a count each; seven a subscriber in BMIG."""
    assert len(message.encode()) == size
