"""ST, and what the neighbours are told of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.caching.subscriptions import SubscriptionTable, covers
from roambus.python_protocol.filters import Filter, parse_filter
from tests.python_protocol.brokers.network import event, topic

S1, S2, B2, B3 = 101, 102, 2, 3
WIDE, NARROW, OTHER = (parse_filter(text) for text in ("topic < 10", "topic < 5", "topic > 7"))


def table(*entries: tuple[Filter, int]) -> SubscriptionTable:
    made = SubscriptionTable()
    for wanted, interface in entries:
        made.add(wanted, interface)
    return made


def test_each_interface_with_a_match_once() -> None:
    """It does not matter how many of its filters match."""
    made = table((WIDE, S1), (NARROW, S1), (OTHER, S2), (topic(3), B2))
    assert made.matching(event(3)) == [S1, B2]


def test_a_request_concerns_who_may_have_a_message_in_common() -> None:
    """In figure 1, fltr_c matches fltr_a and fltr_b."""
    assert table((WIDE, S1), (NARROW, S2), (OTHER, B2)).overlapping([topic(8), topic(9)]) == [S1, B2]


def test_a_neighbour_is_not_told_of_its_own() -> None:
    """It behaves as a subscriber to the rest."""
    made = table((WIDE, B2))
    assert made.tell(B2) == ((), ())
    assert made.tell(B3) == ((WIDE,), ())


def test_what_is_covered_is_announced_when_that_ends() -> None:
    """By section 3.1 it is told neither twice nor too late."""
    made = table((WIDE, S1))
    assert made.tell(B2) == ((WIDE,), ())
    made.add(NARROW, S2)
    assert made.tell(B2) == ((), ())
    made.remove(WIDE, S1)
    assert made.tell(B2) == ((NARROW,), (WIDE,))
    assert made.tell(B2) == ((), ())


def test_of_two_new_ones_the_wide_one_is_announced() -> None:
    """It does not matter which came first."""
    assert table((NARROW, S1), (WIDE, S2), (OTHER, S2)).tell(B2) == ((WIDE, OTHER), ())


def test_of_an_interface_that_is_gone_nothing_is_left() -> None:
    """It is told all anew if it comes back."""
    made = table((WIDE, B2), (OTHER, S1))
    made.tell(B2)
    made.remove_interface(B2)
    assert list(made) == [(OTHER, S1)]
    assert made.tell(B2) == ((OTHER,), ())


changes = st.tuples(st.booleans(), st.sampled_from([WIDE, NARROW, OTHER, topic(3)]), st.sampled_from([S1, S2, B2, B3]))


@given(st.lists(changes, max_size=20))
def test_a_neighbour_always_knows_of_everything_and_of_nothing_else(steps: list[tuple[bool, Filter, int]]) -> None:
    """Every filter of the others is covered by one that it was told; each of those is still somebody's."""
    made, known = SubscriptionTable(), set[Filter]()
    for is_new, wanted, interface in steps:
        (made.add if is_new else made.remove)(wanted, interface)
        new, withdrawn = made.tell(B2)
        assert not known & set(new)
        assert set(withdrawn) <= known
        known = known - set(withdrawn) | set(new)
        needed = {wanted for wanted, interface in made if interface != B2}
        assert known <= needed
        assert all(any(covers(wide, wanted) for wide in known) for wanted in needed)
