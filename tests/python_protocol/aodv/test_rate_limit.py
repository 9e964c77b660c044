"""No second holds more messages than the limit (RFC 3561, sections 6.3 and 6.11)."""

from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.aodv.messages import RateLimit
from roambus.python_protocol.simtime import MILLISECOND, SECOND

pauses = st.lists(st.integers(0, 400 * MILLISECOND), max_size=60)


def most_in_a_second(times: list[int]) -> int:
    return max((sum(start <= time < start + SECOND for time in times) for start in times), default=0)


@given(pauses, st.integers(1, 5))
def test_reserved_times_keep_the_limit_in_the_order_asked_for(gaps: list[int], limit: int) -> None:
    """Each is as early as the limit allows, and never before it was asked for."""
    rate, now, times = RateLimit(limit), 0, list[int]()
    for gap in gaps:
        now += gap
        times.append(rate.reserve(now))
        assert times[-1] >= now
    assert most_in_a_second(times) <= limit
    assert times == sorted(times)


@given(pauses, st.integers(1, 5))
def test_what_is_allowed_keeps_the_limit(gaps: list[int], limit: int) -> None:
    """And nothing is refused while the last second has room."""
    rate, now, allowed = RateLimit(limit), 0, list[int]()
    for gap in gaps:
        now += gap
        has_room = sum(time > now - SECOND for time in allowed) < limit
        assert rate.allows(now) == has_room
        allowed += [now] if has_room else []
    assert most_in_a_second(allowed) <= limit
