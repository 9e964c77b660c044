"""R_i and T_i of a broker."""

from roambus.python_protocol.mft.messages import UNKNOWN, RoutingTable, Timestamp
from tests.python_protocol.mft.network import event, topic


def test_a_subscriber_not_known_has_the_least_timestamp() -> None:
    """Section 4.3: timestamp 0, no filters, no way."""
    table = RoutingTable()
    assert (table.get(7), table.timestamp(7), table.filters(7), table.next_hop(7)) == (None, UNKNOWN, (), None)


def test_an_update_replaces_next_hop_and_timestamp_and_keeps_the_filters() -> None:
    """All entries (-, -, s) become (-, z, s) together."""
    table = RoutingTable()
    table.update(7, 1, Timestamp(1, 2)).filters.update(dict.fromkeys((topic(1), topic(2))))
    table.update(7, 3, Timestamp(2, 1))
    assert (table.next_hop(7), table.timestamp(7)) == (3, Timestamp(2, 1))
    assert table.filters(7) == (topic(1), topic(2))


def test_without_filters_there_is_no_entry_but_the_timestamp_stays() -> None:
    """Section 4.1: a higher number without active subscriptions tells that the subscriber has left."""
    table = RoutingTable()
    table.update(7, 1, Timestamp(3, 2))
    assert table.next_hop(7) is None
    assert table.timestamp(7) == Timestamp(3, 2)


def test_ways_are_the_next_hops_to_subscribers_with_entries() -> None:
    """A subscriber with entries and an unknown way has none; one that has left is not there."""
    table = RoutingTable()
    for subscriber in (7, 8):
        table.update(subscriber, 1, Timestamp(1, 1)).filters[topic(1)] = None
    table.update(8, 1, Timestamp(2, 1)).next_hop = None
    table.update(9, 1, Timestamp(3, 2))
    assert table.ways(0) == {7: (1,), 8: ()}


def test_matching_names_each_subscriber_once_with_its_next_hop() -> None:
    """Two matching filters of a subscriber are one recipient; one whose way is not known is a recipient too."""
    table = RoutingTable()
    table.update(7, 1, Timestamp(1, 1)).filters.update(dict.fromkeys((topic(1), topic(1), topic(2))))
    table.update(8, 2, Timestamp(1, 1)).filters[topic(2)] = None
    table.update(9, 2, Timestamp(1, 1)).filters[topic(1)] = None
    route = table.get(9)
    assert route is not None
    route.next_hop = None
    assert table.matching(event(1)) == [(7, 1), (9, None)]


def test_subscribers_come_in_the_order_in_which_they_became_known() -> None:
    """An update does not move a subscriber: what a broker sends does not depend on chance."""
    table = RoutingTable()
    for subscriber in (9, 3, 7, 3):
        table.update(subscriber, 1, Timestamp(1, 1))
    assert [subscriber for subscriber, _ in table] == [9, 3, 7]
