"""R_i of (f, z, s)."""

from __future__ import annotations

from roambus.python_protocol.brokers.routing import Entry, RoutingTable
from roambus.python_protocol.filters import Filter
from tests.python_protocol.brokers.network import event, topic


def table(*entries: tuple[Filter, int, int]) -> RoutingTable:
    made = RoutingTable()
    for entry in entries:
        made.add(*entry)
    return made


def test_a_filter_of_a_subscriber_is_entered_once() -> None:
    """Algorithms 2.2 and 3.1, lines 2 and 3: whatever the interface."""
    assert list(table((topic(1), 2, 101), (topic(1), 3, 101), (topic(1), 3, 102))) == [
        Entry(topic(1), 2, 101),
        Entry(topic(1), 3, 102),
    ]


def test_removing_what_is_not_there_does_nothing() -> None:
    """Algorithm 2.2, line 9."""
    made = table((topic(1), 2, 101))
    made.remove(topic(2), 101)
    made.remove(topic(1), 102)
    assert list(made) == [Entry(topic(1), 2, 101)]
    made.remove(topic(1), 101)
    assert list(made) == []


def test_all_entries_of_a_subscriber_are_replaced_together() -> None:
    """Algorithm 2.3, lines 6 and 7."""
    made = table((topic(1), 2, 101), (topic(2), 3, 101), (topic(1), 2, 102))
    assert made.interfaces(101) == [2, 3]
    made.replace(101, 4)
    assert (made.interfaces(101), made.interfaces(102)) == ([4], [2])
    assert made.filters(101) == (topic(1), topic(2))


def test_everybody_else_can_be_forgotten() -> None:
    """Algorithm 3.3, lines 14 and 15."""
    made = table((topic(1), 2, 101), (topic(2), 3, 102), (topic(1), 2, 103))
    made.forget_all_but([102])
    assert made.subscribers() == [102]


def test_each_interface_matches_once_with_the_subscribers_behind_it() -> None:
    """Algorithm 2.2, lines 18 to 20."""
    made = table((topic(1), 2, 101), (Filter(), 2, 101), (topic(1), 2, 102), (topic(1), 3, 103), (topic(2), 4, 104))
    assert made.matching(event(1)) == {2: [101, 102], 3: [103]}
