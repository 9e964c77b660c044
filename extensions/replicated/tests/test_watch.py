"""A time-out, a question, twice the time-out, a suspicion (the paper on replicated brokers, section 6.4)."""

from __future__ import annotations

from roambus.extensions.replicated.messages import AreYouAlive, ReplicatedParameters
from roambus.extensions.replicated.neighbours import Patience, Watch, WatchTimer
from roambus.python_protocol.actions import CancelTimer, Send, SetTimer
from roambus.python_protocol.simtime import MILLISECOND

TIME_OUT = 100 * MILLISECOND
PARAMETERS = ReplicatedParameters(time_out=TIME_OUT)


def test_a_reply_in_time_ends_it() -> None:
    """Nothing is asked if the reply comes before the time-out."""
    watch = Watch(5, Patience(PARAMETERS))
    watch.expect()
    assert watch.take() == [SetTimer(WatchTimer(5, 1), TIME_OUT)]
    watch.expect()
    assert watch.take() == []
    watch.satisfied()
    assert watch.take() == [CancelTimer(WatchTimer(5, 1))]
    watch.satisfied()
    assert watch.take() == []


def test_the_second_time_out_is_the_double_of_the_first() -> None:
    """The node is assumed dead after the second one."""
    watch = expecting()
    assert not watch.time_up(WatchTimer(5, 1), TIME_OUT)
    assert watch.take() == [Send(5, AreYouAlive()), SetTimer(WatchTimer(5, 2), 2 * TIME_OUT)]
    before = watch.is_dead
    assert watch.time_up(WatchTimer(5, 2), 3 * TIME_OUT)
    assert (before, watch.is_dead) == (False, True)
    watch.expect()
    assert watch.take() == []


def test_a_failed_connection_needs_no_question() -> None:
    """The node is assumed dead at once (section 6.2)."""
    watch = expecting()
    watch.failed()
    assert watch.take() == [CancelTimer(WatchTimer(5, 1))]
    assert watch.is_dead


def test_who_answers_but_does_nothing_is_asked_more_and_more_rarely() -> None:
    """The pauses grow until something comes, and are then as at first."""
    watch = expecting()
    for wait, pause in ((1, 2 * TIME_OUT), (3, 4 * TIME_OUT)):
        watch.time_up(WatchTimer(5, wait), 0)
        watch.take()
        watch.alive()
        assert watch.take() == [SetTimer(WatchTimer(5, wait + 2), pause)]
    watch.satisfied()
    watch.expect()
    assert watch.take() == [CancelTimer(WatchTimer(5, 5)), SetTimer(WatchTimer(5, 6), TIME_OUT)]


def test_a_timer_of_an_earlier_wait_says_nothing() -> None:
    """One that ran out while this node was frozen comes after the reply, and finds nothing or another wait."""
    watch = expecting()
    watch.satisfied()
    assert not watch.time_up(WatchTimer(5, 1), TIME_OUT)
    watch.expect()
    assert not watch.time_up(WatchTimer(5, 1), TIME_OUT)
    assert not watch.is_dead
    assert watch.take() == [CancelTimer(WatchTimer(5, 1)), SetTimer(WatchTimer(5, 2), TIME_OUT)]


def test_who_is_heard_of_again_is_dead_no_longer() -> None:
    """A node that was frozen can be watched again."""
    watch = Watch(5, Patience(PARAMETERS))
    watch.failed()
    watch.satisfied()
    assert not watch.is_dead
    watch.expect()
    assert watch.take() == [SetTimer(WatchTimer(5, 1), TIME_OUT)]


def expecting() -> Watch:
    """A watch that waits for a reply."""
    watch = Watch(5, Patience(PARAMETERS))
    watch.expect()
    watch.take()
    return watch
