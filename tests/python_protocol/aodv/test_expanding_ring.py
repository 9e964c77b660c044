"""The expanding ring search (RFC 3561, sections 6.3, 6.4 and 6.12)."""

from roambus.python_protocol.aodv import AodvParameters
from roambus.python_protocol.aodv.discovery import Attempt, first_attempt, next_attempt, repair_attempt, waiting_time
from roambus.python_protocol.simtime import MILLISECOND

RFC = AodvParameters(ttl_start=1)


def whole_search(parameters: AodvParameters, last_hop_count: int | None) -> list[Attempt]:
    attempts = list[Attempt]()
    attempt: Attempt | None = first_attempt(parameters, last_hop_count)
    while attempt is not None:
        attempts.append(attempt)
        attempt = next_attempt(parameters, attempt)
    return attempts


def test_the_ring_grows_to_the_threshold_then_covers_the_network() -> None:
    """Section 6.4: 1, 3, 5, 7, then NET_DIAMETER; 6.3: that RREQ_RETRIES times more."""
    assert [attempt.ttl for attempt in whole_search(RFC, None)] == [1, 3, 5, 7, 35, 35, 35]


def test_waiting_grows_with_the_ring_and_doubles_with_each_repetition() -> None:
    """Section 10: RING_TRAVERSAL_TIME; section 6.3: NET_TRAVERSAL_TIME with binary exponential back-off."""
    times = [waiting_time(RFC, attempt) // MILLISECOND for attempt in whole_search(RFC, None)]
    assert times == [240, 400, 560, 720, 2800, 5600, 11200]


def test_a_search_starts_beyond_the_last_known_distance() -> None:
    """Section 6.4: last hop count plus TTL_INCREMENT."""
    assert [attempt.ttl for attempt in whole_search(RFC, 3)] == [5, 7, 35, 35, 35]
    assert [attempt.ttl for attempt in whole_search(RFC, 6)] == [35, 35, 35]


def test_without_retries_the_network_is_searched_once() -> None:
    """RREQ_RETRIES counts the repetitions at the largest TTL."""
    assert [attempt.ttl for attempt in whole_search(AodvParameters(rreq_retries=0), 7)] == [35]


def test_a_repair_reaches_the_old_distance_or_half_way_to_the_originator() -> None:
    """Section 6.12: max(MIN_REPAIR_TTL, half the hops to the originator) + LOCAL_ADD_TTL, within the network."""
    assert repair_attempt(RFC, last_hop_count=2, hops_to_originator=3) == Attempt(4)
    assert repair_attempt(RFC, last_hop_count=2, hops_to_originator=8) == Attempt(6)
    assert repair_attempt(RFC, last_hop_count=35, hops_to_originator=0) == Attempt(35)
