"""The messages of Phoenix in the thesis' notation."""

from __future__ import annotations

import pytest

from roambus.extensions.phoenix import broker as phoenix
from roambus.python_protocol.messages.message import Message
from tests.python_protocol.messages.notation import E1, check_description

DESCRIBED: list[tuple[Message, str]] = [
    (phoenix.Pub(phoenix.Stamp(0, 7), 2, (), E1), "PUB e1 ts=7 hops=2"),
    (phoenix.Mig(3, 1, phoenix.Stamp(0, 7)), "MIG s3 b=b1 ts_last=7"),
    (phoenix.Mig(3, 1, phoenix.Stamp(5, 7), 6), "MIG s3 b=b1 ts_last=5.7 stay=6"),
    (phoenix.Rep(3, phoenix.NEVER, 2, E1), "REP e1 s3 ts=0 hops=2"),
    (phoenix.Pub(phoenix.Stamp(5, 7), 2, (3, 6), E1), "PUB e1 ts=5.7 hops=2 S=[s3 s6]"),
    (phoenix.Turn(3, phoenix.Stamp(5, 7), 6, over=True), "TURN s3 ts=5.7 n=6 over"),
]


@pytest.mark.parametrize(("message", "text"), DESCRIBED, ids=lambda value: type(value).__name__)
def test_messages_describe_themselves_in_the_notation_of_the_thesis(message: Message, text: str) -> None:
    """Nothing is left out."""
    check_description(message, text)
