"""The profile `derived`: constants that follow from the number of nodes and the channel's rate."""

from math import sqrt
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.aodv import AodvParameters
from roambus.python_protocol.aodv.discovery import Attempt, first_attempt, next_attempt, waiting_time
from roambus.python_protocol.aodv.parameters import derived, flood_time, longest_search
from roambus.python_protocol.settings import parse_parameters
from roambus.python_protocol.simtime import MICROSECOND, SECOND, SimTime


def whole_search(parameters: AodvParameters) -> SimTime:
    """What a search without any answer waits, attempt by attempt."""
    waited, attempt = 0, cast("Attempt | None", first_attempt(parameters, None))
    while attempt is not None:
        waited += waiting_time(parameters, attempt)
        attempt = next_attempt(parameters, attempt)
    return waited


def test_the_constants_of_the_thesis_largest_network() -> None:
    """C32 has 66 nodes, and the CC2420 has 250 kbit/s; the numbers are those of the docs."""
    parameters = AodvParameters(profile="derived")
    assert parameters.node_traversal_time == 190_080 * MICROSECOND
    assert (parameters.net_diameter, parameters.rreq_ratelimit) == (12, 1)
    assert parameters.request_queue_limit == parameters.link_queue_limit == 6916
    assert 104 * SECOND < parameters.request_queue_timeout < 105 * SECOND
    assert (parameters.destination_only, parameters.sends_hellos_always, parameters.reports_expiry) == (False,) * 3


def test_the_other_profiles_have_the_constants_of_the_rfc() -> None:
    """Neither the size of the network nor the rate of the channel changes anything in them."""
    for profile in ("rfc", "thesis"):
        small = AodvParameters(profile=profile, network_size=2, bit_rate=1_000_000)
        usual = AodvParameters()
        for name in derived(66, 250_000):
            assert getattr(small, name) == getattr(usual, name)


@given(st.integers(2, 2000), st.integers(10_000, 20_000_000))
def test_a_packet_outlasts_the_longest_search_and_its_turn(nodes: int, bit_rate: int) -> None:
    """The waits are those that the expanding ring really has; all nodes but one may be searched before."""
    parameters = AodvParameters(profile="derived", network_size=nodes, bit_rate=bit_rate)
    searched = whole_search(parameters)
    assert searched == longest_search(parameters.node_traversal_time, parameters.net_diameter)
    turn = nodes * SECOND // parameters.rreq_ratelimit
    assert parameters.request_queue_timeout == searched + turn
    assert parameters.request_queue_limit * SECOND >= nodes * parameters.request_queue_timeout


@given(st.integers(2, 2000), st.integers(10_000, 20_000_000))
def test_the_searches_of_one_node_take_at_most_a_quarter_of_the_channel(nodes: int, bit_rate: int) -> None:
    """But for the one RREQ a second that there is at least; and the diameter is the diagonal of a square of nodes."""
    parameters = AodvParameters(profile="derived", network_size=nodes, bit_rate=bit_rate)
    share = parameters.rreq_ratelimit * flood_time(nodes, bit_rate) / SECOND
    assert share <= 0.25 or parameters.rreq_ratelimit == 1
    assert parameters.net_diameter - 1 < sqrt(2 * nodes) <= parameters.net_diameter


def test_a_hop_count_of_eight_bits_is_enough_for_every_size() -> None:
    """A network too large for a TTL gets the largest that there is."""
    assert AodvParameters(profile="derived", network_size=1_000_000).net_diameter == 255


@pytest.mark.parametrize(
    ("name", "value"),
    [("node_traversal_time", "50ms"), ("rreq_ratelimit", "7"), ("net_diameter", "5")],
)
def test_what_is_set_itself_counts_more_than_the_profile(name: str, value: str) -> None:
    """One constant is changed, the others stay as derived."""
    usual = AodvParameters(profile="derived")
    changed = parse_parameters(AodvParameters, {"profile": "derived", name: value})
    assert getattr(changed, name) == getattr(parse_parameters(AodvParameters, {name: value}), name)
    assert all(getattr(changed, other) == getattr(usual, other) for other in derived(66, 250_000) if other != name)


@pytest.mark.parametrize(("name", "value"), [("network_size", "1"), ("network_size", "-3"), ("bit_rate", "0")])
def test_impossible_networks_are_refused_by_name(name: str, value: str) -> None:
    """Before anything is derived from them."""
    with pytest.raises(ValueError, match=f"parameter {name}"):
        parse_parameters(AodvParameters, {"profile": "derived", name: value})
