"""A subscriber of the skip ring, rule by rule: silence, configurations, former neighbours (sections 3.2 and 4.1)."""

from __future__ import annotations

from random import Random

from roambus.extensions.skip_ring.labels import Label, Reference
from roambus.extensions.skip_ring.messages import (
    GetConfiguration,
    Introduce,
    RemoveConnections,
    SetData,
    SkipRingParameters,
)
from roambus.extensions.skip_ring.subscriber import MINIMAL, PATIENCE, Subscriber
from roambus.python_protocol.roles import NodeId
from tests.python_protocol.brokers.actions import asked, receive, sends

ME, LEFT, RIGHT, OLD, SUPERVISOR = 3, 1, 2, 4, 0
TOPIC = "news"
OWN = "0000001"
"""A label so long that action (ii) is hardly ever taken."""


class Certain(Random):
    """Draws what makes action (iv) happen, and action (ii) not."""

    def random(self) -> float:
        return MINIMAL - 0.01


def configured(left: Label | None = "0", right: Label = "1") -> Subscriber:
    """In the ring, with the label OWN."""
    made = Subscriber(ME, TOPIC, SkipRingParameters(supervisor=SUPERVISOR), Certain(1))
    made.ring.label = OWN
    made.ring.left = None if left is None else Reference(LEFT, left)
    made.ring.right = Reference(RIGHT, right)
    return made


def requests(subscriber: Subscriber, rounds: int) -> list[int]:
    """The rounds in which it asks the supervisor for its configuration."""
    wanted = (SUPERVISOR, GetConfiguration(TOPIC, ME))
    return [number for number in range(1, rounds + 1) if wanted in sends(asked(subscriber.timeout))]


def test_without_a_left_neighbour_it_asks_at_once() -> None:
    """Action (iv)."""
    assert requests(configured(left=None), 2) == [1, 2]


def test_a_left_neighbour_counts_as_none_after_so_many_silent_rounds() -> None:
    """In the first round it is new; PATIENCE rounds of silence are borne, and the next one is not."""
    assert requests(configured(), PATIENCE + 3) == [PATIENCE + 2, PATIENCE + 3]


def test_a_left_neighbour_that_introduces_itself_is_not_silent() -> None:
    """Any other node that does so is no sign of it."""
    for sender, label, expected in ((LEFT, "0", []), (RIGHT, "1", [2, 3])):
        subscriber = configured()
        assert requests(subscriber, PATIENCE) == []
        receive(subscriber, sender, Introduce(TOPIC, Reference(sender, label), False, OWN))
        assert requests(subscriber, 3) == expected


def configuration(left: Reference, right: Reference) -> SetData:
    return SetData(TOPIC, OWN, left, right)


def test_a_former_neighbour_that_is_nearer_is_asked_for() -> None:
    """Action (iii), for one between the configured neighbours or with the label of one; a farther one is placed."""
    left, right = Reference(LEFT, "0"), Reference(RIGHT, "01")
    for label, is_asked_for in (("001", True), ("01", True), ("11", False)):
        subscriber = configured()
        subscriber.ring.right = Reference(OLD, label)
        sent = sends(receive(subscriber, SUPERVISOR, configuration(left, right)))
        assert ((SUPERVISOR, GetConfiguration(TOPIC, OLD)) in sent) == is_asked_for
        assert any(to != SUPERVISOR for to, _ in sent) != is_asked_for


def test_a_configured_neighbour_that_stays_is_not_asked_for() -> None:
    """It was a neighbour before, and is one again."""
    left, right = Reference(LEFT, "0"), Reference(RIGHT, "01")
    assert sends(receive(configured(), SUPERVISOR, configuration(left, right))) == []


def test_leave_to_go_deletes_label_and_connections() -> None:
    """A SetData without a label."""
    subscriber = configured()
    subscriber.shortcuts.nodes["1"] = RIGHT
    receive(subscriber, SUPERVISOR, SetData(TOPIC, None, None, None))
    assert (subscriber.own, subscriber.neighbours()) == (None, [])


def test_a_node_that_is_not_in_the_ring_is_forgotten_as_a_neighbour_and_as_a_shortcut() -> None:
    """The lemma on unsubscribe."""
    subscriber = configured()
    subscriber.shortcuts.nodes["01"] = LEFT
    receive(subscriber, LEFT, RemoveConnections(TOPIC, LEFT))
    assert subscriber.neighbours() == [RIGHT]
    assert subscriber.shortcuts.nodes["01"] is None


def asks(subscriber: Subscriber) -> list[NodeId]:
    return [to for to, _ in sends(asked(subscriber.confirm))]


def test_a_subscriber_that_is_leaving_does_not_ask_for_a_place() -> None:
    """The supervisor asks it because another node has named it."""
    subscriber = configured()
    assert asks(subscriber) == [SUPERVISOR]
    asked(subscriber.leave)
    assert asks(subscriber) == []
