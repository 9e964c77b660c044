"""The messages of the skip ring: their bytes and notation, and that what is read is what was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.skip_ring import SkipRing
from roambus.extensions.skip_ring import messages as ring
from roambus.extensions.skip_ring.labels import Reference, label_of
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.octets import DecodeError
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
    ring.SetData: st.builds(ring.SetData, values, st.none() | labels, st.none() | references, st.none() | references),
    ring.Introduce: st.builds(ring.Introduce, values, references, st.booleans(), labels),
    ring.Linearize: st.builds(ring.Linearize, values, references, st.booleans(), checks),
    ring.IntroduceShortcut: st.builds(ring.IntroduceShortcut, values, references),
    ring.CheckTrie: st.builds(ring.CheckTrie, values, summaries),
    ring.CheckAndPublish: st.builds(ring.CheckAndPublish, values, summaries, bits),
    ring.Publish: st.builds(ring.Publish, values, notifications),
    ring.PublishNew: st.builds(ring.PublishNew, values, bytes_2, notifications),
}

A, B = Reference(3, "011"), Reference(65533, "0" * 30 + "1")
EVENT = Notification(NotificationId(9, 1), (("topic", 1),), payload=2)
SUMMARIES = (ring.Summary("", bytes(range(8))), ring.Summary("101100111", b"\xff" * 8))
WRITTEN: list[tuple[Message, str, str]] = [
    (ring.Subscribe(topic=7, subscriber=3), "010000000000000000070003", "Subscribe 7 n3"),
    (ring.Subscribe(topic="news", subscriber=65533), "0102046e657773fffd", "Subscribe news n65533"),
    (ring.Unsubscribe(topic=1.5, subscriber=3), "02013ff80000000000000003", "Unsubscribe 1.5 n3"),
    (ring.GetConfiguration(topic=-1, subscriber=0), "0300ffffffffffffffff0000", "GetConfiguration -1 n0"),
    (ring.RemoveConnections(topic="", subscriber=4), "0402000004", "RemoveConnections n4"),
    (
        ring.SetData(topic=7, label="01", predecessor=A, successor=B),
        "0500000000000000000702010300030303fffd1f00000001",
        "SetData 7 n3:011 < 01 < n65533:0000000000000000000000000000001",
    ),
    (
        ring.SetData(topic=7, label="0", predecessor=None, successor=None),
        "05000000000000000007010000",
        "SetData 7 - < 0 < -",
    ),
    (
        ring.SetData(topic=7, label="1", predecessor=A, successor=None),
        "0500000000000000000701010100030303",
        "SetData 7 n3:011 < 1 < -",
    ),
    (
        ring.SetData(topic=7, label=None, predecessor=None, successor=B),
        "050000000000000000070002fffd1f00000001",
        "SetData 7 - < - < n65533:0000000000000000000000000000001",
    ),
    (
        ring.SetData(topic=7, label=None, predecessor=None, successor=None),
        "050000000000000000070000",
        "SetData 7 - < - < -",
    ),
    (
        ring.Introduce(topic=7, reference=A, cyclic=True, assumed="1"),
        "0600000000000000000700030303010101",
        "Introduce 7 n3:011 to=1 cyclic",
    ),
    (
        ring.Introduce(topic=7, reference=B, cyclic=False, assumed="01"),
        "06000000000000000007fffd1f00000001000201",
        "Introduce 7 n65533:0000000000000000000000000000001 to=01",
    ),
    (
        ring.Linearize(topic=7, reference=A, cyclic=False, check=None),
        "070000000000000000070003030300",
        "Linearize 7 n3:011",
    ),
    (
        ring.Linearize(topic=7, reference=A, cyclic=True, check=None),
        "070000000000000000070003030301",
        "Linearize 7 n3:011 cyclic",
    ),
    (
        ring.Linearize(topic=7, reference=A, cyclic=False, check=ring.Check(B, "11")),
        "070000000000000000070003030302fffd1f000000010203",
        "Linearize 7 n3:011 from=n65533:0000000000000000000000000000001 to=11",
    ),
    (
        ring.Linearize(topic=7, reference=A, cyclic=True, check=ring.Check(B, "11")),
        "070000000000000000070003030303fffd1f000000010203",
        "Linearize 7 n3:011 cyclic from=n65533:0000000000000000000000000000001 to=11",
    ),
    (
        ring.IntroduceShortcut(topic=7, reference=B),
        "08000000000000000007fffd1f00000001",
        "IntroduceShortcut 7 n65533:0000000000000000000000000000001",
    ),
    (ring.CheckTrie(topic=7, nodes=()), "0900000000000000000700", "CheckTrie 7 []"),
    (
        ring.CheckTrie(topic=7, nodes=SUMMARIES),
        "090000000000000000070200000102030405060709b301ffffffffffffffff",
        "CheckTrie 7 [ε 101100111]",
    ),
    (ring.CheckAndPublish(topic=7, nodes=(), prefix=""), "0a0000000000000000070000", "CheckAndPublish 7 [] ε"),
    (
        ring.CheckAndPublish(topic=7, nodes=SUMMARIES, prefix="0010"),
        "0a0000000000000000070200000102030405060709b301ffffffffffffffff0402",
        "CheckAndPublish 7 [ε 101100111] 0010",
    ),
    (
        ring.Publish(topic=7, publication=EVENT),
        "0b0000000000000000070009000000010105746f70696300000000000000000100020000",
        "Publish 7 9.1",
    ),
    (
        ring.PublishNew(topic=7, hops=258, publication=EVENT),
        "0c00000000000000000701020009000000010105746f70696300000000000000000100020000",
        "PublishNew 7 9.1 hops=258",
    ),
]
"""Messages, their bytes as they have always been, and how transcripts show them."""


def test_every_message_is_tested() -> None:
    """There are strategies and examples for all that the agent sends."""
    assert set(by_type) == set(SkipRing.messages) == {type(message) for message, _, _ in WRITTEN}


@pytest.mark.parametrize(("message", "written", "shown"), WRITTEN)
def test_bytes_and_notation_of_a_message_stay_as_they_are(message: Message, written: str, shown: str) -> None:
    """The bytes are those of traces that were made long ago, and they are read as the same message."""
    assert message.encode().hex() == written
    assert SkipRing.messages.decode(bytes.fromhex(written)) == message
    assert message.describe(Names()) == shown


@given(st.one_of(*by_type.values()))
def test_a_message_is_read_as_it_was_written(message: Message) -> None:
    """That holds for all that its fields can hold."""
    assert SkipRing.messages.decode(message.encode()) == message


@pytest.mark.parametrize("label", [b"\x02\x02", b"\x00", b"\x02\x05", b"\x21" + b"\xff" * 5])
def test_bits_that_are_no_label_cannot_be_read(label: bytes) -> None:
    """The text 10 does not end in 1, a reference has a label, two bits are not five, and 33 are too many."""
    topic = b"\x02\x00"
    with pytest.raises(DecodeError):
        SkipRing.messages.decode(bytes([ring.IntroduceShortcut.tag]) + topic + b"\x00\x01" + label)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    """Nothing but DecodeError is raised."""
    try:
        message = SkipRing.messages.decode(data)
    except DecodeError:
        return
    assert SkipRing.messages.decode(message.encode()).encode() == message.encode()
