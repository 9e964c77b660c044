"""The messages of Phoenix: sizes on the air and round trips."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from roambus.extensions.phoenix import Phoenix
from roambus.extensions.phoenix import broker as phoenix
from roambus.extensions.phoenix.broker import NEVER, Stamp
from roambus.python_protocol.brokers import routing as parts
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.message import Message
from tests.python_protocol.brokers.message_promises import *  # noqa: F403  # the tests are what is wanted
from tests.python_protocol.brokers.message_promises import EMPTY, Protocol
from tests.python_protocol.brokers.strategies import bytes_1, bytes_2, counters, filters, nodes, notifications

stamps = st.builds(Stamp, bytes_2, counters)
addressees = st.lists(nodes, max_size=5).map(tuple)
MESSAGES: dict[type[Message], st.SearchStrategy[Message]] = {
    parts.Sub: st.builds(parts.Sub, nodes, filters),
    parts.Uns: st.builds(parts.Uns, nodes, filters),
    phoenix.Pub: st.builds(phoenix.Pub, stamps, bytes_1, addressees, notifications),
    phoenix.Mig: st.builds(phoenix.Mig, nodes, nodes, stamps, bytes_2),
    phoenix.Rep: st.builds(phoenix.Rep, nodes, stamps, bytes_1, notifications),
    phoenix.Turn: st.builds(phoenix.Turn, nodes, stamps, bytes_2, st.booleans()),
    phoenix.NumberedSub: st.builds(phoenix.NumberedSub, nodes, filters, bytes_2),
    phoenix.NumberedUns: st.builds(phoenix.NumberedUns, nodes, filters, bytes_2),
}


@pytest.fixture(scope="module")
def protocol() -> Protocol:
    """Phoenix, with all its messages."""
    return Protocol(Phoenix, MESSAGES)


@pytest.mark.parametrize(
    ("message", "size"),
    [
        (parts.Sub(1, Filter()), 4),
        (parts.Uns(1, Filter()), 4),
        (phoenix.NumberedSub(1, Filter(), 7), 8),
        (phoenix.NumberedUns(1, Filter(), 7), 8),
        (phoenix.Pub(NEVER, 0, (1, 2), EMPTY), 23),
        (phoenix.Mig(1, 2, NEVER), 13),
        (phoenix.Rep(1, NEVER, 0, EMPTY), 19),
        (phoenix.Turn(1, NEVER, 2, True), 12),
    ],
    ids=str,
)
def test_sizes_on_the_air(message: Message, size: int) -> None:
    """Two bytes an address, six a timestamp, one for tag, hops and most counts each; five and the filter an entry."""
    assert len(message.encode()) == size
