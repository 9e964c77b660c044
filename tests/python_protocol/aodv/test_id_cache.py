"""Route requests are recognised for PATH_DISCOVERY_TIME (RFC 3561, section 6.5)."""

from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.aodv.discovery import IdCache, RequestId


def _is_known(cache: IdCache, request: RequestId, now: int) -> bool:
    return cache.known_until.get(request, now) > now


def test_a_request_is_known_for_its_lifetime() -> None:
    """Not before it was added, and not after; another originator's equal number is another request."""
    cache = IdCache(100)
    assert not _is_known(cache, (5, 1), 0)
    cache.add((5, 1), 0)
    assert _is_known(cache, (5, 1), 99)
    assert not _is_known(cache, (5, 1), 100)
    assert not _is_known(cache, (6, 1), 50)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 60))))
def test_a_sweep_forgets_what_is_over_and_nothing_else(additions: list[tuple[int, int]]) -> None:
    """After a sweep exactly the live requests are left."""
    cache, now = IdCache(100), 0
    added: dict[tuple[int, int], int] = {}
    for number, pause in additions:
        now += pause
        cache.add((5, number), now)
        added[5, number] = now
    cache.sweep(now)
    live = {request for request, at in added.items() if at + 100 > now}
    assert len(cache) == len(live)
    assert all(_is_known(cache, request, now) for request in live)
