"""How algorithms 2.2 and 2.3 fail as published on a static tree with reliable links, and that numbers mend it.

The smallest networks found; a link takes 1 ms. The publisher is on a broker's node, so a publication is at its broker
at once; what a subscriber says after it has moved is there 1 ms later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from roambus.bridge.scenario.definition import Command, Publication, Subscription, Workload
from roambus.bridge.scenario.plans import ParentChange
from roambus.extensions.phoenix import Phoenix
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.support.runs import of
from tests.support.trees import run_on_tree

P, S, B = Role.PUBLISHER, Role.SUBSCRIBER, Role.BROKER
VARIANTS = pytest.mark.parametrize("numbered", [False, True], ids=["as_published", "numbered"])
START = SECOND


def at(milliseconds: float) -> SimTime:
    """A time after everything has settled."""
    return START + round(milliseconds * MILLISECOND)


class Story:
    """Brokers in a line 0 - 1 - 2 - ..., and the last node: a subscriber to everything, at broker `home` at first."""

    def __init__(self, *brokers: Role, home: NodeId = 0, subscribed: SimTime = 100 * MILLISECOND) -> None:
        self.home = home
        self.roles = [*(B | role for role in brokers), S]
        self.subscriber = len(brokers)
        self.subscribed = subscribed
        self._moves: list[ParentChange] = []
        self._commands: list[Command] = []

    def move(self, milliseconds: float, broker: NodeId | None) -> None:
        """The subscriber goes to a broker, or out of reach of all."""
        self._moves.append(ParentChange(at(milliseconds), self.subscriber, broker))

    def publish(self, *milliseconds: float, at_broker: NodeId) -> None:
        """The publisher on a broker's node publishes."""
        self._commands += [
            Command(at(millisecond), at_broker, Publication((("topic", "n"),))) for millisecond in milliseconds
        ]

    def received(self, *, numbered: bool) -> list[int]:
        """The numbers of the notifications that the subscriber gets, in their order."""
        subscribers = [node for node, role in enumerate(self.roles) if S in role]
        times: Mapping[NodeId, SimTime] = {self.subscriber: self.subscribed}
        rows = run_on_tree(
            Phoenix,
            {node: node - 1 for node in range(1, self.subscriber)} | {self.subscriber: self.home},
            self.roles,
            Workload(
                tuple(Subscription(node, times.get(node, 100 * MILLISECOND), Filter()) for node in subscribers),
                commands=tuple(self._commands),
            ),
            moves=self._moves,
            parameters={"number_migrations": str(numbered)},
            time_limit=2 * SECOND,
        )
        mine: Sequence[str] = [row["notification_id"] for row in of(rows, "deliver") if row["node"] == self.subscriber]
        return [int(notification.split(".")[1]) for notification in mine]


@VARIANTS
def test_twice_when_a_notification_crosses_the_mig(numbered: bool) -> None:
    """Broker 0 queues it for s, and sends it to broker 1 for somebody else; s is already there. Then comes the REP."""
    story = Story(P, S)
    story.move(0, 1)
    story.publish(1.5, at_broker=0)
    assert story.received(numbered=numbered) == ([0] if numbered else [0, 0])


@VARIANTS
def test_overtaken_when_the_old_broker_has_the_older_one(numbered: bool) -> None:
    """Broker 1 sends the first to broker 0, and the second, after the MIG, to s at once."""
    story = Story(B, P)
    story.move(0, 1)
    story.publish(0.5, 1.2, at_broker=1)
    assert story.received(numbered=numbered) == ([0, 1] if numbered else [1, 0])


@VARIANTS
def test_lost_when_a_subscriber_comes_back_to_its_broker(numbered: bool) -> None:
    """Lines 9 to 16 end its being local: what comes in its next absence is not queued."""
    story = Story(P)
    for milliseconds in (0, 20):
        story.move(milliseconds, None)
        story.move(milliseconds + 10, 0)
    story.publish(5, 25, 40, at_broker=0)
    assert story.received(numbered=numbered) == ([0, 1, 2] if numbered else [0, 2])


@VARIANTS
def test_lost_when_a_newer_mig_arrives_first(numbered: bool) -> None:
    """From 0 to 2 and back, before broker 0 has the MIG of the first move: that then turns the way to broker 2."""
    story = Story(P, B, B)
    story.move(0, 2)
    story.move(1.01, 0)
    story.publish(50, at_broker=0)
    assert story.received(numbered=numbered) == ([0] if numbered else [])


@VARIANTS
def test_twice_when_a_newer_mig_finds_the_broker_before_the_last(numbered: bool) -> None:
    """From 1 over 4 to 0: the second MIG tells broker 1 what s has received from broker 4, which is nothing."""
    story = Story(B, P, B, B, B, home=1)
    story.publish(-10, at_broker=1)
    story.move(0, 4)
    story.move(1.01, 0)
    assert story.received(numbered=numbered) == ([0] if numbered else [0, 0])


@VARIANTS
def test_lost_when_the_subscriber_is_faster_than_its_subscription(numbered: bool) -> None:
    """Broker 2 does not know s yet when it comes; the SUB follows, and shows the way to broker 0."""
    story = Story(P, B, B, subscribed=START)
    story.move(1.01, 2)
    story.publish(50, at_broker=0)
    assert story.received(numbered=numbered) == ([0] if numbered else [])
