"""One copy of a site's state: its steps, the messages that it keeps for them, and its answers to a new leader."""

from roambus.extensions.replicated.messages import (
    Inform,
    Informed,
    Point,
    ReplicatedParameters,
    Sub,
    TakeOver,
    Yield,
)
from roambus.extensions.replicated.replica import Replica
from roambus.extensions.replicated.tests.test_snapshot import FILTER, PLACE
from roambus.python_protocol.actions import Send
from tests.python_protocol.brokers.actions import receive, sends

BROKERS = (0, 1, 2)
LEADER, FOLLOWER, OTHER = BROKERS
CLIENT = PLACE.clients[0]
SUB = Sub(1, FILTER)


def replica(node: int) -> Replica:
    return Replica(node, BROKERS, PLACE, ReplicatedParameters())


def test_a_message_is_pending_until_its_step() -> None:
    """At the leader, which may have kept it before it led, and at the others."""
    leader, follower = replica(LEADER), replica(FOLLOWER)
    follower.hear_client(CLIENT, SUB)
    assert follower.pending == {(CLIENT, SUB.key): SUB}
    assert receive(follower, LEADER, Inform(Point(0, 1), CLIENT, SUB)) == [Send(LEADER, Informed(Point(0, 1)))]
    leader.pending[CLIENT, SUB.key] = SUB
    leader.take_step(CLIENT, SUB)
    assert leader.pending == follower.pending == {}


def test_a_step_is_taken_once() -> None:
    """A repeated one changes nothing, and is not confirmed again."""
    follower = replica(FOLLOWER)
    inform = Inform(Point(0, 1), CLIENT, SUB)
    receive(follower, LEADER, inform)
    assert receive(follower, LEADER, inform) == []
    assert follower.point == Point(0, 1)


def test_a_broker_yields_to_a_later_term_alone() -> None:
    """In its own term it takes part already."""
    assert receive(replica(FOLLOWER), LEADER, TakeOver(0, Point(0, 0))) == []


def test_a_newer_copy_is_sent_and_an_equal_one_is_not() -> None:
    """The new leader has that already."""
    follower = replica(FOLLOWER)
    receive(follower, LEADER, Inform(Point(0, 1), CLIENT, SUB))
    ((_, equal),) = sends(receive(follower, OTHER, TakeOver(2, Point(0, 1))))
    assert equal == Yield(2, Point(0, 1), b"")
    ((_, newer),) = sends(receive(follower, OTHER, TakeOver(5, Point(0, 0))))
    assert isinstance(newer, Yield)
    assert newer.snapshot
