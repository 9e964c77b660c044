"""Epidemic routing and spray and wait: requests, the hop limit, and how copies are halved."""

from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.opportunistic import Epidemic, SprayAndWait
from roambus.extensions.opportunistic.carrier import Carried, Named
from roambus.extensions.opportunistic.replication import EpidemicParameters, Hello, Request, SprayParameters
from roambus.extensions.opportunistic.tests.carriers import NEWS, hear, make, sent
from roambus.python_protocol.actions import Send
from roambus.python_protocol.events import Publish, TimerFired
from roambus.python_protocol.filters import Filter, Notification, NotificationId, parse_filter

ASKED = Request((Named.of(NEWS.id),), (parse_filter("topic = 'sport'"),))
WANTED = Request((Named.of(NEWS.id),), (Filter(),))


@given(st.sets(st.integers(0, 70_000), max_size=12))
def test_only_what_was_never_here_is_asked_for(numbers: set[int]) -> None:
    """Whoever has had it, and lost it from a full buffer, does not ask again."""
    agent = make(Epidemic)
    hear(agent, Carried(1, 1, (), NEWS))
    names = tuple(Named.of(NotificationId(7, number)) for number in sorted(numbers))
    requests = [message for message in sent(agent, Hello(names)) if isinstance(message, Request)]
    asked = [name.id.sequence for request in requests for name in request.wanted]
    assert asked == sorted(numbers - {1})


def test_the_last_hop_leads_to_a_receiver() -> None:
    """Of a limit of three: after one hop to any node, after two to a subscriber only, after three to none."""
    for hops, to_any, to_receiver in ((1, 1, 1), (2, 0, 1), (3, 0, 0)):
        agent = make(Epidemic, EpidemicParameters(hop_limit=3))
        hear(agent, Carried(1, hops, (), NEWS))
        assert (len(sent(agent, ASKED)), len(sent(agent, WANTED))) == (to_any, to_receiver)


def test_half_of_the_copies_go_to_whom_one_meets() -> None:
    """Of 5 copies 2, then of 3 one, then of 2 one; the last one stays until a subscriber comes, whose copy is none."""
    agent = make(SprayAndWait, SprayParameters(copies=5))
    agent.handle(Publish(NEWS), 0)
    given_away = [message for _ in range(4) for message in sent(agent, ASKED)]
    assert [message.copies for message in given_away if isinstance(message, Carried)] == [2, 1, 1]
    (last,) = sent(agent, WANTED)
    assert isinstance(last, Carried)
    assert last.copies == 0


def test_copies_that_two_nodes_hand_over_at_once_are_added() -> None:
    """Both heard the request before the first half came; the receiver has the halves of both."""
    agent = make(SprayAndWait)
    for sender in (3, 4):
        hear(agent, Carried(4, 2, (), NEWS), sender)
    (half,) = sent(agent, ASKED)
    assert isinstance(half, Carried)
    assert half.copies == 4


def test_copies_of_a_notification_that_a_full_buffer_has_dropped_are_reported() -> None:
    """They are gone, and the trace says how many."""
    agent = make(SprayAndWait, SprayParameters(buffer=1))
    hear(agent, Carried(4, 2, (), NEWS))
    agent.handle(Publish(Notification(NotificationId(0, 0), ())), 0)
    assert "4 copies" in str(hear(agent, Carried(4, 2, (), NEWS), 4))


def test_hellos_name_in_turn_what_does_not_fit_one() -> None:
    """After the last of four the first come again, and no hello is empty."""
    agent = make(Epidemic, EpidemicParameters(told=2))
    for number in range(4):
        hear(agent, Carried(1, 1, (), Notification(NotificationId(7, number), ())))
    hellos = [
        action.message for _ in range(3) for action in agent.handle(TimerFired("hello"), 0) if isinstance(action, Send)
    ]
    names = [[name.id.sequence for name in hello.carried] for hello in hellos if isinstance(hello, Hello)]
    assert names == [[0, 1], [2, 3], [0, 1]]
