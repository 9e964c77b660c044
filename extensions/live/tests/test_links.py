"""A live node takes the frames that would have arrived over the links of the template, when they would have arrived."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.backend import Transmission
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.mobility.random_waypoint import RandomWaypoint
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.plans import LinkChange, LinkDelay, Partition
from roambus.extensions.live.links import ALL, links_of
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.support.scenarios import scenario

NODES = 4
PAIRS = [(a, b) for a in range(NODES) for b in range(a + 1, NODES)]
TIMES = st.integers(0, 9999).map(lambda ms: ms * MILLISECOND)


class Number(Message, tag=1):
    value: U8


def simulated(described: Scenario, sender: int, receiver: int, sent: int) -> int | None:
    """When a frame arrives over the links of the ideal back-end."""
    backend = make_ideal(described)
    backend.open()
    outgoing = [Transmission(sender, sent, BROADCAST, Number(1), 2)]
    while (step := backend.advance(outgoing, None)) is not None:
        outgoing = []
        for delivery in step.deliveries:
            if delivery.receiver == receiver:
                return step.now
    return None


CHANGES = st.lists(
    st.one_of(
        st.builds(
            lambda at, pair, up: LinkChange(at, pair[0], pair[1], up=up), TIMES, st.sampled_from(PAIRS), st.booleans()
        ),
        st.builds(
            lambda at, group: Partition(at, (frozenset(group),) if group else ()),
            TIMES,
            st.sets(st.integers(0, NODES - 1)),
        ),
    ),
    max_size=8,
)


@settings(max_examples=60)
@given(CHANGES, st.sets(st.sampled_from(PAIRS)), st.integers(1, 2000), TIMES, st.permutations(range(NODES)))
def test_a_given_graph_is_the_one_of_ideal_links(
    changes: list[LinkChange | Partition], links: set[tuple[int, int]], delay_ms: int, sent: int, ends: list[int]
) -> None:
    """Whatever becomes of links and partitions, and however long a frame is under way."""
    sender, receiver, *_ = ends
    ideal = IdealLinks(
        delay=delay_ms * MILLISECOND,
        links=tuple(links),
        changes=(LinkChange(0, 0, 1, up=False), *(change for change in changes if isinstance(change, LinkChange)))
        if not links
        else tuple(change for change in changes if isinstance(change, LinkChange)),
        partitions=tuple(change for change in changes if isinstance(change, Partition)),
        delays=(LinkDelay(0, 1, 3 * MILLISECOND),),
    )
    described = scenario([Role.NONE] * NODES, ideal=ideal)
    live = links_of("ideal", described, receiver).arrival(sender, sent)
    expected = simulated(described, sender, receiver, sent)
    assert (live if live is not None and live < described.time_limit else None) == expected


def moving(seed: int = 3, **changes: float) -> Scenario:
    described = scenario([Role.NONE] * NODES, seed=seed, time_limit=60 * SECOND, ideal=IdealLinks(**changes))  # type: ignore[arg-type]
    return replace(
        described,
        nodes=tuple(NodeSettings(mobility=RandomWaypoint(speed_mps=8)) for _ in range(NODES)),
        channel=replace(described.channel, only_static_nodes=False),
    )


def test_moving_nodes_are_linked_as_over_ideal_links() -> None:
    """Within the range, at the same moments: looked at each 0.7 s, between all pairs."""
    described = moving(range_m=45)
    for receiver in range(NODES):
        links = links_of("ideal", described, receiver)
        for sender in set(range(NODES)) - {receiver}:
            for sent in range(0, 60 * SECOND, 7 * SECOND // 2):
                assert links.arrival(sender, sent) == simulated(described, sender, receiver, sent)


def test_links_lose_the_share_that_the_template_says() -> None:
    """Live as over ideal links: of 4,000 frames each loses a tenth, up to what chance does (four deviations)."""
    described = scenario([Role.NONE] * 2, time_limit=50 * SECOND, ideal=IdealLinks(links=((0, 1),), loss=0.1))
    links, backend = links_of("ideal", described, 1), make_ideal(described)
    backend.open()
    sent = [Transmission(0, number * 10 * MILLISECOND, 1, Number(1), 2) for number in range(4000)]
    simulated_number = 0
    while (step := backend.advance(sent, None)) is not None:
        simulated_number, sent = simulated_number + len(step.deliveries), []
        assert not step.failures
    live_number = sum(links.arrival(0, number * 10 * MILLISECOND) is not None for number in range(4000))
    assert abs(live_number - 3600) < 4 * 19
    assert abs(simulated_number - 3600) < 4 * 19


def test_on_a_real_network_who_receives_a_datagram_hears_it() -> None:
    """At once, whatever the template says of its links."""
    assert links_of(ALL, scenario([Role.NONE] * 2, ideal=IdealLinks(loss=1.0)), 0).arrival(1, 5) == 5
