"""The messages of the first approach: their bytes, and how transcripts write them."""

from __future__ import annotations

import pytest

from roambus.extensions.first_approach.agent import Bmig, Btab, FirstApproach, Fmig, Mig, Rep, Row
from roambus.python_protocol.filters import Filter, Notification, NotificationId, parse_filter
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message

F1, F2 = parse_filter("topic = 1"), parse_filter("x > 2.5 and name prefix 'ab'")
E1 = Notification(NotificationId(9, 70000), (("topic", 1),), 3)
WRITTEN: list[tuple[Message, str, str]] = [
    (Mig(258, 3), "04 0102 0003", "MIG n258 b=n3"),
    (
        Rep(258, 7, E1),
        "05 0102 07 000900011170 01 05746f706963 00 0000000000000001 0003 000000",
        "REP 9.70000 n258 hops=7",
    ),
    (Bmig(4, (258, 3)), "07 0004 02 0102 0003", "BMIG C=[n258 n3] b=n4"),
    (Bmig(4, ()), "07 0004 00", "BMIG C=[] b=n4"),
    (
        Btab((Row(2, 258, F1), Row(4, 6, F2))),
        "0a 0002 0002 0102 01 05746f706963 00 00 0000000000000001"
        "0004 0006 02 0178 04 01 4004000000000000 046e616d65 06 02 026162",
        "BTAB R=[({topic = 1},n2,n258) ({x > 2.5 and name prefix 'ab'},n4,n6)]",
    ),
    (Btab(()), "0a 0000", "BTAB R=[]"),
    (Fmig(), "0b", "FMIG"),
]
written = pytest.mark.parametrize(
    ("message", "octets", "text"), WRITTEN, ids=[text.split(" ")[0] for *_, text in WRITTEN]
)


@written
def test_the_bytes_on_the_air(message: Message, octets: str, text: str) -> None:
    """They are what they have always been, so that recorded runs stay readable."""
    assert message.encode() == bytes.fromhex(octets)
    assert FirstApproach.messages.decode(bytes.fromhex(octets)) == message


@written
def test_the_text_in_transcripts(message: Message, octets: str, text: str) -> None:
    """Messages are written as the thesis lists them in section 3.4."""
    assert message.describe(Names()) == text


def test_a_table_can_have_more_than_255_rows() -> None:
    """The count of a BTAB takes two bytes."""
    btab = Btab(tuple(Row(1, subscriber, Filter()) for subscriber in range(300)))
    assert btab.encode()[:3] == bytes.fromhex("0a 012c")
    assert FirstApproach.messages.decode(btab.encode()) == btab
