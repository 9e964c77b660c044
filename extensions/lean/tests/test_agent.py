"""Forwarding by distance: who sends a notification on, who leaves it to others, and who hears of that.

A node hears 2, who says how far subscriber 9 is from others, and publisher 7 far away.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings

from roambus.bridge.scenario.definition import Publications, Subscription, Workload
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.extensions.lean.agent import AnswerTimer, EchoTimer, ForwardTimer, LeanMft
from roambus.extensions.lean.interests import Interest, Wants
from roambus.extensions.lean.messages import Ack, Beat, LeanParameters, Pub, Target
from roambus.python_protocol.actions import Action, CancelTimer, Deliver, Note, Send, SetTimer
from roambus.python_protocol.baselines import Flood
from roambus.python_protocol.events import Publish, Received, Started, Subscribe, TimerFired
from roambus.python_protocol.filters import Notification, NotificationId, parse_filter
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SECOND, SimTime
from tests.support.graphs import connected_graphs
from tests.support.runs import Edges, of, run

ME, NEIGHBOUR, PUBLISHER, SUBSCRIBER = 1, 2, 7, 9
LAST = 15
NEWS = Notification(NotificationId(PUBLISHER, 1), (("topic", "news"),), 4)
FILTER = parse_filter("topic = 'news'")
PARAMETERS = LeanParameters()


def hear(agent: LeanMft, message: Message, sender: NodeId = NEIGHBOUR, now: SimTime = SECOND) -> list[Action]:
    return list(agent.handle(Received(sender, message, -60.0, 30.0), now))


def fire(agent: LeanMft, key: object, now: SimTime = SECOND) -> list[Message]:
    return [action.message for action in agent.handle(TimerFired(key), now) if isinstance(action, Send)]


def timers(actions: Sequence[Action], kind: type[object]) -> list[SetTimer]:
    return [action for action in actions if isinstance(action, SetTimer) and isinstance(action.key, kind)]


def pub(level: int, effort: int = 0, subscriber: NodeId = SUBSCRIBER, notification: Notification = NEWS) -> Pub:
    return Pub(0, effort, (Target(subscriber, level),), notification)


def at_two_hops(node: NodeId = ME) -> LeanMft:
    """A node that hears the neighbour, who hears the subscriber: a distance of 2.2 transmissions, told as level 6."""
    agent = LeanMft(node, Role.BROKER, PARAMETERS, Random(1))
    agent.handle(Started(), 0)
    hear(agent, Beat(40, 0, 0, SUBSCRIBER, bytes([3 << 4 | 15]), ()))
    return agent


def test_who_is_nearer_forwards_after_a_wait() -> None:
    """And tells how far it is itself, so that who is not nearer than that leaves it alone."""
    agent = at_two_hops()
    (timer,) = timers(hear(agent, pub(9), PUBLISHER), ForwardTimer)
    assert 0 < timer.after <= PARAMETERS.forward_delay + SECOND // 100
    assert fire(agent, timer.key) == [Pub(1, 0, (Target(SUBSCRIBER, 6),), NEWS)]


def test_who_is_not_nearer_by_the_progress_does_not_forward() -> None:
    """For what is sent again half of the progress is enough."""
    assert not timers(hear(at_two_hops(), pub(6), PUBLISHER), ForwardTimer)
    assert not timers(hear(at_two_hops(), pub(7), PUBLISHER), ForwardTimer)
    assert timers(hear(at_two_hops(), pub(7, effort=1), PUBLISHER), ForwardTimer)


@pytest.mark.parametrize("sign", [pub(3), Ack(NEWS.id, SUBSCRIBER)], ids=["nearer", "acknowledged"])
@pytest.mark.parametrize("has_sent", [False, True])
def test_a_sign_of_somebody_nearer_ends_it(sign: Message, has_sent: bool) -> None:
    """Before it is forwarded, and before it is sent again."""
    agent = at_two_hops()
    hear(agent, pub(9), PUBLISHER)
    if has_sent:
        assert fire(agent, ForwardTimer(NEWS.id))
    hear(agent, sign, 5)
    assert not fire(agent, AnswerTimer(NEWS.id) if has_sent else ForwardTimer(NEWS.id))


def test_a_forwarder_sends_again_once_and_then_gives_up() -> None:
    """With more effort the second time."""
    agent = at_two_hops()
    hear(agent, pub(9), PUBLISHER)
    assert fire(agent, ForwardTimer(NEWS.id))
    (again,) = fire(agent, AnswerTimer(NEWS.id))
    assert isinstance(again, Pub)
    assert again.effort == 1
    assert list(agent.handle(TimerFired(AnswerTimer(NEWS.id)), SECOND)) == [
        Note("drop", notification_id=str(NEWS.id), peer=SUBSCRIBER, detail="no acknowledgement")
    ]


def published(agent: LeanMft, wanting: Sequence[NodeId]) -> list[Action]:
    hear(agent, Wants(tuple(Interest(node, 0, 1, (FILTER,)) for node in wanting)))
    return list(agent.handle(Publish(NEWS, ()), SECOND))


def test_what_nobody_takes_from_the_publisher_goes_to_all() -> None:
    """After three times, by a last PUB that is repeated like gossip."""
    agent = at_two_hops(PUBLISHER)
    (first,) = (action.message for action in published(agent, [SUBSCRIBER]) if isinstance(action, Send))
    efforts = [sent.effort for _ in range(4) for sent in fire(agent, AnswerTimer(NEWS.id)) if isinstance(sent, Pub)]
    assert first == Pub(0, 0, (Target(SUBSCRIBER, 6),), NEWS)
    assert efforts == [1, 1, LAST]
    other = at_two_hops()
    (timer,) = timers(hear(other, pub(15, LAST), PUBLISHER), ForwardTimer)
    assert fire(other, timer.key) == [Pub(1, LAST, (Target(SUBSCRIBER, 15),), NEWS)]


def test_who_has_heard_the_last_effort_three_times_keeps_silent() -> None:
    """As in gossip."""
    agent = at_two_hops()
    for sender in (PUBLISHER, 5, 6):
        hear(agent, pub(15, LAST), sender)
    assert not fire(agent, ForwardTimer(NEWS.id))


def test_many_are_sent_a_flood() -> None:
    """Where a frame has no room for all who want it, or sending it to each of them would take more frames."""
    for subscribers in (range(10, 40), range(10, 20)):
        agent = at_two_hops(PUBLISHER)
        for subscriber in subscribers[:10]:
            for now in range(5):
                hear(agent, Ack(NotificationId(8, now), subscriber), subscriber, now * SECOND // 5)
        assert [action.message for action in published(agent, subscribers) if isinstance(action, Send)] == [
            Flood(35, 0, NEWS)
        ]


@pytest.mark.parametrize(("count", "kind"), [(1, Pub), (3, Flood)])
def test_the_cheaper_way_is_taken(count: int, kind: type[Message]) -> None:
    """Three neighbours cost three PUBs and half as much for ACKs, and a broadcast three frames."""
    agent, subscribers = at_two_hops(PUBLISHER), range(10, 10 + count)
    for subscriber in subscribers:
        for now in range(5):
            hear(agent, Ack(NotificationId(8, now), subscriber), subscriber, now * SECOND // 5)
    assert [type(action.message) for action in published(agent, subscribers) if isinstance(action, Send)] == [kind]


def test_a_forwarder_that_has_used_its_tries_does_not_begin_again() -> None:
    """Even when the PUB comes from far away once more."""
    agent = at_two_hops()
    hear(agent, pub(9), PUBLISHER)
    fire(agent, ForwardTimer(NEWS.id))
    for _ in range(2):
        fire(agent, AnswerTimer(NEWS.id))
    assert not timers(hear(agent, pub(9), PUBLISHER), ForwardTimer)


def test_what_nobody_wants_is_not_sent_unless_somebody_turns_out_to() -> None:
    """A subscription that comes a little late is for what was published before it came."""
    agent = at_two_hops(PUBLISHER)
    assert not [action for action in published(agent, []) if isinstance(action, Send)]
    late = hear(agent, Wants((Interest(SUBSCRIBER, 0, 1, (FILTER,)),)), now=2 * SECOND)
    assert timers(late, ForwardTimer)
    assert fire(agent, ForwardTimer(NEWS.id), 2 * SECOND) == [Pub(0, 0, (Target(SUBSCRIBER, 6),), NEWS)]


def test_what_a_subscriber_has_is_not_sent_again_when_it_subscribes_to_something_else() -> None:
    """Neither if it has acknowledged it, nor while this node or one that is nearer sends it."""
    both = (FILTER, parse_filter("topic = 'sport'"))
    for sign in (None, Ack(NEWS.id, SUBSCRIBER), pub(3)):
        agent = at_two_hops(PUBLISHER)
        published(agent, [SUBSCRIBER])
        if sign:
            hear(agent, sign)
        late = hear(agent, Wants((Interest(SUBSCRIBER, 0, 2, both),)), now=2 * SECOND)
        assert not timers(late, ForwardTimer)


def test_what_nobody_acknowledges_is_dropped_by_name() -> None:
    """After the last effort, for each subscriber that was not heard to have it."""
    agent = at_two_hops(PUBLISHER)
    published(agent, [SUBSCRIBER, 8])
    for _ in range(3):
        fire(agent, AnswerTimer(NEWS.id))
    hear(agent, Ack(NEWS.id, 8), 8)
    last = list(agent.handle(TimerFired(AnswerTimer(NEWS.id)), 9 * SECOND))
    assert [action for action in last if isinstance(action, Note)] == [
        Note("drop", notification_id=str(NEWS.id), peer=SUBSCRIBER, detail="no acknowledgement")
    ]
    assert not list(agent.handle(TimerFired(AnswerTimer(NEWS.id)), 10 * SECOND))


def test_what_is_on_its_way_when_the_memory_is_full_is_dropped_by_name() -> None:
    """The oldest makes room."""
    agent = LeanMft(PUBLISHER, Role.PUBLISHER, LeanParameters(memory=1), Random(1))
    agent.handle(Started(), 0)
    published(agent, [SUBSCRIBER])
    other = Notification(NotificationId(PUBLISHER, 2), NEWS.attributes, 4)
    notes = [
        action
        for action in agent.handle(Publish(other, ()), SECOND)
        if isinstance(action, Note) and action.name == "drop"
    ]
    assert notes == [Note("drop", notification_id=str(NEWS.id), peer=SUBSCRIBER, detail="memory full")]


def test_subscriptions_are_numbered_in_a_circle() -> None:
    """After 65,535 changes comes number 1, which is newer; 0 means that a node never subscribed."""
    agent = LeanMft(SUBSCRIBER, Role.SUBSCRIBER, PARAMETERS, Random(1))
    agent.handle(Started(), 0)
    agent._number = 65534
    hearer = at_two_hops()
    for filters in ((FILTER,), (FILTER, parse_filter("topic = 'sport'"))):
        agent.handle(Subscribe(filters[-1]), 0)
        for message in fire(agent, "interests", SECOND):
            hear(hearer, message, SUBSCRIBER)
    assert agent._number == 1
    sport = Notification(NotificationId(PUBLISHER, 3), (("topic", "sport"),))
    assert hearer._interests.wanting(sport) == {SUBSCRIBER}


@pytest.mark.parametrize(("level", "is_over"), [(5, False), (4, True)])
def test_only_a_node_nearer_by_more_than_the_rounding_takes_the_duty(level: int, is_over: bool) -> None:
    """Distances on the air are rounded to levels of 0.4: at 2.1 a level of 5 may be as far, and one of 4 is nearer."""
    agent = at_two_hops()
    hear(agent, pub(9), PUBLISHER)
    assert fire(agent, ForwardTimer(NEWS.id))
    agent._journeys[NEWS.id].duty[SUBSCRIBER] = 2.1
    hear(agent, pub(level), 5)
    assert (fire(agent, AnswerTimer(NEWS.id)) == []) == is_over


def test_a_subscriber_that_hears_the_last_effort_first_acknowledges_it() -> None:
    """Nobody else has said yet that it is here."""
    agent = LeanMft(SUBSCRIBER, Role.SUBSCRIBER, PARAMETERS, Random(1))
    agent.handle(Started(), 0)
    agent.handle(Subscribe(FILTER), 0)
    assert Ack(NEWS.id, SUBSCRIBER) in [
        action.message for action in hear(agent, pub(15, LAST)) if isinstance(action, Send)
    ]


def test_an_acknowledgement_that_the_subscriber_itself_sent_stays_witnessed() -> None:
    """Another node's repetition after it does not take that back."""
    agent, ack = at_two_hops(), Ack(NEWS.id, SUBSCRIBER)
    hear(agent, ack, SUBSCRIBER)
    hear(agent, ack, 5)
    assert timers(hear(agent, pub(9), PUBLISHER), EchoTimer)


def test_who_has_heard_the_last_effort_less_often_repeats_it() -> None:
    """The threshold is that of gossip: three copies, the first included."""
    agent = at_two_hops()
    for sender in (PUBLISHER, 5):
        hear(agent, pub(15, LAST), sender)
    assert fire(agent, ForwardTimer(NEWS.id)) == [Pub(1, LAST, (Target(SUBSCRIBER, 15),), NEWS)]


def test_a_subscriber_delivers_once_and_acknowledges_each_time() -> None:
    """Who sends it again has not heard the first acknowledgement; the last effort is acknowledged once."""
    agent = LeanMft(SUBSCRIBER, Role.SUBSCRIBER, PARAMETERS, Random(1))
    agent.handle(Started(), 0)
    agent.handle(Subscribe(FILTER), 0)
    actions = [hear(agent, pub(3, effort)) for effort in (0, 1, LAST)]
    assert [sum(isinstance(action, Deliver) for action in each) for each in actions] == [1, 0, 0]
    acks = [[action.message for action in each if isinstance(action, Send)] for each in actions]
    assert acks == [[Ack(NEWS.id, SUBSCRIBER)], [Ack(NEWS.id, SUBSCRIBER)], []]


def test_who_has_heard_an_acknowledgement_repeats_it_for_who_has_not() -> None:
    """Also one that came before the notification; twice at most, and not if another one does."""
    agent, ack = at_two_hops(), Ack(NEWS.id, SUBSCRIBER)
    hear(agent, ack, SUBSCRIBER)
    for _ in range(2):
        (timer,) = timers(hear(agent, pub(9), PUBLISHER), EchoTimer)
        assert CancelTimer(timer.key) in hear(agent, ack, 5)
        assert fire(agent, timer.key) == [ack]
    assert not timers(hear(agent, pub(9), PUBLISHER), EchoTimer)


def test_who_was_only_told_of_an_acknowledgement_does_not_repeat_it() -> None:
    """So it does not go round."""
    agent = at_two_hops()
    hear(agent, Ack(NEWS.id, SUBSCRIBER), 5)
    assert not timers(hear(agent, pub(9), PUBLISHER), EchoTimer)


def test_distances_are_announced_while_notifications_for_few_are_on_the_air() -> None:
    """And forgotten from heartbeats soon after; so is the haste."""
    agent = at_two_hops()
    hear(agent, Wants((Interest(SUBSCRIBER, 0, 1, (FILTER,)),)))
    rows = []
    for now in (2 * SECOND, 4 * SECOND, 30 * SECOND):
        if now == 4 * SECOND:
            hear(agent, pub(3), now=now)
        (beat,) = fire(agent, "summary", now)
        assert isinstance(beat, Beat)
        rows.append(beat.levels)
    assert rows == [b"", bytes([6 << 4 | 15]), b""]


@given(connected_graphs(7))
@settings(max_examples=15, deadline=None)
def test_all_who_want_it_get_it_once_and_nobody_else_gets_it(graph: tuple[int, Edges]) -> None:
    """Over ideal links, also from a publisher that has crashed and is back, and with two topics."""
    nodes, links = graph
    wanted = [Subscription(node, 0, parse_filter(f"topic = {node % 2}")) for node in range(1, nodes)]
    published = [Publications(0, 8 * SECOND, 12 * SECOND, SECOND, (("topic", topic),), 10) for topic in (0, 1)]
    faults = [Fault(SECOND, 0, FaultKind.CRASH), Fault(3 * SECOND, 0, FaultKind.RECOVER)]
    rows = run(LeanMft, nodes, links, Workload(tuple(wanted), tuple(published)), faults=faults)
    expected = {(row["notification_id"], int(s)) for row in of(rows, "publish") for s in (row["detail"] or "").split()}
    delivered = [(row["notification_id"], row["node"]) for row in of(rows, "deliver")]
    assert sorted(delivered) == sorted(expected)
