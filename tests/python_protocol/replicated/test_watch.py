"""A time-out, a question, twice the time-out, a suspicion (the paper on replicated brokers, section 6.4)."""

from __future__ import annotations

from roambus.python_protocol.actions import CancelTimer, Send, SetTimer
from roambus.python_protocol.replicated.failure_messages import AreYouAlive
from roambus.python_protocol.replicated.watch import Watch, WatchTimer
from roambus.python_protocol.simtime import MILLISECOND

TIME_OUT = 100 * MILLISECOND
TIMER = WatchTimer(5)


def test_a_reply_in_time_ends_it() -> None:
    """Nothing is asked if the reply comes before the time-out."""
    watch = Watch(5, TIME_OUT)
    watch.expect()
    assert watch.take() == [SetTimer(TIMER, TIME_OUT)]
    watch.expect()
    assert watch.take() == []
    watch.satisfied()
    assert watch.take() == [CancelTimer(TIMER)]
    watch.satisfied()
    assert watch.take() == []


def test_the_second_time_out_is_the_double_of_the_first() -> None:
    """The node is assumed dead after the second one."""
    watch = expecting()
    watch.time_up()
    assert watch.take() == [Send(5, AreYouAlive()), SetTimer(TIMER, 2 * TIME_OUT)]
    before = watch.is_dead
    watch.time_up()
    assert (before, watch.is_dead) == (False, True)
    watch.expect()
    assert watch.take() == []


def test_a_failed_connection_needs_no_question() -> None:
    """The node is assumed dead at once (section 6.2)."""
    watch = expecting()
    watch.failed()
    assert watch.take() == [CancelTimer(TIMER)]
    assert watch.is_dead


def test_who_answers_but_does_nothing_is_asked_more_and_more_rarely() -> None:
    """The pauses grow until something comes, and are then as at first."""
    watch = expecting()
    for pause in (2 * TIME_OUT, 4 * TIME_OUT):
        watch.time_up()
        watch.take()
        watch.alive()
        assert watch.take() == [SetTimer(TIMER, pause)]
    watch.satisfied()
    watch.expect()
    assert watch.take() == [CancelTimer(TIMER), SetTimer(TIMER, TIME_OUT)]


def test_who_is_heard_of_again_is_dead_no_longer() -> None:
    """A node that was frozen can be watched again."""
    watch = Watch(5, TIME_OUT)
    watch.failed()
    watch.satisfied()
    assert not watch.is_dead
    watch.expect()
    assert watch.take() == [SetTimer(TIMER, TIME_OUT)]


def expecting() -> Watch:
    """A watch that waits for a reply."""
    watch = Watch(5, TIME_OUT)
    watch.expect()
    watch.take()
    return watch
