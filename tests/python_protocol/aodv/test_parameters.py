"""AODV's parameters: the values of RFC 3561, section 10, and the thesis' profile."""

import pytest

from roambus.python_protocol.aodv import AodvParameters
from roambus.python_protocol.settings import parse_parameters
from roambus.python_protocol.simtime import MILLISECOND, SECOND


def test_computed_times_are_those_of_section_10() -> None:
    """The defaults give the RFC's numbers."""
    parameters = AodvParameters()
    assert parameters.net_traversal_time == 2800 * MILLISECOND
    assert parameters.path_discovery_time == 5600 * MILLISECOND
    assert parameters.my_route_timeout == 6 * SECOND
    assert parameters.delete_period == 15 * SECOND
    assert parameters.blacklist_timeout == 5600 * MILLISECOND
    assert parameters.next_hop_wait == 50 * MILLISECOND
    assert parameters.max_repair_ttl == 10
    assert parameters.ring_traversal_time(1) == 240 * MILLISECOND
    assert parameters.hello_timeout == 2 * SECOND


def test_the_rfc_profile_is_the_default() -> None:
    """Hellos only on active routes, no RERR when a route merely times out."""
    parameters = AodvParameters()
    assert (parameters.sends_hellos_always, parameters.reports_expiry) == (False, False)


def test_the_thesis_profile_says_hello_always_and_reports_routes_that_time_out() -> None:
    """The thesis, section 4.5.1; intermediate nodes answer in both profiles."""
    parameters = parse_parameters(AodvParameters, {"profile": "thesis"})
    assert (parameters.sends_hellos_always, parameters.reports_expiry) == (True, True)
    assert not parameters.destination_only


@pytest.mark.parametrize("profile", ["rfc", "thesis"])
@pytest.mark.parametrize(("choice", "expected"), [("on", True), ("off", False)])
def test_a_choice_made_by_the_user_overrides_the_profile(profile: str, choice: str, expected: bool) -> None:
    """What is set itself counts, in every profile."""
    chosen = {"profile": profile, "hello_always": choice, "rerr_on_expiry": choice}
    parameters = parse_parameters(AodvParameters, chosen)
    assert (parameters.sends_hellos_always, parameters.reports_expiry) == (expected, expected)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("profile", "fast"),
        ("hello_always", "maybe"),
        ("rerr_on_expiry", ""),
        ("hello_interval", "0s"),
        ("node_traversal_time", "0s"),
        ("request_queue_timeout", "-1s"),
        ("broadcast_jitter", "-1ms"),
        ("hello_jitter", "1s"),
        ("active_route_timeout", "2s"),
        ("net_diameter", "256"),
        ("ttl_start", "0"),
        ("rreq_retries", "-1"),
        ("rreq_ratelimit", "0"),
        ("request_queue_limit", "0"),
        ("delivered_memory", "0"),
    ],
)
def test_values_that_make_no_sense_are_refused_by_name(name: str, value: str) -> None:
    """A bad value raises ValueError that names its parameter."""
    with pytest.raises(ValueError, match=f"parameter {name}"):
        parse_parameters(AodvParameters, {name: value})


@pytest.mark.parametrize(("name", "value"), [("hello_jitter", "0s"), ("net_diameter", "1"), ("net_diameter", "255")])
def test_the_extreme_values_that_still_make_sense_are_taken(name: str, value: str) -> None:
    """No jitter at all; networks of one hop, and as wide as the eight bits of a hop count allow."""
    assert getattr(parse_parameters(AodvParameters, {name: value}), name) == int(value.removesuffix("s"))
