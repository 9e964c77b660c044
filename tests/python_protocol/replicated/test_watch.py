"""A time-out, a question, twice the time-out, a suspicion (002, section 6.4)."""

from __future__ import annotations

from roambus.python_protocol.actions import CancelTimer, Send, SetTimer
from roambus.python_protocol.replicated.failure_messages import AreYouAlive
from roambus.python_protocol.replicated.watch import Watch, WatchTimer
from roambus.python_protocol.simtime import MILLISECOND

TIME_OUT = 100 * MILLISECOND
TIMER = WatchTimer(5)


def test_a_reply_in_time_ends_it() -> None:
    """And nothing is asked."""
    watch = Watch(5, TIME_OUT)
    assert watch.expect() == [SetTimer(TIMER, TIME_OUT)]
    assert watch.expect() == []
    assert watch.satisfied() == [CancelTimer(TIMER)]
    assert watch.satisfied() == []


def test_the_second_time_out_is_the_double_of_the_first() -> None:
    """After it the node is assumed dead."""
    watch = Watch(5, TIME_OUT)
    watch.expect()
    assert watch.timer() == [Send(5, AreYouAlive()), SetTimer(TIMER, 2 * TIME_OUT)]
    before = watch.is_dead
    assert watch.timer() == []
    assert (before, watch.is_dead) == (False, True)
    assert watch.expect() == []


def test_a_failed_connection_needs_no_question() -> None:
    """Section 6.2."""
    watch = Watch(5, TIME_OUT)
    watch.expect()
    assert watch.failed() == [CancelTimer(TIMER)]
    assert watch.is_dead


def test_who_answers_but_does_nothing_is_asked_more_and_more_rarely() -> None:
    """Until something comes; then as at first."""
    watch = Watch(5, TIME_OUT)
    watch.expect()
    watch.timer()
    assert watch.alive() == [SetTimer(TIMER, 2 * TIME_OUT)]
    watch.timer()
    assert watch.alive() == [SetTimer(TIMER, 4 * TIME_OUT)]
    watch.satisfied()
    assert watch.expect() == [SetTimer(TIMER, TIME_OUT)]


def test_who_is_heard_of_again_is_dead_no_longer() -> None:
    """A freeze ends."""
    watch = Watch(5, TIME_OUT)
    watch.failed()
    watch.satisfied()
    assert not watch.is_dead
    assert watch.expect() == [SetTimer(TIMER, TIME_OUT)]
