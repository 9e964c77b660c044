"""How messages describe themselves."""

from __future__ import annotations

import pytest

from roambus.python_protocol.aodv.messages import RouteError, RouteReply, RouteReplyAck, RouteRequest, Unreachable
from roambus.python_protocol.brokers import routing as parts
from roambus.python_protocol.brokers.broker import Filters, Pub
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import U8, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.mft.messages import UNKNOWN, Bmig, Bquery, Bsub, Known, Mig, Rep, Sub, Timestamp, Uns
from roambus.python_protocol.parts.election.heartbeat import Heartbeat, Leadership
from roambus.python_protocol.parts.link import LinkAck, LinkData
from roambus.python_protocol.roles import BROADCAST, NodeId
from tests.python_protocol.messages.notation import E1, E2, F1, F2, check_description

DESCRIBED: list[tuple[Message, str]] = [
    (Sub(3, 4, 5, F1), "SUB f1 s3 t=4 h=5"),
    (Uns(3, 4, 5, F1), "UNS f1 s3 t=4 h=5"),
    (Pub(2, E1), "PUB e1 hops=2"),
    (Mig(3, 1, 4, 5), "MIG s3 b=b1 t=4 h=5"),
    (Rep(3, 2, (E1, E2)), "REP s3 [e1 e2] hops=2"),
    (Filters((F1, F2)), "FILTERS [f1 f2]"),
    (Bmig(0, (Known(3, 1, 1), Known(6, 1, 2)), (Known(7, 1, 255),)), "BMIG C=[(s3,1,1) (s6,1,2)] O=[(s7,1,inf)] h=0"),
    (Bquery(3, UNKNOWN), "BQUERY s3 T=(0,inf)"),
    (Bsub(6, Timestamp(1, 1), 2, (F1, F2)), "BSUB s6 [f1 f2] T=(1,1) h=2"),
    (parts.Sub(3, F1), "SUB f1 s3"),
    (parts.Uns(3, F1), "UNS f1 s3"),
    (LinkData(4711, 8, Pub(2, E1)), "PUB e1 hops=2 frame=4711.8"),
    (LinkAck(4711, 8), "ACK frame=4711.8"),
    (
        Heartbeat(Leadership(2839, 1), 4, 2, 3, is_broker=True),
        "HEARTBEAT leader=n1 since=2839ms round=4 hops=2 parent=n3 broker",
    ),
    (RouteReplyAck(), "RREP-ACK"),
    (
        RouteRequest(1, 5, 2, 7, 8, 9, 10, unknown_sequence=True),
        "RREQ ttl=5 hop_count=1 rreq_id=2 destination=n7 destination_sequence=8 originator=n9 originator_sequence=10 "
        "unknown_sequence",
    ),
    (
        RouteReply(1, 5, 7, 8, 9, 6000),
        "RREP ttl=5 hop_count=1 destination=n7 destination_sequence=8 originator=n9 lifetime_ms=6000",
    ),
    (
        RouteError((Unreachable(7, 8), Unreachable(9, 1))),
        "RERR unreachable=[(destination=n7 sequence=8) (destination=n9 sequence=1)]",
    ),
]


@pytest.mark.parametrize(("message", "text"), DESCRIBED, ids=lambda value: type(value).__name__)
def test_messages_describe_themselves_in_their_papers_notation(message: Message, text: str) -> None:
    """The lists of the thesis' sections 3.4 and 4.4, and the field names of RFC 3561; nothing is left out."""
    check_description(message, text)


class Custom(Message, tag=99):
    """A user's own."""

    number: U8
    node: NodeId
    near: tuple[NodeId, ...]
    parent: NodeId | None
    wanted: Filter
    news: tuple[Notification, ...]
    inside: Message
    is_last: bool
    is_first: bool


def test_a_message_without_a_notation_shows_its_fields() -> None:
    """Nodes, filters and notifications by name; of what is true or false, what is true."""
    message = Custom(3, 4, (5, BROADCAST), None, F1, (E1, E2), Pub(2, E1), is_last=True, is_first=False)
    text = message.describe(Names())
    assert text == (
        "CUSTOM number=3 node=n4 near=[n5 *] parent=- wanted={topic = 1} news=[9.1 9.2] inside=(PUB 9.1 hops=2) is_last"
    )
