"""The phantom subscription of section 3.5, by whole agents over bare ideal links; MFT-PubSub leaves none."""

from __future__ import annotations

from roambus.bridge.scenario.definition import Command, Publications, Subscription, Workload
from roambus.bridge.scenario.plans import ParentChange
from roambus.extensions.first_approach.agent import FirstApproach
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Unsubscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.mft import MftPubSub
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND
from tests.support.runs import Row, of
from tests.support.trees import run_on_tree

P, S, B = Role.PUBLISHER, Role.SUBSCRIBER, Role.BROKER
SUBSCRIBER = 3


def after_the_merge(agent: type[Agent], *, stays: bool = False) -> list[Row]:
    """p1 is broker 2 with the subscriber, which leaves while p1 is alone; then p1 merges into p2, brokers 0 and 1.

    Broker 0 publishes before and after. A subscriber that `stays` unsubscribes all the same.
    """
    leaves = [] if stays else [ParentChange(5 * SECOND + SECOND // 2, SUBSCRIBER, None)]
    rows = run_on_tree(
        agent,
        {1: 0, 2: 1, SUBSCRIBER: 2},
        [B | P, B, B, S],
        Workload(
            (Subscription(SUBSCRIBER, SECOND, Filter()),),
            (Publications(0, 2 * SECOND, 9 * SECOND, SECOND, (("topic", "n"),), 20),),
            (Command(5 * SECOND, SUBSCRIBER, Unsubscribe(Filter())),),
        ),
        moves=[ParentChange(4 * SECOND, 2, None), *leaves, ParentChange(6 * SECOND, 2, 1)],
    )
    assert of(rows, "deliver")
    assert len([row for row in of(rows, "publish") if row["time_s"] > 6.5]) >= 2
    return [row for row in rows if row["time_s"] > 6.5]


def test_the_first_approach_routes_to_a_subscriber_that_has_left() -> None:
    """Broker 2 takes the subscription back from the BTAB of broker 1: nobody will ever remove it."""
    rows = after_the_merge(FirstApproach)
    published = len(of(rows, "publish"))
    routed = [row["node"] for row in of(rows, "route") if row["detail"] == str(SUBSCRIBER)]
    assert sorted(routed) == sorted([0, 1, 2] * published)
    assert [row["message_type"] for row in of(rows, "send")] == ["PUB", "PUB"] * published
    assert of(rows, "deliver") == []


def test_a_subscriber_that_is_still_there_removes_the_phantom_itself() -> None:
    """By `filters_again` it is shown what the BTAB has brought."""
    assert of(after_the_merge(FirstApproach, stays=True), "route") == []


def test_mft_knows_that_the_subscriber_has_left() -> None:
    """The timestamp of its UNS is newer than what p2 knows."""
    rows = after_the_merge(MftPubSub)
    assert {row["event"] for row in rows} == {"publish"}
