"""Which filters cover each other, and which have nothing in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.caching.subscriptions import covers, overlap, widest
from roambus.python_protocol.filters import Constraint, Filter, Notification, NotificationId, Operator, parse_filter

attributes = st.sampled_from(["a", "b"])
values = st.sampled_from([-1, 0, 1, 1.0, 1.5, 2, "", "a", "ab", "b"])
filters = st.builds(
    Filter, st.lists(st.builds(Constraint, attributes, st.sampled_from(Operator), values), max_size=2).map(tuple)
)
notifications = st.builds(
    lambda held: Notification(NotificationId(1, 1), tuple(sorted(held.items()))),
    st.dictionaries(attributes, values, max_size=2),
)


@given(filters, filters, notifications)
def test_what_the_narrow_one_matches_the_wide_one_matches(wide: Filter, narrow: Filter, event: Notification) -> None:
    """Nothing may be missed because its filter was not forwarded."""
    if covers(wide, narrow) and narrow.matches(event):
        assert wide.matches(event)


@given(filters, filters, notifications)
def test_what_both_match_is_in_common(left: Filter, right: Filter, event: Notification) -> None:
    """No request may be kept from where something matches."""
    if left.matches(event) and right.matches(event):
        assert overlap(left, right)
        assert overlap(right, left)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("all", "a = 1"),
        ("all", "all"),
        ("a exists", "a != 1"),
        ("a < 10", "a < 10"),
        ("a < 10", "a = 5"),
        ("a < 10", "a <= 9"),
        ("a <= 10", "a < 10"),
        ("a > 1", "a >= 2 and b = 1"),
        ("a >= 1", "a > 1"),
        ("a != 1", "a > 1"),
        ("a != 1", "a >= 2"),
        ("a != 1", "a < 1"),
        ("a != 1", "a <= 0"),
        ("a != 'x'", "a prefix 'y'"),
        ("a != 1", "a != 1"),
        ("a prefix 'x'", "a prefix 'xy'"),
        ("a prefix 'x'", "a = 'xy'"),
    ],
)
def test_the_wide_one_covers_the_narrow_one(wide: str, narrow: str) -> None:
    """Each operator that can imply another does."""
    assert covers(parse_filter(wide), parse_filter(narrow))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("a = 1", "a = 2"),
        ("a = 1", "a != 1"),
        ("a < 1", "a > 1"),
        ("a < 1", "a >= 1"),
        ("a <= 1", "b = 1 and a > 1"),
        ("a = 5", "a < 5"),
        ("a = 'x'", "a = 1"),
        ("a prefix 'x'", "a prefix 'y'"),
        ("a prefix 'x'", "a = 'y'"),
    ],
)
def test_these_have_nothing_in_common(left: str, right: str) -> None:
    """Whichever is asked first."""
    assert not overlap(parse_filter(left), parse_filter(right))
    assert not overlap(parse_filter(right), parse_filter(left))


@given(st.lists(filters, max_size=5))
def test_the_widest_cover_all_and_none_another(several: list[Filter]) -> None:
    """So they can be forwarded in place of all."""
    found = widest(several)
    assert all(any(covers(wide, narrow) for wide in found) for narrow in several if covers(narrow, narrow))
    assert not any(covers(wide, other) for wide in found for other in found if wide is not other)


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("within 50 of (0, 0)", "within 10 of (40, 0)", True),
        ("within 50 of (0, 0)", "within 11 of (40, 0)", False),
        ("inside (0,0)-(30,30)", "inside (5,0)-(30,30)", True),
        ("inside (0,0)-(30,30)", "inside (5,0)-(31,30)", False),
    ],
)
def test_an_area_covers_the_areas_in_it(wide: str, narrow: str, expected: bool) -> None:
    """Up to its border."""
    assert covers(parse_filter(wide), parse_filter(narrow)) is expected
