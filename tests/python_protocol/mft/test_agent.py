"""MFT-PubSub on a node: election, link, broker and client put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

import pytest

from roambus.bridge.scenario.plans import LinkChange
from roambus.python_protocol.actions import Action, Deliver, Note, Send
from roambus.python_protocol.brokers.broker import Filters, Pub
from roambus.python_protocol.events import (
    Crashed,
    Event,
    Publish,
    Received,
    Recovered,
    Started,
    Stopped,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.mft import MftPubSub
from roambus.python_protocol.mft.messages import Bmig, MftParameters, Mig, Rep, Sub, Uns
from roambus.python_protocol.parts.election import Heartbeat, Leadership
from roambus.python_protocol.parts.link import LinkAck, LinkData, LinkTimer
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SECOND
from roambus.python_protocol.trace_rows import DROP, MIGRATE, ROUTE, STORE
from tests.python_protocol.mft.network import event, topic
from tests.support.runs import of, publishing, run

ME, PARENT = 1, 2
P, S, B = Role.PUBLISHER, Role.SUBSCRIBER, Role.BROKER
ROLES = [Role(bits) for bits in range(8)]
STRONG = -50.0


class Node:
    """An agent that has booted, and what its neighbours do to it."""

    def __init__(self, roles: Role, parameters: MftParameters | None = None) -> None:
        self.agent = MftPubSub(ME, roles, parameters or MftParameters(), Random(0))
        self._round = 0
        self._acknowledged = 0
        self.tell(Started())

    def tell(self, *events: Event) -> list[Action]:
        return [
            action for received_event in events for action in self.agent.handle(received_event, self._round * SECOND)
        ]

    def hear(self, sender: NodeId, parent: NodeId | None = None, *, is_broker: bool = True) -> list[Action]:
        """The next round's heartbeat."""
        self._round += 1
        heartbeat = Heartbeat(Leadership(0, 9), self._round, 1, parent, is_broker)
        return self.tell(Received(sender, heartbeat, STRONG, 50.0))

    def receive(self, sender: NodeId, *messages: Message) -> list[Action]:
        """Messages over the link, each the first of a new session."""
        self._acknowledged += len(messages)
        frames = [LinkData(self._acknowledged + number, 0, message) for number, message in enumerate(messages)]
        return self.tell(*(Received(sender, frame, STRONG, 50.0) for frame in frames))

    def acknowledge(self, actions: Iterable[Action]) -> list[Action]:
        """The neighbour acknowledges the frames among some actions."""
        frames = [(action.destination, action.message) for action in actions if isinstance(action, Send)]
        acks = [(to, LinkAck(frame.session, frame.sequence)) for to, frame in frames if isinstance(frame, LinkData)]
        return self.tell(*(Received(neighbour, ack, STRONG, 50.0) for neighbour, ack in acks))

    def give_up(self, neighbour: NodeId) -> list[Action]:
        """The neighbour acknowledges nothing."""
        tries = MftParameters().link_retry_limit + 1
        return self.tell(*[TimerFired(LinkTimer(neighbour))] * tries)


def carried(actions: Iterable[Action]) -> list[tuple[NodeId, Message]]:
    """What goes out over the link."""
    sends = [action for action in actions if isinstance(action, Send)]
    return [(send.destination, send.message.payload) for send in sends if isinstance(send.message, LinkData)]


def notes(actions: Sequence[Action], name: str) -> list[Note]:
    return [action for action in actions if isinstance(action, Note) and action.name == name]


@pytest.mark.parametrize("roles", ROLES, ids=str)
def test_a_node_can_have_any_combination_of_roles(roles: Role) -> None:
    """Between a publisher and a subscriber, with a broker beside it, whatever it is: the others lose nothing."""
    links = [(0, 1), (1, 2), (2, 3), (1, 4), (4, 2)]
    workload = publishing(0, [3, 4], start=6 * SECOND, until=12 * SECOND)
    rows = run(MftPubSub, 5, links, workload, roles=[P, B, B, S, roles], time_limit=15 * SECOND)
    arrived = [(row["node"], row["notification_id"]) for row in of(rows, "deliver")]
    ids = [row["notification_id"] for row in of(rows, "publish")]
    assert sorted(arrived) == sorted((node, entry) for node in (3, 4) for entry in ids)


def test_all_roles_on_one_node_deliver_without_any_hop() -> None:
    """Without neighbours, from its boot, and without a frame on the air."""
    node = Node(P | S | B)
    subscribed = node.tell(Subscribe(topic(1)))
    published = node.tell(Publish(event(1, 7)))
    assert [action for action in published if isinstance(action, Deliver)] == [Deliver(event(1, 7), 0)]
    assert len(notes(published, ROUTE)) == 1
    assert not [action for action in (*subscribed, *published) if isinstance(action, Send)]


def test_a_client_without_a_broker_is_silent() -> None:
    """It subscribes when it hears of one, and not by a heartbeat of another client."""
    node = Node(S)
    assert node.tell(Subscribe(topic(1))) == []
    assert carried(node.hear(3, is_broker=False)) == []
    actions = node.hear(PARENT)
    assert notes(actions, MIGRATE) == [Note(MIGRATE, peer=PARENT)]
    assert carried(actions) == [(PARENT, Sub(ME, 1, 0, topic(1)))]


def test_a_broker_that_finds_a_parent_migrates_to_it() -> None:
    """Its own client is behind it."""
    node = Node(S | B)
    node.tell(Subscribe(topic(1)))
    ((destination, message),) = carried(node.hear(PARENT))
    assert destination == PARENT
    assert isinstance(message, Bmig)
    assert [known.subscriber for known in message.children] == [ME]


def test_messages_go_one_by_one_as_they_are_acknowledged() -> None:
    """The link's order is that of the commands."""
    node = Node(S)
    node.hear(PARENT)
    first = node.tell(Subscribe(topic(1)), Unsubscribe(topic(1)))
    assert carried(first) == [(PARENT, Sub(ME, 1, 0, topic(1)))]
    assert carried(node.acknowledge(first)) == [(PARENT, Uns(ME, 2, 0, topic(1)))]


def test_a_client_whose_broker_is_given_up_migrates_to_the_next() -> None:
    """And publishes there what did not arrive."""
    node = Node(P | S)
    node.hear(PARENT)
    node.acknowledge(node.tell(Subscribe(topic(1))))
    node.tell(Publish(event(1, 7)))
    assert notes(node.give_up(PARENT), MIGRATE) == [Note(MIGRATE, peer=None)]
    actions = node.hear(3)
    assert carried(actions) == [(3, Mig(ME, PARENT, 2, 0))]
    assert carried(node.acknowledge(actions)) == [(3, Pub(1, event(1, 7)))]


def test_a_broker_stores_what_a_neighbour_did_not_acknowledge() -> None:
    """Until the neighbour is back, or its subscriber elsewhere."""
    node = Node(B)
    node.acknowledge(node.hear(3, parent=ME))
    node.acknowledge(node.receive(3, Sub(50, 1, 1, topic(1))))
    node.tell(Publish(event(1, 7)))
    actions = node.give_up(3)
    assert notes(actions, STORE) == [Note(STORE, notification_id="99.7", peer=50)]


def test_a_full_link_is_given_up_and_loses_nothing() -> None:
    """A notification for which the queue has no room is stored with those that wait in it."""
    node = Node(P | B)
    node.acknowledge(node.hear(3, parent=ME))
    node.receive(3, Sub(50, 1, 1, topic(1)))
    limit = MftParameters().link_queue_limit
    actions = node.tell(*(Publish(event(1, sequence)) for sequence in range(limit + 1)))
    assert [note.notification_id for note in notes(actions, STORE)] == [f"99.{number}" for number in range(limit + 1)]


def test_a_migrating_client_is_answered_over_the_air() -> None:
    """FILTERS goes to the client, which need not have been heard before."""
    node = Node(B)
    assert (50, Filters(())) in carried(node.receive(50, Mig(50, 9, 1, 0)))


def test_after_a_crash_a_subscriber_still_knows_its_filters_and_its_number() -> None:
    """Section 4.1: it comes back as if it had moved; the broker of its node begins anew."""
    node = Node(S)
    node.hear(PARENT)
    node.acknowledge(node.tell(Subscribe(topic(1))))
    assert node.tell(Crashed()) == []
    node.tell(Recovered())
    actions = node.hear(PARENT)
    assert carried(actions) == [(PARENT, Mig(ME, PARENT, 2, 0))]
    node.acknowledge(actions)
    assert carried(node.receive(PARENT, Filters(()))) == [(PARENT, Sub(ME, 3, 0, topic(1)))]


def test_a_crash_names_what_was_not_sent() -> None:
    """Each notification that waits for a neighbour has a row, with its subscriber if the message has one."""
    node = Node(B)
    node.hear(3, parent=ME)
    node.receive(3, Sub(50, 1, 1, topic(1)))
    node.receive(4, Rep(50, 1, (event(1, 7), event(1, 8))), Pub(1, event(1, 9)))
    rows = notes(node.tell(Crashed()), DROP)
    lost = [(row.message_type, row.notification_id, row.peer, row.detail) for row in rows]
    assert lost == [("REP", "99.7", 50, "crash"), ("REP", "99.8", 50, "crash"), ("PUB", "99.9", None, "crash")]


def test_a_broker_that_crashed_serves_its_own_client_again() -> None:
    """What it knew of its subscriber is in its own client."""
    node = Node(P | S | B)
    node.tell(Subscribe(topic(1)))
    node.tell(Crashed(), Recovered())
    assert Deliver(event(1, 7), 0) in node.tell(Publish(event(1, 7)))


def test_events_without_a_meaning_are_ignored() -> None:
    """A frame that is not a message of the protocol, a timer of nobody, a node that is frozen."""
    node = Node(P | S | B)
    assert node.tell(Stopped(), TimerFired("nobody's"), Received(3, Filters((Filter(),)), STRONG, 50.0)) == []


@pytest.mark.parametrize("seed", range(2))
def test_a_node_with_all_roles_moves_as_a_whole(seed: int) -> None:
    """Its broker migrates, its subscriber and its publisher with it."""
    links = [(0, 1), (1, 2), (2, 3)]
    changes = [LinkChange(10 * SECOND, 2, 3, up=False), LinkChange(10 * SECOND, 0, 3, up=True)]
    workload = publishing(3, [0, 3], start=6 * SECOND, until=20 * SECOND)
    rows = run(MftPubSub, 4, links, workload, roles=[P | S | B] * 4, changes=changes, seed=seed)
    ids = sorted(row["notification_id"] for row in of(rows, "publish"))
    for node, hops in ((0, 1), (3, 0)):
        rows_here = [row for row in of(rows, "deliver") if row["node"] == node]
        assert sorted(row["notification_id"] for row in rows_here) == ids
        assert rows_here[-1]["hops"] == hops


@pytest.mark.parametrize(
    ("child", "message"),
    [(5, Sub(5, 1, 0, topic(1))), (6, Bmig(0, (), ()))],
    ids=["client", "broker"],
)
def test_whoever_takes_a_broker_for_its_own_is_a_child_before_its_heartbeat_says_so(
    child: NodeId, message: Message
) -> None:
    """So it is noticed if it goes, even if not one of its heartbeats has been heard."""
    node = Node(B)
    node.hear(PARENT)
    node.receive(child, message)
    assert list(node.agent.overlay.children) == [child]


@pytest.mark.parametrize("sender", [PARENT, 7])
def test_the_parent_and_strangers_are_no_children(sender: NodeId) -> None:
    """Whatever they send."""
    node = Node(B)
    node.hear(PARENT)
    node.receive(sender, Pub(1, event(1)))
    assert not node.agent.overlay.children
