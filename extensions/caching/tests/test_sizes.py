"""The messages of caching: sizes on the air and round trips."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from roambus.extensions.caching import Caching
from roambus.extensions.caching import subscriptions as caching
from roambus.python_protocol.brokers import anonymous as simple
from roambus.python_protocol.brokers import broker as family
from roambus.python_protocol.filters import Filter, NotificationId
from roambus.python_protocol.messages.message import Message
from tests.python_protocol.brokers.message_promises import *  # noqa: F403  # the tests are what is wanted
from tests.python_protocol.brokers.message_promises import EMPTY, Protocol
from tests.python_protocol.brokers.strategies import bytes_1, bytes_2, counters, filters, nodes, notifications, several

addressees = st.lists(nodes, max_size=5).map(tuple)
somebody = st.none() | nodes
identifiers = st.lists(st.builds(NotificationId, nodes, counters), max_size=3).map(tuple)
MESSAGES: dict[type[Message], st.SearchStrategy[Message]] = {
    simple.Sub: st.builds(simple.Sub, filters),
    simple.Uns: st.builds(simple.Uns, filters),
    family.Pub: st.builds(family.Pub, bytes_1, notifications),
    caching.Request: st.builds(caching.Request, bytes_2, somebody, somebody, several, addressees, identifiers),
    caching.Response: st.builds(caching.Response, bytes_2, st.booleans(), bytes_1, addressees, notifications),
}


@pytest.fixture(scope="module")
def protocol() -> Protocol:
    """Caching, with all its messages."""
    return Protocol(Caching, MESSAGES)


@pytest.mark.parametrize(
    ("message", "size"),
    [
        (caching.Request(1, 1, route=(1,)), 13),
        (caching.Request(1, 2, 3, (Filter(),), (1, 2), (EMPTY.id,)), 22),
        (caching.Response(1, kept=True, hops=1, route=(1, 2), notification=EMPTY), 19),
    ],
    ids=str,
)
def test_sizes_on_the_air(message: Message, size: int) -> None:
    """Two bytes an address and a number, one for tag, hops and most counts each."""
    assert len(message.encode()) == size
