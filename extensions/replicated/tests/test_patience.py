"""How long a node waits for others: never shorter than the time-out, and as long as answers take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.replicated.messages import ReplicatedParameters
from roambus.extensions.replicated.neighbours import Patience
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

TIME_OUT = 100 * MILLISECOND
ONE, OTHER = 5, 6


def patience(*, follow_delays: bool = True) -> Patience:
    return Patience(ReplicatedParameters(time_out=TIME_OUT, follow_delays=follow_delays))


def measure(of: Patience, delay: SimTime, node: int = ONE) -> None:
    """A question that is answered after `delay`."""
    of.asked(node, "alive?", 0)
    of.answered(node, "alive?", delay)


@given(st.integers(1, 4 * SECOND))
def test_a_steady_delay_is_soon_waited_for(delay: SimTime) -> None:
    """After ten late answers the three waits until a suspicion are longer than the delay, and stay so."""
    waiting = patience()
    for count in range(100):
        measure(waiting, delay)
        assert count < 10 or 3 * waiting.wait(ONE) >= delay
    assert waiting.wait(ONE) <= max(TIME_OUT, 1.01 * delay)


@given(st.integers(TIME_OUT, 3600 * SECOND))
def test_a_freeze_is_no_delay(length: SimTime) -> None:
    """However long it was, the wait is at most three times as long for it, and is as before after ten answers."""
    waiting = patience()
    measure(waiting, MILLISECOND)
    measure(waiting, length)
    assert waiting.wait(ONE) <= 3 * TIME_OUT
    for _ in range(10):
        measure(waiting, MILLISECOND)
    assert waiting.wait(ONE) == TIME_OUT


def test_who_has_not_answered_yet_is_waited_for_as_the_slowest_of_the_others() -> None:
    """So patience survives a change of leader; as soon as the new one has answered, its own delay counts."""
    waiting = patience()
    for _ in range(20):
        measure(waiting, SECOND, OTHER)
    assert waiting.wait(ONE) == waiting.wait(OTHER) > SECOND
    for _ in range(40):
        measure(waiting, MILLISECOND)
    assert waiting.wait(ONE) == TIME_OUT


def test_one_message_at_a_time_is_timed() -> None:
    """What is sent meanwhile is not, nor what is sent again (Karn), nor is an answer to something else an answer.

    Each kind of message has one of its own, because not every kind is surely answered.
    """
    waiting = patience()
    waiting.asked(ONE, "first", 0)
    waiting.asked(ONE, "second", 0)
    waiting.answered(ONE, "second", 10 * SECOND)
    assert waiting.wait(ONE) == TIME_OUT
    waiting.forget(ONE)
    waiting.answered(ONE, "first", 10 * SECOND)
    assert waiting.wait(ONE) == TIME_OUT
    waiting.asked(ONE, "never answered", 0)
    waiting.asked(ONE, 3, 0)
    waiting.answered(ONE, 3, 10 * SECOND)
    assert waiting.wait(ONE) > TIME_OUT


@pytest.mark.parametrize("delay", [MILLISECOND, 10 * SECOND])
def test_without_follow_delays_it_is_always_the_time_out(delay: SimTime) -> None:
    """As the paper has it."""
    waiting = patience(follow_delays=False)
    for _ in range(5):
        measure(waiting, delay)
    assert waiting.wait(ONE) == TIME_OUT
