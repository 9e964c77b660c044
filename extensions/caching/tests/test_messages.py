"""The messages of caching: their bytes, and how transcripts write them."""

from __future__ import annotations

import pytest

from roambus.extensions.caching import Caching
from roambus.extensions.caching.subscriptions import Request, Response
from roambus.python_protocol.filters import Filter, Notification, NotificationId, parse_filter
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId

F1, F2 = parse_filter("topic = 1"), parse_filter("x > 2.5 and name prefix 'ab'")
E1 = Notification(NotificationId(9, 70000), (("topic", 1),), 3)
TOPIC_1 = "01 05746f706963 00 00 0000000000000001"
WRITTEN: list[tuple[Message, str, str]] = [
    (
        Request(513, filters=(F1, F2), route=(4, 258)),
        f"04 0201 ffff ffff 02 {TOPIC_1} 02 0178 04 01 4004000000000000 046e616d65 06 02 026162 02 0004 0102 0000",
        "REQUEST [f f] path=[b4 s258]",
    ),
    (Request(1, 258, route=(258,)), "04 0001 0102 ffff 00 01 0102 0000", "REQUEST s258 detaches"),
    (
        Request(2, 258, 5, (F1,), (4, 258)),
        f"04 0002 0102 0005 01 {TOPIC_1} 02 0004 0102 0000",
        "REQUEST [f] s258 from b5 path=[b4 s258]",
    ),
    (
        Request(3, filters=(F1,), route=(258,), answered=(NotificationId(9, 70000), NotificationId(8, 1))),
        f"04 0003 ffff ffff 01 {TOPIC_1} 01 0102 0002 000900011170 000800000001",
        "REQUEST [f] path=[s258] ids=[9.70000 8.1]",
    ),
    (
        Response(513, kept=False, hops=7, route=(4, 258), notification=E1),
        "05 0201 00 07 02 0004 0102 000900011170 01 05746f706963 00 0000000000000001 0003 000000",
        "RESPONSE 9.70000 path=[b4 s258] hops=7",
    ),
    (
        Response(513, kept=True, hops=7, route=(258,), notification=E1),
        "05 0201 01 07 01 0102 000900011170 01 05746f706963 00 0000000000000001 0003 000000",
        "RESPONSE 9.70000 path=[s258] kept hops=7",
    ),
]
written = pytest.mark.parametrize(("message", "octets", "text"), WRITTEN, ids=[text for *_, text in WRITTEN])


class Paper(Names):
    """The names of a network of brokers and clients."""

    def broker(self, node: NodeId | None) -> str:
        return f"b{node}"

    def subscriber(self, node: NodeId | None) -> str:
        return f"s{node}"

    def filter(self, wanted: Filter) -> str:
        return "f"


@written
def test_the_bytes_on_the_air(message: Message, octets: str, text: str) -> None:
    """They are what they have always been, so that recorded runs stay readable."""
    assert message.encode() == bytes.fromhex(octets)
    assert Caching.messages.decode(bytes.fromhex(octets)) == message


@written
def test_the_text_in_transcripts(message: Message, octets: str, text: str) -> None:
    """A path ends with a client, and a REQUEST says what it is for."""
    assert message.describe(Paper()) == text


def test_a_request_can_tell_of_more_than_255_answers() -> None:
    """The count of what was responded takes two bytes."""
    request = Request(1, route=(2,), answered=tuple(NotificationId(9, number) for number in range(300)))
    assert Caching.messages.decode(request.encode()) == request
