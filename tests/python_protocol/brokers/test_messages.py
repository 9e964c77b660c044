"""The messages of Simple Routing, Phoenix, the first approach and caching: sizes on the air and round trips."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.caching import Caching
from roambus.extensions.caching import subscriptions as caching
from roambus.extensions.first_approach import agent as first
from roambus.extensions.first_approach import simple
from roambus.extensions.first_approach.agent import FirstApproach
from roambus.extensions.first_approach.simple import Simple
from roambus.extensions.phoenix import Phoenix
from roambus.extensions.phoenix import broker as phoenix
from roambus.extensions.phoenix.broker import NEVER, Stamp
from roambus.python_protocol.brokers import broker as family
from roambus.python_protocol.brokers import routing as parts
from roambus.python_protocol.brokers.agent import SHARED_MESSAGES, BrokerAgent
from roambus.python_protocol.brokers.broker import Filters
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.octets import DecodeError
from roambus.python_protocol.parts.link import LinkData
from tests.python_protocol.brokers.strategies import bytes_1, bytes_2, counters, filters, nodes, notifications, several

stamps = st.builds(Stamp, bytes_2, counters)
addressees = st.lists(nodes, max_size=5).map(tuple)
somebody = st.none() | nodes
identifiers = st.lists(st.builds(NotificationId, nodes, counters), max_size=3).map(tuple)
entries = st.lists(st.builds(first.Row, nodes, nodes, filters), max_size=5).map(tuple)
ByType = dict[type[Message], st.SearchStrategy[Message]]
by_agent: dict[type[BrokerAgent], ByType] = {
    Simple: {
        simple.Sub: st.builds(simple.Sub, filters),
        simple.Uns: st.builds(simple.Uns, filters),
        family.Pub: st.builds(family.Pub, bytes_1, notifications),
    },
    Phoenix: {
        parts.Sub: st.builds(parts.Sub, nodes, filters),
        parts.Uns: st.builds(parts.Uns, nodes, filters),
        phoenix.Pub: st.builds(phoenix.Pub, stamps, bytes_1, addressees, notifications),
        phoenix.Mig: st.builds(phoenix.Mig, nodes, nodes, stamps, bytes_2),
        phoenix.Rep: st.builds(phoenix.Rep, nodes, stamps, bytes_1, notifications),
        phoenix.Turn: st.builds(phoenix.Turn, nodes, stamps, bytes_2, st.booleans()),
        phoenix.NumberedSub: st.builds(phoenix.NumberedSub, nodes, filters, bytes_2),
        phoenix.NumberedUns: st.builds(phoenix.NumberedUns, nodes, filters, bytes_2),
    },
    FirstApproach: {
        parts.Sub: st.builds(parts.Sub, nodes, filters),
        parts.Uns: st.builds(parts.Uns, nodes, filters),
        family.Pub: st.builds(family.Pub, bytes_1, notifications),
        Filters: st.builds(Filters, several),
        first.Mig: st.builds(first.Mig, nodes, nodes),
        first.Rep: st.builds(first.Rep, nodes, bytes_1, notifications),
        first.Bmig: st.builds(first.Bmig, nodes, addressees),
        first.Btab: st.builds(first.Btab, entries),
        first.Fmig: st.builds(first.Fmig),
    },
    Caching: {
        simple.Sub: st.builds(simple.Sub, filters),
        simple.Uns: st.builds(simple.Uns, filters),
        family.Pub: st.builds(family.Pub, bytes_1, notifications),
        caching.Request: st.builds(caching.Request, bytes_2, somebody, somebody, several, addressees, identifiers),
        caching.Response: st.builds(caching.Response, bytes_2, st.booleans(), bytes_1, addressees, notifications),
    },
}
agents = pytest.mark.parametrize("agent", by_agent, ids=lambda agent: agent.__name__)


@agents
def test_every_message_of_the_protocol_is_tried_here(agent: type[BrokerAgent]) -> None:
    """The strategies above leave out none."""
    assert {*by_agent[agent], *SHARED_MESSAGES} == set(agent.messages)


@agents
@given(st.data())
def test_every_message_decodes_to_itself(agent: type[BrokerAgent], data: st.DataObject) -> None:
    """The bytes hold every field, bare and inside the link layer."""
    message = data.draw(st.one_of(*by_agent[agent].values()))
    frame = LinkData(1, 2, message)
    assert agent.messages.decode(message.encode()) == message
    assert agent.messages.decode(frame.encode()) == frame


@agents
@given(st.data())
def test_a_message_cut_short_is_refused(agent: type[BrokerAgent], data: st.DataObject) -> None:
    """Any prefix raises DecodeError and nothing else."""
    encoded = data.draw(st.one_of(*by_agent[agent].values())).encode()
    with pytest.raises(DecodeError):
        agent.messages.decode(encoded[: data.draw(st.integers(0, len(encoded) - 1))])


@agents
@given(garbage=st.binary(max_size=60))
def test_garbage_is_refused_or_is_a_message(agent: type[BrokerAgent], garbage: bytes) -> None:
    """Whatever arrives, there is a message whose bytes mean the same, or a DecodeError."""
    try:
        message = agent.messages.decode(garbage)
    except DecodeError:
        return
    assert agent.messages.decode(message.encode()).encode() == message.encode()


EMPTY = Notification(NotificationId(1, 2), ())


@pytest.mark.parametrize(
    ("message", "size"),
    [
        (simple.Sub(Filter()), 2),
        (simple.Uns(Filter()), 2),
        (parts.Sub(1, Filter()), 4),
        (parts.Uns(1, Filter()), 4),
        (phoenix.NumberedSub(1, Filter(), 7), 8),
        (phoenix.NumberedUns(1, Filter(), 7), 8),
        (phoenix.Pub(NEVER, 0, (1, 2), EMPTY), 23),
        (phoenix.Mig(1, 2, NEVER), 13),
        (phoenix.Rep(1, NEVER, 0, EMPTY), 19),
        (phoenix.Turn(1, NEVER, 2, True), 12),
        (first.Mig(1, 2), 5),
        (first.Rep(1, 0, EMPTY), 13),
        (first.Bmig(4, (1, 2, 3)), 10),
        (first.Btab((first.Row(1, 2, Filter()), first.Row(3, 4, Filter()))), 13),
        (first.Fmig(), 1),
        (caching.Request(1, 1, route=(1,)), 13),
        (caching.Request(1, 2, 3, (Filter(),), (1, 2), (EMPTY.id,)), 22),
        (caching.Response(1, kept=True, hops=1, route=(1, 2), notification=EMPTY), 19),
    ],
    ids=str,
)
def test_sizes_on_the_air(message: Message, size: int) -> None:
    """Two bytes an address, six a timestamp, one for tag, hops and most counts each; five and the filter an entry."""
    assert len(message.encode()) == size
