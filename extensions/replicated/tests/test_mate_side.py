"""What a broker does with what the other two of its site say, and when their leader is gone."""

from __future__ import annotations

from roambus.extensions.replicated import Replicated
from roambus.extensions.replicated import messages as m
from roambus.extensions.replicated.messages import (
    AreYouAlive,
    AssumedDead,
    HandOver,
    Inform,
    Informed,
    Leader,
    Point,
    ReplicatedParameters,
    TakeOver,
)
from roambus.extensions.replicated.neighbours import WatchTimer
from roambus.extensions.replicated.replica import Released, Releases
from roambus.extensions.replicated.site_state import Output
from roambus.extensions.replicated.tests.test_agent import EVENT, agent, received, tell
from roambus.python_protocol.actions import Action, CancelTimer, Send, SetTimer
from roambus.python_protocol.events import Event, SendFailed, TimerFired
from roambus.python_protocol.filters import parse_filter

TAKE_OVER = TakeOver(1, Point(0, 0))
"""What broker 1 says when broker 0, the first leader, is assumed dead."""

LATER = m.Event(3, 3, hops=1, notification=EVENT.notification)
TIMES = 4
"""Time-outs that a broker waits for its leader, if it has not measured a longer delay."""


def handled(receiver: Replicated, event: Event) -> list[Action]:
    """All that the broker does, timers too."""
    return list(receiver.handle(event, 0))


def watching() -> Replicated:
    """Broker 1, which waits for its leader to take in what a client has said."""
    broker = agent(1)
    assert any(isinstance(action, SetTimer) for action in handled(broker, received(3, EVENT)))
    return broker


def test_a_leader_takes_in_what_another_broker_has_kept() -> None:
    """A client's message that has not come to the leader itself is handed over to it (section 6.6)."""
    point = Point(0, 1)
    informs = [Send(1, Inform(point, 3, EVENT)), Send(2, Inform(point, 3, EVENT))]
    assert tell(agent(0), received(1, HandOver(3, EVENT))) == informs


def test_what_the_leader_has_processed_is_not_handed_over_any_more() -> None:
    """Broker 2 has kept an event and is informed of its step, so it does not hand the event over."""
    broker = agent(2)
    tell(broker, received(3, EVENT))
    assert Send(1, HandOver(3, EVENT)) in tell(broker, received(1, m.CatchUp()))
    tell(broker, received(0, Inform(Point(0, 1), 3, EVENT)))
    assert tell(broker, received(1, m.CatchUp())) == []


def test_a_leader_processes_once_what_it_has_kept_as_a_replica() -> None:
    """It takes what it has kept when it begins to lead, and has nothing left to hand over then."""
    broker = agent(1)
    tell(broker, received(3, EVENT), received(2, AssumedDead(0)))
    sent = tell(broker, received(2, m.Yield(1, Point(0, 0), b"")))
    assert sent.count(Send(2, Inform(Point(1, 1), 3, EVENT))) == 1
    assert [action for action in tell(broker, received(2, m.CatchUp())) if isinstance(action.message, HandOver)] == []


def test_a_step_that_was_taken_is_not_confirmed_again() -> None:
    """A copy has brought it; a step that follows is taken."""
    broker = agent(2)
    inform = Inform(Point(0, 1), 3, EVENT)
    assert tell(broker, received(0, inform)) == [Send(0, Informed(Point(0, 1)))]
    assert tell(broker, received(0, inform)) == []


def test_who_yields_sends_a_copy_only_if_it_is_newer() -> None:
    """Two copies of one point are the same."""
    broker = agent(2)
    tell(broker, received(0, Inform(Point(0, 1), 3, EVENT)))
    for step, is_sent in ((0, True), (1, False), (2, False)):
        asked = agent(2) if step == 2 else broker
        (answer,) = tell(asked, received(1, TakeOver(1 + 3 * step, Point(0, step))))
        assert isinstance(answer.message, m.Yield)
        assert bool(answer.message.snapshot) == is_sent


def test_what_another_broker_is_informed_of_is_released() -> None:
    """The step itself, and not only those before it."""
    leader = agent(0)
    tell(leader, received(4, m.Sub(1, parse_filter("topic = 1"))), received(1, Informed(Point(0, 1))))
    tell(leader, received(3, EVENT))
    assert any(isinstance(action.message, m.Event) for action in tell(leader, received(1, Informed(Point(0, 2)))))


def test_the_next_in_order_takes_over_when_another_broker_assumes_the_leader_dead() -> None:
    """Section 6.5: a report of the site's own broker is enough, and one about who does not lead says nothing."""
    assert tell(agent(1), received(2, AssumedDead(0))) == [Send(0, TAKE_OVER), Send(2, TAKE_OVER)]
    assert tell(agent(1), received(2, AssumedDead(2))) == []


def test_who_takes_over_from_a_leader_without_connection_waits_for_it_no_longer() -> None:
    """Its timer for the old leader is cancelled at once (sections 6.2 and 6.5)."""
    done = handled(watching(), SendFailed(0, EVENT, "no link"))
    assert [action for action in done if isinstance(action, Send)] == [Send(0, TAKE_OVER), Send(2, TAKE_OVER)]
    assert CancelTimer(WatchTimer(0, 1)) in done


def test_who_takes_over_from_a_leader_that_does_not_answer_waits_for_it_no_longer() -> None:
    """No timer for it is left after the second time-out (sections 6.4 and 6.5), only the one for the answers."""
    broker = watching()
    assert Send(0, AreYouAlive()) in handled(broker, TimerFired(WatchTimer(0, 1)))
    done = handled(broker, TimerFired(WatchTimer(0, 2)))
    assert [action for action in done if isinstance(action, Send)] == [Send(0, TAKE_OVER), Send(2, TAKE_OVER)]
    left = [action.key for action in done if isinstance(action, SetTimer) and isinstance(action.key, WatchTimer)]
    assert [action.key for action in done if isinstance(action, CancelTimer)] == left


def test_a_leader_that_hears_of_a_later_one_leads_no_longer() -> None:
    """Section 6.9: what a client says then waits for the other, and nobody is informed of it."""
    old_leader = agent(0)
    assert tell(old_leader, received(2, Leader(1, 1))) == []
    assert tell(old_leader, received(3, EVENT)) == [Send(3, m.acceptance(EVENT))]


def test_a_leader_measures_how_soon_others_take_the_first_of_several_steps() -> None:
    """Steps that follow before the answer do not begin the measurement anew; a later leader is waited for as long."""
    wait = ReplicatedParameters().time_out
    broker = agent(0)
    for number, now in ((1, 0), (2, wait)):
        list(broker.handle(received(3, m.Event(3, number, 1, EVENT.notification)), now))
    list(broker.handle(received(1, Informed(Point(0, 1))), 2 * wait))
    tell(broker, received(2, Leader(1, 1)))
    (timer,) = (action for action in handled(broker, received(3, LATER)) if isinstance(action, SetTimer))
    assert timer.key == WatchTimer(1, 1)
    assert timer.after > TIMES * wait


def test_a_step_is_held_until_another_broker_is_informed_of_it() -> None:
    """And not longer, even before it is sent."""
    released = Released(2, 3, EVENT, (Output(4, LATER),))
    releases = Releases()
    releases.hold(released)
    releases.informed(1)
    assert (releases.held(), releases.take_ready()) == ({Output(4, LATER)}, [])
    releases.informed(2)
    assert (releases.held(), releases.take_ready()) == (set(), [released])
