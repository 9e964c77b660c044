"""The beacon agent."""

from __future__ import annotations

from random import Random
from statistics import mean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.actions import Send, SetTimer
from roambus.python_protocol.baselines import TIMER, Beacon, BeaconMessage, BeaconParameters
from roambus.python_protocol.events import Received, Recovered, Started, TimerFired
from roambus.python_protocol.roles import BROADCAST, Role
from roambus.python_protocol.settings import parse_parameters
from roambus.python_protocol.simtime import SECOND, to_seconds


def make(rate: float = 10.0, payload: int = 40, seed: int = 1) -> Beacon:
    """A beacon agent for node 0."""
    return Beacon(0, Role.NONE, BeaconParameters(rate, payload), Random(seed))


def gap_of(agent: Beacon) -> float:
    """Seconds from this beacon to the next."""
    _, timer = agent.handle(TimerFired(TIMER), 0)
    assert isinstance(timer, SetTimer)
    return to_seconds(timer.after)


@given(st.integers(3, 65535))
def test_the_encoded_message_is_as_long_as_the_payload_asked_for(payload: int) -> None:
    """The payload parameter is the message's length, and the bytes decode to the same message."""
    message = BeaconMessage(payload)
    assert len(message.encode()) == payload
    assert Beacon.messages.decode(message.encode()) == message


def test_the_bytes_of_a_beacon() -> None:
    """Tag, number of zeros in two bytes, zeros."""
    assert BeaconMessage(3).encode() == bytes.fromhex("01 0000")
    assert BeaconMessage(6).encode() == bytes.fromhex("01 0003 000000")


@pytest.mark.parametrize("event", [Started(), Recovered()])
@given(seed=st.integers(0, 1000))
def test_the_first_beacon_comes_within_one_mean_gap_of_the_start(event: Started | Recovered, seed: int) -> None:
    """The first gap is uniform in (0, 1/rate), after a reboot as after the first boot."""
    (timer,) = make(rate=4.0, seed=seed).handle(event, 0)
    assert isinstance(timer, SetTimer)
    assert 0 <= timer.after <= SECOND // 4


def test_each_timer_broadcasts_one_beacon_and_sets_the_next() -> None:
    """A timer gives one broadcast of the payload asked for."""
    send, timer = make(payload=17).handle(TimerFired(TIMER), 0)
    assert send == Send(BROADCAST, BeaconMessage(17))
    assert isinstance(timer, SetTimer)


def test_gaps_are_exponential_with_mean_one_over_the_rate() -> None:
    """Mean and standard deviation of an exponential distribution are both 1/rate."""
    agent = make(rate=10.0)
    gaps = [gap_of(agent) for _ in range(20_000)]
    assert mean(gaps) == pytest.approx(0.1, rel=0.03)
    assert stdev(gaps) == pytest.approx(0.1, rel=0.03)


def test_what_is_received_is_ignored() -> None:
    """A beacon heard causes nothing."""
    assert list(make().handle(Received(1, BeaconMessage(40), -70.0, 20.0), 0)) == []


def test_a_rate_of_zero_only_listens() -> None:
    """With rate 0 no timer is ever set."""
    assert list(make(rate=0.0).handle(Started(), 0)) == []


@pytest.mark.parametrize(
    ("name", "value"), [("rate", "-1"), ("rate", "nan"), ("rate", "inf"), ("payload", "2"), ("payload", "70000")]
)
def test_values_that_make_no_sense_are_refused_by_name(name: str, value: str) -> None:
    """A bad value raises ValueError that names its parameter."""
    with pytest.raises(ValueError, match=f"parameter {name}"):
        parse_parameters(BeaconParameters, {name: value})
