"""OLSR's rules: neighbours, relays, flooding, and the routing table (RFC 3626)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.routing.olsr import Olsr
from roambus.extensions.routing.olsr.agent import HELLO_TIMER, TC_TIMER
from roambus.extensions.routing.olsr.messages import (
    Hello,
    LinkMessage,
    LinkType,
    NeighborType,
    TopologyControl,
    Willingness,
    decode_time,
    encode_time,
    link_code,
)
from roambus.extensions.routing.olsr.neighborhood import select_mprs
from roambus.extensions.routing.tests.bench import ME, Bench, dropped, packet, sent
from roambus.python_protocol.parts.unicast import DataPacket
from roambus.python_protocol.simtime import SECOND

SYM = link_code(LinkType.SYM_LINK, NeighborType.SYM_NEIGH)
MPR = link_code(LinkType.SYM_LINK, NeighborType.MPR_NEIGH)
ASYM = link_code(LinkType.ASYM_LINK, NeighborType.NOT_NEIGH)
LOST = link_code(LinkType.LOST_LINK, NeighborType.NOT_NEIGH)
SIX_S, FIFTEEN_S = 0x86, 0xE7


def hello(*links: tuple[int, tuple[int, ...]], willingness: int = 3) -> Hello:
    """A HELLO with these link codes and neighbours, valid for 6 s."""
    return Hello(SIX_S, 0x05, willingness, tuple(LinkMessage(*link) for link in links))


def tc(originator: int, *selectors: int, number: int = 1, ansn: int = 1, ttl: int = 255) -> TopologyControl:
    """A TC, valid for 15 s."""
    return TopologyControl(FIFTEEN_S, originator, ttl, 0, number, ansn, selectors)


def codes(node: Bench) -> dict[int, int]:
    """The link code of each neighbour in the node's next HELLO."""
    ((_, said),) = sent(node.fire(HELLO_TIMER), Hello)
    return {neighbor: link.link_code for link in said.links for neighbor in link.neighbors}


@pytest.mark.parametrize(("seconds", "field"), [(6, SIX_S), (15, FIFTEEN_S), (2, 0x05), (1, 0x04)])
def test_times_are_those_of_the_rfc(seconds: int, field: int) -> None:
    """Section 18.3 has 6 s and 15 s with their mantissas and exponents."""
    assert encode_time(seconds * SECOND) == field
    assert decode_time(field) == seconds * SECOND


@given(st.integers(1, 3900 * SECOND))
def test_a_time_is_rounded_up_by_a_sixteenth_at_most(time: int) -> None:
    """To the next that a field can hold."""
    decoded = decode_time(encode_time(time))
    assert decoded >= time
    assert decoded <= max(time * 17 // 16 + 1, SECOND // 16)


def test_times_beyond_a_mantissa_take_the_next_exponent_and_the_largest_is_the_last() -> None:
    """Section 18.3; the unit is a sixteenth of a second."""
    assert (encode_time(SECOND // 8 - 1), encode_time(0), encode_time(1)) == (0x01, 0x00, 0x00)
    assert (encode_time(5000 * SECOND), decode_time(0xFF)) == (0xFF, 3968 * SECOND)
    assert encode_time(3968 * SECOND) == 0xFF


def test_willingness_has_the_numbers_of_section_18() -> None:
    """And so have the types of links and neighbours."""
    assert [int(value) for value in Willingness] == [0, 1, 3, 6, 7]
    assert [int(value) for value in LinkType] == [0, 1, 2, 3]
    assert [int(value) for value in NeighborType] == [0, 1, 2]


def test_a_link_is_asymmetric_until_the_neighbour_lists_this_node() -> None:
    """Section 7.1.1; a lost link is announced until it is deleted."""
    node = Bench(Olsr)
    node.hear(hello(), 1)
    assert codes(node) == {1: ASYM}
    node.hear(hello((ASYM, (ME,))), 1)
    assert codes(node) == {1: SYM}
    node.hear(hello((LOST, (ME,))), 1)
    since = node.now
    assert codes(node) == {1: ASYM}
    while node.now <= since + 6 * SECOND:
        said = codes(node)
    assert said == {1: LOST}
    while node.now <= since + 12 * SECOND:
        said = codes(node)
    assert said == {}


def test_the_link_layer_reports_a_lost_link() -> None:
    """Section 13: for NEIGHB_HOLD_TIME, whatever HELLOs say."""
    node = Bench(Olsr)
    node.hear(hello((SYM, (ME,))), 1)
    node.agent.lose_link(1, [packet(1)], node.now)
    assert dropped(node.agent.take()) == ["no route"]
    node.hear(hello((SYM, (ME,))), 1)
    assert codes(node) == {1: LOST}


def test_relays_cover_the_two_hop_neighbours() -> None:
    """Section 8.3.1: the only way to one, then the greatest reach, then the degree; unwilling ones are no way."""
    default = int(Willingness.WILL_DEFAULT)
    near = dict.fromkeys((1, 2, 3), default)
    assert select_mprs(near, {7: [1], 8: [1, 2], 9: [2, 3]}) == {1, 2}
    assert select_mprs(near, {7: [1, 2], 8: [1, 2], 9: [2]}) == {2}
    assert select_mprs(near | {3: 6}, {7: [1, 3], 8: [1, 3], 9: [1, 2]}) == {1}
    assert select_mprs(near | {3: 7}, {7: [1]}) == {1, 3}
    assert select_mprs(near, {}) == set()


graphs = st.dictionaries(st.integers(10, 20), st.sets(st.integers(1, 6), min_size=1))


@given(graphs, st.lists(st.integers(1, 7), min_size=6, max_size=6))
def test_relays_always_cover_everything_and_none_is_redundant(graph: dict[int, set[int]], will: list[int]) -> None:
    """In any neighbourhood."""
    near = dict(enumerate(will, 1))
    second = {two: sorted(before) for two, before in graph.items()}
    chosen = select_mprs(near, second)
    assert all(set(before) & chosen for before in second.values())
    for neighbor in chosen:
        is_needed = any(set(before) & chosen == {neighbor} for before in second.values())
        assert is_needed or near[neighbor] == Willingness.WILL_ALWAYS


def test_a_relay_is_named_and_an_unwilling_neighbour_is_none() -> None:
    """WILL_NEVER covers nothing."""
    node = Bench(Olsr)
    node.hear(hello((SYM, (ME, 9)), willingness=0), 1)
    node.hear(hello((SYM, (ME, 9))), 2)
    assert codes(node) == {1: SYM, 2: MPR}


def test_who_is_selected_floods_its_selectors() -> None:
    """Section 9.3: and when there are none any more, that for TOP_HOLD_TIME."""
    node = Bench(Olsr)
    assert not sent(node.fire(TC_TIMER), TopologyControl)
    node.hear(hello((MPR, (ME,))), 1)
    ((_, control),) = sent(node.fire(TC_TIMER), TopologyControl)
    assert (control.advertised_neighbors, control.ansn, control.ttl, control.hop_count) == ((1,), 1, 255, 0)
    node.agent.lose_link(1, [], node.now)
    ((_, control),) = sent(node.fire(TC_TIMER), TopologyControl)
    since = node.now
    assert (control.advertised_neighbors, control.ansn) == ((), 2)
    for late, count in ((15 * SECOND - 1, 1), (15 * SECOND, 0)):
        node.timers[TC_TIMER] = since + late
        assert len(sent(node.fire(TC_TIMER), TopologyControl)) == count


def test_only_the_first_copy_from_a_selector_is_passed_on() -> None:
    """Section 3.4.1; from another neighbour it is processed alone, from a stranger not at all."""
    node = Bench(Olsr)
    node.hear(hello((MPR, (ME,))), 1)
    node.hear(hello((SYM, (ME,))), 2)
    ((_, passed),) = sent(node.hear(tc(7, 8), 1), TopologyControl)
    assert (passed.ttl, passed.hop_count) == (254, 1)
    assert not node.hear(tc(7, 8), 1)
    assert not node.hear(tc(7, 8, number=2), 2)
    assert not node.hear(tc(7, 8, number=2), 1)
    assert not node.hear(tc(7, 8, number=3, ttl=1), 1)
    assert sent(node.hear(tc(7, 8, number=4, ttl=2), 1), TopologyControl)
    assert not node.hear(tc(5, 6), 4)
    assert sorted(node.agent.topology) == [7]


def test_an_older_topology_is_ignored() -> None:
    """Section 9.5: by the ANSN, which wraps around."""
    node = Bench(Olsr)
    node.hear(hello((SYM, (ME, 7))), 1)
    node.hear(tc(7, 8, number=1, ansn=65535), 1)
    node.hear(tc(7, 9, number=2, ansn=65534), 1)
    assert node.agent.topology[7].destinations == (8,)
    node.hear(tc(7, 9, number=3, ansn=0), 1)
    assert node.agent.topology[7].destinations == (9,)
    node.hear(hello((SYM, (ME, 7))), 1, 14 * SECOND)
    for late, destinations in ((15 * SECOND - 1, (9,)), (15 * SECOND, (8,))):
        node.hear(tc(7, 8, number=4 + late % 2, ansn=65535), 1, late)
        assert node.agent.topology[7].destinations == destinations


def test_topology_and_flooded_messages_are_forgotten_in_their_time() -> None:
    """With each HELLO: a TC after its validity, its number after DUP_HOLD_TIME."""
    node = Bench(Olsr)
    node.hear(hello((SYM, (ME,))), 1)
    node.hear(tc(7, 8), 1)
    for at, memories in (
        (15 * SECOND - 1, (True, True)),
        (15 * SECOND, (False, True)),
        (30 * SECOND - 1, (False, True)),
        (30 * SECOND, (False, False)),
    ):
        node.timers[HELLO_TIMER] = at
        node.fire(HELLO_TIMER)
        assert (7 in node.agent.topology, bool(node.agent._seen)) == memories


def test_routes_follow_neighbours_two_hop_neighbours_and_topology() -> None:
    """Section 10; expired tuples lead nowhere, at once."""
    node = Bench(Olsr)
    node.hear(hello((SYM, (ME, 2))), 1)
    node.hear(tc(2, 3, 1), 1)
    node.hear(tc(3, 4, 2), 1)
    assert node.agent.ways(0) == dict.fromkeys((1, 2, 3, 4), (1,))
    assert [node.agent.routes(0)[node_id].distance for node_id in (1, 2, 3, 4)] == [1, 2, 3, 4]
    node.hear(hello((SYM, (ME, 6))), 5, 10 * SECOND)
    assert node.agent.ways(10 * SECOND) == {5: (5,), 6: (5,)}
    node.hear(tc(6, 7), 5, 10 * SECOND)
    node.hear(hello((SYM, (ME, 6))), 5, 24 * SECOND)
    assert [set(node.agent.ways(25 * SECOND - early)) for early in (1, 0)] == [{5, 6, 7}, {5, 6}]
    assert node.agent.ways(30 * SECOND) == {}


def test_a_neighbours_topology_gives_no_way_that_its_hello_does_not() -> None:
    """Section 10 takes topology tuples from two hops on; a HELLO is fresher than a TC."""
    node = Bench(Olsr)
    node.hear(hello((SYM, (ME, 2))), 1)
    node.hear(tc(1, 3), 1)
    assert set(node.agent.routes(0)) == {1, 2}
    node.hear(tc(2, 3, number=2), 1)
    assert node.agent.routes(0)[3].distance == 3


def test_intervals_are_early_by_a_quarter_of_a_hello_interval_at_most() -> None:
    """MAXJITTER of section 18.3, for HELLOs and TCs; they are valid for three intervals."""
    node = Bench(Olsr)
    node.hear(hello((MPR, (ME,))), 1)
    kinds: tuple[tuple[str, type[Hello | TopologyControl], int, int], ...] = (
        (HELLO_TIMER, Hello, 2 * SECOND, SIX_S),
        (TC_TIMER, TopologyControl, 5 * SECOND, FIFTEEN_S),
    )
    for timer, kind, interval, validity in kinds:
        gaps = []
        for _ in range(40):
            due = node.timers[timer]
            node.hear(hello((MPR, (ME,))), 1, due)
            ((_, said),) = sent(node.fire(timer), kind)
            gaps.append(node.timers[timer] - due)
            assert said.vtime == validity
        assert interval - SECOND // 2 <= min(gaps) < interval - 2 * SECOND // 5
        assert interval - SECOND // 10 < max(gaps) <= interval


def test_a_topology_from_an_asymmetric_neighbour_or_of_this_node_is_ignored() -> None:
    """Section 9.5; a node's own comes back from its relays."""
    node = Bench(Olsr)
    node.hear(hello((MPR, (ME,))), 1)
    node.hear(hello(), 2)
    assert not node.hear(tc(7, 8), 2)
    assert not node.hear(tc(ME, 1), 1)
    assert node.agent.topology == {}


def test_a_topology_leads_beyond_neighbours_and_packets_follow_the_table() -> None:
    """A packet without a route has a row."""
    node = Bench(Olsr)
    node.hear(hello((SYM, (ME, 2))), 1)
    node.hear(tc(2, 8), 1)
    assert node.agent.ways(0) == {1: (1,), 2: (1,), 8: (1,)}
    assert [to for to, _ in sent(node.hear(packet(8), 2), DataPacket)] == [1]
    assert dropped(node.hear(packet(9), 2)) == ["no route"]
