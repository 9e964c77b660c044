"""First approach and MFT-PubSub on trees in which clients and brokers move, crash, part and meet again.

Once all is quiet, (a) every table leads each notification along the tree to each matching subscriber of the
partition, once; (b) nothing that is stored for a subscriber within reach stays so; (c) no broker has a phantom
subscription of a subscriber within reach; (d) no message goes round for ever. The first approach has no timestamps: it
leaves phantoms of subscribers that are nowhere (the thesis, section 3.5), and only the broker that a subscriber is
connected to can tell that a message about it is old.
"""

from __future__ import annotations

import pytest

from roambus.extensions.first_approach.agent import FirstApproach
from roambus.extensions.first_approach.tests.moving_trees import Plan, Result, Step, carry_out
from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.mft import MftPubSub


def check(result: Result) -> None:
    """(a) to (d)."""
    assert result.undelivered() == set()
    assert result.stuck() is None
    assert result.phantoms() is None
    assert result.restless() == []


GAP_OF_A_SUB = Plan(
    (0, 0),
    (),
    (
        Step("subscribe", 2, 0),
        Step("cut", 2, 0),
        Step("subscribe", 2, 1),
        Step("move", 2, 0),
        Step("subscribe", 2, 2, 0),
        Step("cut", 1, 0, 3),
        Step("move", 1, 0),
    ),
)
GAP_OF_A_MIG = Plan(
    (0, 1),
    (1,),
    (
        Step("subscribe", 3, 0),
        Step("cut", 1, 0),
        Step("subscribe", 3, 1),
        Step("move", 2, 0),
        Step("roam", 0, 2, 0),
        Step("cut", 2, 0, 2),
        Step("move", 2, 0),
    ),
    (1, 2, 1, 1, 1, 1),
)


@pytest.mark.parametrize("plan", [GAP_OF_A_SUB, GAP_OF_A_MIG])
def test_a_broker_that_was_told_over_a_gap_does_not_lack_a_filter_for_ever(plan: Plan) -> None:
    """The BSUB with everything is lost with a link, and afterwards both ends name the same timestamp."""
    assert carry_out(MftPubSub, plan).phantoms() is None
    assert carry_out(MftPubSub, plan, {"ask_gaps": "false"}).phantoms() is not None


# What the published one does: the smallest plans that were found, each with the option that mends it

HOME_DECIDES = Plan((0, 0), (1,), (Step("subscribe", 3, 0), Step("roam", 0, 0), Step("move", 1, 2)))
CORRECT_OLD = Plan(
    (0,), (1,), (Step("subscribe", 2, 0), Step("crash", 1, 0), Step("unsubscribe", 2, 0), Step("recover", 0, 0))
)
FORGET_WAYS = Plan(
    (0, 1, 2), (), (Step("subscribe", 1, 0), Step("cut", 3, 0), Step("move", 2, 3), Step("publish", 2, 0))
)
REPLAY_ALWAYS = Plan(
    (0,),
    (),
    (
        Step("subscribe", 0, 0),
        Step("cut", 1, 0),
        Step("publish", 1, 0),
        Step("unsubscribe", 0, 0),
        Step("join", 1, 0),
        Step("subscribe", 0, 0),
    ),
)
SUB_REDIRECTS = Plan((0, 1, 0), (3,), (Step("subscribe", 4, 0), Step("roam", 0, 2, 2)))
CONNECTED_ONLY = Plan((0,), (0,), (Step("subscribe", 2, 0), Step("cut", 1, 0), Step("roam", 0, 1), Step("move", 0, 1)))
FOLLOW_TABLE = Plan((0, 0), (1,), (Step("subscribe", 3, 0), Step("roam", 0, 3), Step("move", 1, 2), Step("roam", 0, 1)))
TELL_LATE = Plan((0, 1), (1,), (Step("subscribe", 3, 0), Step("cut", 1, 0), Step("join", 2, 18), Step("roam", 0, 2, 0)))


@pytest.mark.parametrize(
    ("agent", "option", "plan"),
    [
        (MftPubSub, "home_decides", HOME_DECIDES),
        (MftPubSub, "replay_always", REPLAY_ALWAYS),
        (FirstApproach, "sub_redirects", SUB_REDIRECTS),
        (FirstApproach, "connected_only", CONNECTED_ONLY),
        (FirstApproach, "follow_table", FOLLOW_TABLE),
        (FirstApproach, "tell_late", TELL_LATE),
    ],
)
def test_without_an_option_something_stays_stored_for_a_subscriber_within_reach(
    agent: type[BrokerAgent], option: str, plan: Plan
) -> None:
    """As published (b) is violated; with the option all is well. What `keep_connected` mends besides is left out."""
    as_published = {option: "false"} if agent is MftPubSub else {option: "false", "keep_connected": "false"}
    assert carry_out(agent, plan, as_published).stuck()
    check(carry_out(agent, plan))


def test_without_keep_connected_a_subscriber_that_is_connected_goes_dead() -> None:
    """A broker is back before its BMIG has gone all the way, which turns its own table as well."""
    steps = (Step("subscribe", 4, 0), Step("move", 3, 1), Step("move", 3, 2, 2))
    back = Plan((0, 0, 2), (3,), steps, delays=(2,))
    assert carry_out(FirstApproach, back, {"keep_connected": "false"}).undelivered()
    check(carry_out(FirstApproach, back))


def test_without_filters_again_what_a_crash_has_hidden_stays() -> None:
    """A subscriber changes its filters while its broker is down; the table of the parent brings the old one back."""
    steps = (
        Step("subscribe", 3, 0),
        Step("crash", 1, 0),
        Step("unsubscribe", 3, 0),
        Step("subscribe", 3, 1),
        Step("recover", 0, 0),
    )
    changed = Plan((0, 1), (1,), steps)
    assert carry_out(FirstApproach, changed, {"filters_again": "false"}).phantoms()
    check(carry_out(FirstApproach, changed))


def test_without_correct_old_a_phantom_remains() -> None:
    """A broker that has been away answers for a subscription that has ended meanwhile, and nobody tells it."""
    assert carry_out(MftPubSub, CORRECT_OLD, {"correct_old": "false"}).phantoms()
    assert carry_out(MftPubSub, CORRECT_OLD).phantoms() is None


def test_without_forget_ways_notifications_are_lost() -> None:
    """Two brokers point at each other, and nothing is passed back."""
    assert carry_out(MftPubSub, FORGET_WAYS, {"forget_ways": "false"}).lost()
    assert carry_out(MftPubSub, FORGET_WAYS).lost() == set()


def test_without_answer_late_what_crosses_misleads_the_first_approach() -> None:
    """A subscriber is back before the MIG of its first move, or its broker elsewhere before its SUB: the older wins."""
    back = Plan((0, 1, 2), (0,), (Step("subscribe", 4, 0), Step("roam", 0, 3), Step("roam", 0, 0, 2)))
    assert carry_out(FirstApproach, back, {"answer_late": "false"}).stuck()
    moved = Plan((0, 1), (2,), (Step("subscribe", 3, 0), Step("move", 2, 0, 1)), delays=(100, 1, 1, 1, 1, 10))
    assert carry_out(FirstApproach, moved, {"answer_late": "false"}).undelivered()
    for plan in (back, moved):
        check(carry_out(FirstApproach, plan))
        check(carry_out(MftPubSub, plan))
