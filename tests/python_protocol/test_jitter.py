"""Jitter keeps each postponed send for a random while."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from python_protocol.actions import Send
from python_protocol.beacon import BeaconMessage
from python_protocol.jitter import Jitter, JitterTimer
from python_protocol.roles import BROADCAST
from python_protocol.simtime import MILLISECOND


def beacon(size: int) -> Send:
    return Send(BROADCAST, BeaconMessage(size))


@given(st.integers(0, 1000), st.integers(0, 100 * MILLISECOND))
def test_the_delay_lies_between_zero_and_the_longest(seed: int, longest: int) -> None:
    """RFC 5148: the delay is drawn from 0 to the maximum."""
    timer = Jitter(longest, Random(seed)).postpone(beacon(3))
    assert 0 <= timer.after <= longest


def test_each_timer_gives_its_own_send_once() -> None:
    """Several sends can wait at once; each comes out with its own timer, one time."""
    jitter = Jitter(MILLISECOND, Random(1))
    first, second = jitter.postpone(beacon(3)), jitter.postpone(beacon(4))
    assert isinstance(first.key, JitterTimer)
    assert isinstance(second.key, JitterTimer)
    assert jitter.timer(second.key) == beacon(4)
    assert jitter.timer(first.key) == beacon(3)
    assert jitter.timer(first.key) is None


def test_what_was_forgotten_is_never_sent() -> None:
    """After a crash the timers that still run give nothing."""
    jitter = Jitter(MILLISECOND, Random(1))
    timer = jitter.postpone(beacon(3))
    jitter.forget()
    assert isinstance(timer.key, JitterTimer)
    assert jitter.timer(timer.key) is None
