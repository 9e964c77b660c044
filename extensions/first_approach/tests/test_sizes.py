"""The messages of Simple Routing and the first approach: sizes on the air and round trips."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from roambus.extensions.first_approach import agent as first
from roambus.extensions.first_approach.agent import FirstApproach
from roambus.extensions.first_approach.simple import Simple
from roambus.python_protocol.brokers import anonymous as simple
from roambus.python_protocol.brokers import broker as family
from roambus.python_protocol.brokers import routing as parts
from roambus.python_protocol.brokers.broker import Filters
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.message import Message
from tests.python_protocol.brokers.message_promises import *  # noqa: F403  # the tests are what is wanted
from tests.python_protocol.brokers.message_promises import EMPTY, Protocol
from tests.python_protocol.brokers.strategies import bytes_1, filters, nodes, notifications, several

addressees = st.lists(nodes, max_size=5).map(tuple)
entries = st.lists(st.builds(first.Row, nodes, nodes, filters), max_size=5).map(tuple)
SIMPLE: dict[type[Message], st.SearchStrategy[Message]] = {
    simple.Sub: st.builds(simple.Sub, filters),
    simple.Uns: st.builds(simple.Uns, filters),
    family.Pub: st.builds(family.Pub, bytes_1, notifications),
}
FIRST: dict[type[Message], st.SearchStrategy[Message]] = {
    parts.Sub: st.builds(parts.Sub, nodes, filters),
    parts.Uns: st.builds(parts.Uns, nodes, filters),
    family.Pub: st.builds(family.Pub, bytes_1, notifications),
    Filters: st.builds(Filters, several),
    first.Mig: st.builds(first.Mig, nodes, nodes),
    first.Rep: st.builds(first.Rep, nodes, bytes_1, notifications),
    first.Bmig: st.builds(first.Bmig, nodes, addressees),
    first.Btab: st.builds(first.Btab, entries),
    first.Fmig: st.builds(first.Fmig),
}


@pytest.fixture(
    scope="module", params=[Protocol(Simple, SIMPLE), Protocol(FirstApproach, FIRST)], ids=["simple", "first-approach"]
)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    """Each protocol, with all its messages."""
    made: Protocol = request.param
    return made


@pytest.mark.parametrize(
    ("message", "size"),
    [
        (simple.Sub(Filter()), 2),
        (simple.Uns(Filter()), 2),
        (parts.Sub(1, Filter()), 4),
        (parts.Uns(1, Filter()), 4),
        (first.Mig(1, 2), 5),
        (first.Rep(1, 0, EMPTY), 13),
        (first.Bmig(4, (1, 2, 3)), 10),
        (first.Btab((first.Row(1, 2, Filter()), first.Row(3, 4, Filter()))), 13),
        (first.Fmig(), 1),
    ],
    ids=str,
)
def test_sizes_on_the_air(message: Message, size: int) -> None:
    """Two bytes an address, one for tag, hops and most counts each; five and the filter an entry."""
    assert len(message.encode()) == size
