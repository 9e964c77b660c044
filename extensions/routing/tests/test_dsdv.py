"""DSDV's rules: which routes are taken, and when they are announced (Perkins and Bhagwat 1994)."""

from __future__ import annotations

import pytest

from roambus.extensions.routing.dsdv import (
    INFINITE,
    MOST_ENTRIES,
    PERIODIC_TIMER,
    TRIGGERED_TIMER,
    Advertised,
    Dsdv,
    Update,
)
from roambus.extensions.routing.tests.bench import ME, Bench, dropped, packet, sent
from roambus.python_protocol.events import Started
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.parts.unicast import DataPacket
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND

FAR = 9
"""A destination."""


def bench(**parameters: object) -> Bench:
    """A node that has heard of FAR, two hops away by node 1, with number 10."""
    made = Bench(Dsdv, **{"aggregation_time": 0, "update_jitter": 0, **parameters})
    made.hear(route(1, 10), 1)
    made.fire(TRIGGERED_TIMER)
    return made


def route(metric: int, sequence: int) -> Update:
    """An update about FAR."""
    return Update(False, (Advertised(FAR, metric, sequence),))


@pytest.mark.parametrize(
    ("metric", "sequence", "next_hop"), [(9, 12, 2), (0, 10, 2), (1, 10, 1), (0, 8, 1), (INFINITE, 10, 1)]
)
def test_a_newer_number_wins_and_then_the_smaller_metric(metric: int, sequence: int, next_hop: int) -> None:
    """The sender of the first update is node 1, that of the second node 2."""
    node = bench()
    node.hear(route(metric, sequence), 2)
    assert node.agent.ways(0) == {FAR: (next_hop,)}


def test_a_broken_link_makes_the_next_odd_number_and_is_announced_at_once() -> None:
    """Only routes over it break."""
    node = bench()
    node.hear(Update(False, (Advertised(2, 0, 4),)), 2)
    node.agent.lose_link(1, (), node.now)
    assert node.agent.ways(0) == {2: (2,)}
    node.timers[TRIGGERED_TIMER] = node.now
    ((destination, update),) = sent(node.fire(TRIGGERED_TIMER), Update)
    assert destination == BROADCAST
    assert Advertised(FAR, INFINITE, 11) in update.entries


def test_a_newer_break_is_believed_and_an_older_one_answered() -> None:
    """Who has a newer route announces it (section 3: important news)."""
    node = bench()
    node.hear(route(INFINITE, 9), 2)
    ((_, update),) = sent(node.fire(TRIGGERED_TIMER), Update)
    assert Advertised(FAR, 2, 10) in update.entries
    node.hear(route(INFINITE, 11), 2)
    assert node.agent.ways(0) == {}


def test_a_sender_that_lacks_a_route_is_told_also_after_a_full_dump() -> None:
    """Once: no timer runs without news."""
    node = bench()
    node.fire(PERIODIC_TIMER)
    assert TRIGGERED_TIMER not in node.timers
    node.hear(route(INFINITE, 9), 2)
    ((_, update),) = sent(node.fire(TRIGGERED_TIMER), Update)
    assert update.entries[1:] == (Advertised(FAR, 2, 10),)
    assert TRIGGERED_TIMER not in node.timers


def test_a_full_dump_advertises_the_last_settled_route_and_ends_no_wait() -> None:
    """Packets take the newest one meanwhile (sections 3 and 4: two tables)."""
    node = bench(settling_time=10 * SECOND, settling_weight=1.0, update_interval=15 * SECOND)
    node.timers[PERIODIC_TIMER] = 20 * SECOND
    node.hear(route(4, 12), 2, 14 * SECOND)
    assert node.agent.ways(0) == {FAR: (2,)}
    ((_, update),) = sent(node.fire(PERIODIC_TIMER), Update)
    assert update.entries[1:] == (Advertised(FAR, 2, 10),)
    assert node.timers[TRIGGERED_TIMER] == 34 * SECOND
    ((_, update),) = sent(node.fire(TRIGGERED_TIMER), Update)
    assert update.entries[1:] == (Advertised(FAR, 5, 12),)


def test_a_newer_number_with_the_same_metric_lets_the_wait_go_on() -> None:
    """Numbers that come faster than routes settle must not put the news off for ever; another metric begins anew."""
    for triggers in (True, False):
        node = bench(settling_time=10 * SECOND, settling_weight=1.0, sequence_triggers=triggers)
        node.hear(route(4, 12), 2, 2 * SECOND)
        node.hear(route(4, 14), 2, 6 * SECOND)
        assert node.timers[TRIGGERED_TIMER] == 22 * SECOND
        node.hear(route(3, 16), 2, 7 * SECOND)
        assert node.timers[TRIGGERED_TIMER] == 27 * SECOND
        node.hear(route(1, 18), 1, 8 * SECOND)
        assert (TRIGGERED_TIMER in node.timers) is triggers


def test_the_return_of_a_route_is_news_until_it_is_told() -> None:
    """A newer number with another metric makes it wait no more than the first did."""
    node = bench(settling_time=10 * SECOND, aggregation_time=SECOND)
    node.hear(route(INFINITE, 11), 1, 2 * SECOND)
    node.fire(TRIGGERED_TIMER)
    node.hear(route(3, 12), 2, 4 * SECOND)
    node.hear(route(2, 14), 2, round(4.5 * SECOND))
    assert node.timers[TRIGGERED_TIMER] == 5 * SECOND


def test_an_incremental_dump_carries_the_last_settled_route_of_one_that_waits() -> None:
    """It has changed since the last full dump."""
    node = bench(settling_time=10 * SECOND, settling_weight=1.0)
    node.hear(route(4, 12), 2, 2 * SECOND)
    node.hear(Update(False, (Advertised(3, 0, 2),)), 3, 3 * SECOND)
    ((_, update),) = sent(node.fire(TRIGGERED_TIMER), Update)
    assert update.entries[1:] == (Advertised(3, 1, 2), Advertised(FAR, 2, 10))
    assert node.timers[TRIGGERED_TIMER] == 22 * SECOND


def test_a_full_dump_moves_the_timer_of_the_news_that_it_tells() -> None:
    """To the next news, if there is any."""
    node = bench(settling_time=10 * SECOND, settling_weight=1.0, aggregation_time=SECOND)
    node.hear(route(4, 12), 2, 2 * SECOND)
    node.hear(Update(False, (Advertised(3, 0, 2),)), 3, 3 * SECOND)
    assert node.timers[TRIGGERED_TIMER] == 4 * SECOND
    node.timers[PERIODIC_TIMER] = round(3.5 * SECOND)
    node.fire(PERIODIC_TIMER)
    assert node.timers[TRIGGERED_TIMER] == 22 * SECOND


def test_a_full_frame_of_routes_is_the_largest_that_fits() -> None:
    """IEEE 802.15.4 leaves 102 bytes to a message."""
    sizes = [len(Update(True, (Advertised(1, 1, 2),) * count).encode()) for count in (MOST_ENTRIES, MOST_ENTRIES + 1)]
    assert sizes[0] <= 102 < sizes[1]


def test_a_node_outbids_a_break_of_its_own() -> None:
    """Destinations give even numbers."""
    node = bench()
    actions = node.hear(Update(False, (Advertised(ME, INFINITE, 21),)), 1)
    ((_, update),) = sent(actions, Update)
    assert update.entries[0] == Advertised(ME, 0, 24)


def test_another_metric_waits_for_twice_the_average_settling_time() -> None:
    """A better one under the same number does not start the wait anew; a new number alone does not wait."""
    node = bench(settling_time=2 * SECOND, settling_weight=1.0)
    node.hear(route(3, 12), 2, SECOND)
    assert node.timers[TRIGGERED_TIMER] == 5 * SECOND
    node.hear(route(2, 12), 3, 2 * SECOND)
    assert node.timers[TRIGGERED_TIMER] == 5 * SECOND
    ((_, update),) = sent(node.fire(TRIGGERED_TIMER), Update)
    assert Advertised(FAR, 3, 12) in update.entries
    node.hear(route(2, 14), 3, 6 * SECOND)
    assert node.timers[TRIGGERED_TIMER] == 6 * SECOND


def test_the_average_settling_time_follows_the_last_ones() -> None:
    """A second from the number's first to its best metric, with a weight of a quarter."""
    node = bench(settling_time=2 * SECOND, settling_weight=0.75)
    node.hear(route(3, 12), 2, SECOND)
    node.hear(route(2, 12), 3, 2 * SECOND)
    before = node.agent.routes[FAR].average
    node.hear(route(2, 14), 3, 6 * SECOND)
    assert node.agent.routes[FAR].average == 0.75 * before + 0.25 * SECOND


def test_a_new_number_alone_triggers_an_update_by_option() -> None:
    """Broch et al. call it DSDV-SQ."""
    for chosen in (True, False):
        node = bench(sequence_triggers=chosen)
        node.hear(route(1, 12), 1)
        assert (TRIGGERED_TIMER in node.timers) is chosen


def test_changes_that_fill_a_frame_make_a_full_dump() -> None:
    """It goes out in parts, each with the node's own new number."""
    node = bench()
    node.hear(Update(False, tuple(Advertised(number, 1, 2) for number in range(20, 20 + MOST_ENTRIES))), 1)
    updates = [update for _, update in sent(node.fire(TRIGGERED_TIMER), Update)]
    assert [(update.full, len(update.entries)) for update in updates] == [(True, MOST_ENTRIES), (True, 3)]
    assert {update.entries[0] for update in updates} == {Advertised(ME, 0, 2)}


def test_an_incremental_dump_carries_what_changed_since_the_full_one() -> None:
    """A route that stays the same is not in it."""
    node = bench()
    node.fire(PERIODIC_TIMER)
    node.hear(Update(False, (Advertised(3, 0, 2),)), 3)
    ((_, update),) = sent(node.fire(TRIGGERED_TIMER), Update)
    assert update == Update(False, (Advertised(ME, 0, 2), Advertised(3, 1, 2)))


def test_a_silent_neighbour_is_lost_after_three_updates() -> None:
    """At the next full dump."""
    node = bench(update_interval=SECOND)
    while node.timers[PERIODIC_TIMER] < 3 * SECOND:
        node.fire(PERIODIC_TIMER)
        assert node.agent.ways(0)
    node.fire(PERIODIC_TIMER)
    assert not node.agent.ways(0)


def test_packets_wait_for_a_route() -> None:
    """Five for each destination; the sixth is dropped."""
    node = Bench(Dsdv)
    answers = [node.hear(packet(FAR), 5) for _ in range(6)]
    assert [dropped(actions) for actions in answers] == [[]] * 5 + [["no route"]]
    released = sent(node.hear(route(1, 2), 1), DataPacket)
    assert [(to, sent_packet.ttl) for to, sent_packet in released] == [(1, 34)] * 5


def test_dumps_come_at_random_within_their_interval() -> None:
    """The first from 0 on; a later one is early by at most the jitter."""
    node = Bench(Dsdv, update_interval=1, update_jitter=0)
    firsts = set()
    for _ in range(40):
        node.handle(Started(), 0)
        firsts.add(node.timers[PERIODIC_TIMER])
    assert firsts == {0, 1}
    node = Bench(Dsdv, update_interval=10 * SECOND, update_jitter=SECOND)
    pauses = []
    for _ in range(60):
        before = node.timers[PERIODIC_TIMER]
        node.fire(PERIODIC_TIMER)
        pauses.append(node.timers[PERIODIC_TIMER] - before)
    assert 9 * SECOND <= min(pauses) < 9.2 * SECOND
    assert 9.8 * SECOND < max(pauses) <= 10 * SECOND


def test_a_neighbour_is_lost_when_three_intervals_are_over() -> None:
    """And not before."""
    for at, lost in ((3 * SECOND - 1, False), (3 * SECOND, True)):
        node = Bench(Dsdv, update_interval=SECOND)
        node.hear(Update(False, (Advertised(1, 0, 2),)), 1, 0)
        node.timers[PERIODIC_TIMER] = at
        node.fire(PERIODIC_TIMER)
        assert (node.agent.ways(at) == {}) is lost


@pytest.mark.parametrize(("changes", "full"), [(MOST_ENTRIES - 1, [False]), (MOST_ENTRIES, [True, True])])
def test_as_many_changes_as_a_frame_has_with_the_own_entry_are_incremental(changes: int, full: list[bool]) -> None:
    """One more makes a full dump in two frames."""
    node = Bench(Dsdv, aggregation_time=0)
    node.fire(PERIODIC_TIMER)
    node.hear(Update(False, tuple(Advertised(number, 1, 2) for number in range(20, 20 + changes))), 1)
    updates = [update for _, update in sent(node.fire(TRIGGERED_TIMER), Update)]
    assert [update.full for update in updates] == full
    assert sum(len(update.entries) - 1 for update in updates) == changes


def test_a_node_without_routes_dumps_its_own_entry() -> None:
    """Neighbours learn of it, with a new number each time."""
    node = Bench(Dsdv)
    for number in (2, 4):
        assert [update for _, update in sent(node.fire(PERIODIC_TIMER), Update)] == [
            Update(True, (Advertised(ME, 0, number),))
        ]


def test_an_update_that_is_set_for_its_news_is_not_put_off_by_later_ones() -> None:
    """It waits for more news only before it is due."""
    node = bench(settling_time=10 * SECOND, settling_weight=1.0, aggregation_time=SECOND)
    node.hear(route(4, 12), 2, 2 * SECOND)
    assert node.timers[TRIGGERED_TIMER] == 22 * SECOND
    actions = node.hear(route(4, 12), 3, round(21.5 * SECOND))
    assert node.timers[TRIGGERED_TIMER] == 22 * SECOND
    assert actions == []


def test_a_timer_is_set_once_for_the_same_news() -> None:
    """Its time stays."""
    node = bench(aggregation_time=SECOND)
    node.hear(Update(False, (Advertised(3, 0, 2),)), 3, 3 * SECOND)
    assert node.hear(Update(False, (Advertised(3, 0, 2),)), 3, 3 * SECOND) == []


def test_a_destination_without_a_way_is_no_news() -> None:
    """The node keeps it to itself."""
    node = bench()
    node.hear(Update(False, (Advertised(7, INFINITE, 3), Advertised(8, INFINITE - 1, 2))), 2)
    assert set(node.agent.routes) == {FAR}
    assert TRIGGERED_TIMER not in node.timers
    assert Update(False, (Advertised(7, INFINITE, 3),)).encode()


def test_old_news_of_a_route_are_no_news() -> None:
    """An older finite one, and an older break of a broken route."""
    node = bench()
    node.hear(route(1, 8), 2)
    assert TRIGGERED_TIMER not in node.timers
    node.hear(route(INFINITE, 11), 1)
    node.fire(TRIGGERED_TIMER)
    node.hear(route(INFINITE, 9), 2)
    assert TRIGGERED_TIMER not in node.timers


def test_breaks_and_returns_do_not_count_in_the_average_settling_time() -> None:
    """Only a route that stood has settled."""
    node = bench(settling_time=2 * SECOND, settling_weight=0.75)
    before = node.agent.routes[FAR].average
    node.hear(route(INFINITE, 11), 1, SECOND)
    assert node.agent.routes[FAR].average == before
    node.hear(route(1, 12), 1, 2 * SECOND)
    assert node.agent.routes[FAR].average == before


def test_waiting_packets_leave_when_their_route_returns() -> None:
    """They wait on while it stays broken; a lost link brings back packets alone."""
    node = bench()
    node.agent.lose_link(1, (packet(FAR), Update(False, ())), node.now)
    assert [each.destination for each in node.agent.queue] == [FAR]
    assert not sent(node.hear(route(INFINITE, 13), 2), DataPacket)
    ((to, _),) = sent(node.hear(route(1, 14), 2), DataPacket)
    assert to == 2


def test_the_table_shows_what_is_broken() -> None:
    """Its metric is infinite."""
    node = bench()
    node.hear(Update(False, (Advertised(2, 0, 4),)), 2)
    node.agent.lose_link(1, (), node.now)
    rows = list(node.agent._rows(Names()))
    assert rows == [("n2", "n2", "1", "4"), ("n9", "n1", "infinite", "11")]
