"""The messages of Simple Routing and the first approach in the thesis' notation."""

from __future__ import annotations

import pytest

from roambus.extensions.first_approach import agent as first_approach
from roambus.extensions.first_approach.agent import Row
from roambus.python_protocol.brokers import anonymous as simple
from roambus.python_protocol.messages.message import Message
from tests.python_protocol.messages.notation import E1, F1, F2, check_description

DESCRIBED: list[tuple[Message, str]] = [
    (simple.Sub(F1), "SUB f1"),
    (simple.Uns(F1), "UNS f1"),
    (first_approach.Mig(3, 1), "MIG s3 b=b1"),
    (first_approach.Rep(3, 2, E1), "REP e1 s3 hops=2"),
    (first_approach.Bmig(4, (3, 6)), "BMIG C=[s3 s6] b=b4"),
    (
        first_approach.Btab((Row(2, 3, F1), Row(4, 6, F2))),
        "BTAB R=[(f1,n2,s3) (f2,n4,s6)]",
    ),
    (first_approach.Fmig(), "FMIG"),
]


@pytest.mark.parametrize(("message", "text"), DESCRIBED, ids=lambda value: type(value).__name__)
def test_messages_describe_themselves_in_the_notation_of_the_thesis(message: Message, text: str) -> None:
    """Nothing is left out."""
    check_description(message, text)
