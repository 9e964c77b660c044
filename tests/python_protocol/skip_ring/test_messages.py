"""The messages of the skip ring: what is read is what was written, and nothing else can be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.messages.codec import DecodeError, Message
from roambus.python_protocol.skip_ring import SkipRing
from roambus.python_protocol.skip_ring import messages as ring
from roambus.python_protocol.skip_ring.labels import label_of
from roambus.python_protocol.skip_ring.references import Reference
from tests.python_protocol.brokers.strategies import bytes_2, nodes, notifications, values

bits = st.text("01", max_size=64)
labels = st.builds(label_of, st.integers(0, 2**31))
references = st.builds(Reference, nodes, labels)
checks = st.none() | st.builds(ring.Check, references, labels)
summaries = st.lists(st.builds(ring.Summary, bits, st.binary(min_size=8, max_size=8)), max_size=3).map(tuple)
by_type: dict[type[Message], st.SearchStrategy[Message]] = {
    **{
        cls: st.builds(cls, values, nodes)
        for cls in (ring.Subscribe, ring.Unsubscribe, ring.GetConfiguration, ring.RemoveConnections)
    },
    ring.SetData: st.builds(ring.SetData, values, st.none() | references, st.none() | labels, st.none() | references),
    ring.Introduce: st.builds(ring.Introduce, values, references, labels, st.booleans()),
    ring.Linearize: st.builds(ring.Linearize, values, references, st.booleans(), checks),
    ring.IntroduceShortcut: st.builds(ring.IntroduceShortcut, values, references),
    ring.CheckTrie: st.builds(ring.CheckTrie, values, summaries),
    ring.CheckAndPublish: st.builds(ring.CheckAndPublish, values, summaries, bits),
    ring.Publish: st.builds(ring.Publish, values, notifications),
    ring.PublishNew: st.builds(ring.PublishNew, values, notifications, bytes_2),
}


def test_every_message_is_tested() -> None:
    """The strategies know all."""
    assert set(by_type) == set(SkipRing.messages)


@given(st.one_of(*by_type.values()))
def test_a_message_is_read_as_it_was_written(message: Message) -> None:
    """Whatever it holds."""
    assert SkipRing.messages.decode(message.encode()) == message


@pytest.mark.parametrize("label", [b"\x02\x02", b"\x00", b"\x02\x05", b"\x21" + b"\xff" * 5])
def test_bits_that_are_no_label_cannot_be_read(label: bytes) -> None:
    """10 does not end in 1, a reference has a label, two bits are not five, and 33 are too many."""
    topic = b"\x02\x00"
    with pytest.raises(DecodeError):
        SkipRing.messages.decode(bytes([ring.IntroduceShortcut.tag]) + topic + b"\x00\x01" + label)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    """By DecodeError alone."""
    try:
        message = SkipRing.messages.decode(data)
    except DecodeError:
        return
    assert SkipRing.messages.decode(message.encode()).encode() == message.encode()
