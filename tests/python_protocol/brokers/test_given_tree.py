"""The tree that the scenario gives: who comes, who goes, who is the parent."""

from roambus.python_protocol.brokers.agent import GivenTree
from roambus.python_protocol.events import Received, Recovered, Rewired, Started, TimerFired
from roambus.python_protocol.parts.election import ElectionTimer, Heartbeat, Leadership
from roambus.python_protocol.parts.election.algorithm import Change, NeighbourAppeared, NeighbourGone, ParentChanged

PARENT, OTHER, BROKER, CLIENT = range(4)


def tree() -> GivenTree:
    """Below a parent, with a broker and a client as children."""
    made = GivenTree()
    made.dispatch(Rewired(PARENT, (BROKER, CLIENT), frozenset({BROKER})), 0)
    made.take_changes()
    return made


def changes(made: GivenTree, parent: int | None, *children: int) -> list[Change]:
    made.dispatch(Rewired(parent, children, frozenset({PARENT, OTHER, BROKER})), 0)
    assert made.take() == []
    return made.take_changes()


def test_at_first_everybody_is_new() -> None:
    """The parent first, then the children in the order given, each with its role."""
    made = GivenTree()
    found = changes(made, PARENT, CLIENT, BROKER)
    assert found == [ParentChanged(PARENT), NeighbourAppeared(CLIENT, False), NeighbourAppeared(BROKER, True)]
    assert made.parent == PARENT
    assert made.children == {CLIENT: False, BROKER: True}


def test_what_stays_is_not_announced_again() -> None:
    """The same place in the tree changes nothing."""
    assert changes(tree(), PARENT, BROKER, CLIENT) == []


def test_another_parent_is_announced() -> None:
    """The children stay."""
    assert changes(tree(), OTHER, BROKER, CLIENT) == [ParentChanged(OTHER)]


def test_a_child_that_has_gone_is_announced_first() -> None:
    """It is out of reach; whether it has moved, the scenario does not say."""
    found = changes(tree(), PARENT, CLIENT, OTHER)
    assert found == [NeighbourGone(BROKER, moved=False), NeighbourAppeared(OTHER, True)]


def test_a_child_that_becomes_the_parent_has_not_gone() -> None:
    """It is in reach all the time."""
    assert changes(tree(), BROKER, CLIENT) == [ParentChanged(BROKER)]


def test_a_parent_that_is_given_up_is_none() -> None:
    """Until the scenario says so again."""
    made = tree()
    made.give_up(PARENT, 0)
    assert made.take_changes() == [ParentChanged(None)]
    assert made.parent is None
    assert changes(made, PARENT, BROKER, CLIENT) == [ParentChanged(PARENT)]


def test_a_child_that_is_given_up_is_none() -> None:
    """It appears again if the scenario says so again; the parent stays."""
    made = tree()
    made.give_up(BROKER, 0)
    assert made.take_changes() == []
    assert made.parent == PARENT
    assert changes(made, PARENT, BROKER, CLIENT) == [NeighbourAppeared(BROKER, True)]


def test_it_sends_nothing_and_waits_for_nothing() -> None:
    """No event of an overlay but `Rewired` and `give_up` changes anything."""
    made = tree()
    heartbeat = Heartbeat(Leadership(0, OTHER), 1, 0, None, is_broker=True)
    for event in (Started(), Recovered(), Received(OTHER, heartbeat, 0.0, 50.0), TimerFired(ElectionTimer("lead"))):
        made.dispatch(event, 0)
    made.adopt(OTHER, 0)
    assert (made.take(), made.take_changes()) == ([], [])
    assert (made.parent, made.children) == (PARENT, {BROKER: True, CLIENT: False})
