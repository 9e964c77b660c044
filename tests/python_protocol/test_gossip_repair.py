"""Gossip with repair: what a node has missed, it is sent by whoever has it."""

from collections.abc import Sequence
from random import Random

from hypothesis import given, settings

from roambus.python_protocol.actions import Action, Note, Send, SetTimer
from roambus.python_protocol.baselines import Flood, RepairingGossip, RepairParameters, RepairTimer, Summary
from roambus.python_protocol.events import Received, Started, TimerFired
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.digest import Held
from roambus.python_protocol.roles import BROADCAST, Role
from roambus.python_protocol.simtime import SECOND, SimTime
from tests.support.graphs import connected_graphs
from tests.support.runs import Edges, of, publishing, run


def make() -> RepairingGossip:
    agent = RepairingGossip(0, Role.NONE, RepairParameters(), Random(1))
    agent.handle(Started(), 0)
    return agent


def hear(agent: RepairingGossip, message: Message, now: SimTime = 0) -> list[Action]:
    return list(agent.handle(Received(3, message, -70.0, 20.0), now))


def news(number: int) -> Flood:
    return Flood(5, 2, Notification(NotificationId(7, number), (), 10))


def tell(agent: RepairingGossip) -> list[Action]:
    return list(agent.handle(TimerFired("summary"), SECOND))


def test_summaries_become_rare_while_nobody_differs() -> None:
    """Intervals double up to the longest; each is told in its second half."""
    agent = make()
    afters = [action.after for _ in range(6) for action in tell(agent) if isinstance(action, SetTimer)]
    for after, interval in zip(afters, (1, 2, 4, 8, 16, 16), strict=True):
        assert interval / 2 <= after / SECOND < interval


def test_who_lacks_something_is_sent_it_after_a_while() -> None:
    """Unless another one sends it first."""
    agent = make()
    for number in (1, 2):
        hear(agent, news(number))
    lacking = Summary((Held(7, 2, 0b01),))
    assert hear(agent, lacking, SECOND // 4) == []  # it may be about to hear it
    (timer,) = (action for action in hear(agent, lacking, SECOND) if isinstance(action, SetTimer))
    assert timer.key == RepairTimer(NotificationId(7, 1))
    sent = agent.handle(TimerFired(timer.key), SECOND)
    assert list(sent) == [Send(BROADCAST, Flood(4, 3, news(1).notification))]
    assert "CancelTimer" in str(hear(agent, news(1)))


def test_who_has_nothing_of_a_publisher_says_so_and_is_sent_it() -> None:
    """A summary has room for some publishers only, so that what it does not name is not sent again."""
    lacking, having = make(), make()
    hear(having, news(1))
    hear(lacking, Summary((Held(7, 1, 0b1),)))
    (summary,) = (action.message for action in tell(lacking) if isinstance(action, Send))
    assert summary == Summary((Held(7, 1, 0),))
    assert isinstance(summary, Summary)
    assert [action.key for action in hear(having, summary, SECOND) if isinstance(action, SetTimer)] == [
        RepairTimer(NotificationId(7, 1))
    ]


def test_who_lacks_something_itself_tells_soon() -> None:
    """Whether it hears that others have it, or finds a gap in the numbers of a publisher."""
    for message in (Summary((Held(7, 1, 0b1),)), news(4)):
        agent = make()
        hear(agent, news(2))
        tell(agent)
        tell(agent)
        timers = [action for action in hear(agent, message) if isinstance(action, SetTimer) and action.key == "summary"]
        assert len(timers) == 1
        assert timers[0].after < SECOND


def drops(actions: Sequence[Action]) -> list[Note]:
    return [action for action in actions if isinstance(action, Note) and action.name == "drop"]


def test_what_is_too_old_to_be_requested_is_dropped_with_its_number() -> None:
    """Of 80 that were published while a node was away 64 can be requested; so too where a gap leaves the digest."""
    lost = Note("drop", message_type="FLOOD", peer=7, detail="16 notifications older than the newest 64")
    assert drops(hear(make(), Summary((Held(7, 79, 2**64 - 1),)))) == [lost]
    assert drops(hear(make(), news(79))) == [lost]
    agent = make()
    assert not [drop for number in range(20) for drop in drops(hear(agent, news(number)))]
    assert drops(hear(agent, news(99))) == [lost]
    assert not drops(hear(agent, Summary((Held(7, 99, 2**64 - 1),))))


def test_nothing_is_dropped_while_nothing_is_missed() -> None:
    """However many come."""
    agent = make()
    assert not [drop for number in range(200) for drop in drops(hear(agent, news(number)))]


def test_publishers_take_turns_in_summaries() -> None:
    """With more of them than a frame has room for, each is told in some summary."""
    agent = make()
    for publisher in range(20):
        hear(agent, Flood(5, 2, Notification(NotificationId(publisher, 1), ())))
    messages = [action.message for _ in range(3) for action in tell(agent) if isinstance(action, Send)]
    assert {held.publisher for summary in messages if isinstance(summary, Summary) for held in summary.held} == set(
        range(20)
    )
    assert max(len(summary.encode()) for summary in messages) <= 102


@given(connected_graphs())
@settings(max_examples=15, deadline=None)
def test_everybody_gets_everything_once_whatever_the_graph(graph: tuple[int, Edges]) -> None:
    """On any connected graph, also where counting would have silenced somebody who was needed."""
    nodes, links = graph
    rows = run(RepairingGossip, nodes, links, publishing(0, range(nodes), start=2 * SECOND, until=5 * SECOND))
    delivered = [(row["node"], row["notification_id"]) for row in of(rows, "deliver")]
    assert len(delivered) == len(set(delivered)) == 3 * nodes
