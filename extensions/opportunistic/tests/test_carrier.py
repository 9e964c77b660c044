"""Carriers: notifications are carried, and handed over where nodes meet."""

import pytest

from roambus.bridge.scenario.plans import LinkChange
from roambus.extensions.opportunistic import Epidemic, Prophet, SprayAndWait
from roambus.extensions.opportunistic.carrier import Carried
from roambus.extensions.opportunistic.replication import EpidemicParameters, SprayParameters
from roambus.extensions.opportunistic.tests.carriers import NEWS, hear, make
from roambus.python_protocol.actions import Deliver, Note
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Publish, Subscribe, TimerFired
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.simtime import SECOND
from roambus.python_protocol.trace_rows import KEEP
from tests.support.runs import of, publishing, run

CARRIERS: tuple[type[Agent], ...] = (Epidemic, SprayAndWait, Prophet)


@pytest.mark.parametrize("kind", CARRIERS)
def test_a_carrier_brings_it_to_where_no_link_leads(kind: type[Agent]) -> None:
    """0 and 2 never meet, and 1 meets first the one and then the other."""
    changes = [LinkChange(12 * SECOND, 0, 1, up=False), LinkChange(15 * SECOND, 1, 2, up=True)]
    if kind is Prophet:  # which has to have met the receiver before it is given anything for it
        changes = [LinkChange(2 * SECOND, 1, 2, up=True), LinkChange(4 * SECOND, 1, 2, up=False), *changes]
    workload = publishing(0, [2], start=6 * SECOND, until=9 * SECOND)
    rows = run(kind, 3, [(0, 1)], workload, changes=changes, time_limit=25 * SECOND)
    delivered = of(rows, "deliver")
    assert len({row["notification_id"] for row in delivered}) == len(delivered) == 3
    assert {row["hops"] for row in delivered} == {2}
    assert all(float(str(row["time_s"])) > 15 for row in delivered)


def test_a_full_buffer_drops_the_oldest() -> None:
    """A buffer of two holds two, and the trace shows the third one's price."""
    agent = make(SprayAndWait, SprayParameters(buffer=2))
    for number in range(2):
        assert "buffer full" not in str(agent.handle(Publish(Notification(NotificationId(0, number), ())), 0))
    *_, drop = agent.handle(Publish(Notification(NotificationId(0, 2), ())), 0)
    assert "buffer full" in str(drop)
    assert "0.0" in str(drop)


def test_what_comes_again_is_delivered_once() -> None:
    """Two carriers bring the same."""
    agent = make(Epidemic)
    agent.handle(Subscribe(Filter()), 0)
    actions = [action for sender in (3, 4) for action in hear(agent, Carried(1, 2, (), NEWS), sender)]
    assert actions == [Deliver(NEWS, 2), Note(KEEP, notification_id=str(NEWS.id))]


def test_a_neighbour_is_in_contact_until_it_has_missed_more_hellos_than_are_allowed() -> None:
    """With hellos each second of which two may be missed: at 3 s it still is, and one ns later it has parted."""
    for now, has_parted in ((3 * SECOND, False), (3 * SECOND + 1, True)):
        agent = make(Epidemic, EpidemicParameters(hello_interval=SECOND, allowed_hello_loss=2))
        assert isinstance(agent, Epidemic)
        agent._meet(3, 0)
        agent.handle(TimerFired("hello"), now)
        assert agent._meet(3, now) == has_parted
