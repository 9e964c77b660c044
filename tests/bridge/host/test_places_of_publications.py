"""Publications that carry their publisher's place, and who is expected to get them."""

from __future__ import annotations

from dataclasses import replace

from roambus.bridge.backend import NodeInfo
from roambus.bridge.host.command_plan import commands
from roambus.bridge.mobility.given_way import GivenWay
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.scenario.definition import Publications, Subscription, Workload
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.python_protocol.events import Publish
from roambus.python_protocol.filters import parse_filter
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND
from tests.support.scenarios import scenario

WALK = GivenWay((WayPoint(0, 0, 5), WayPoint(10, 100, 5)))


def test_a_moving_publisher_is_heard_where_the_subscriber_wants_it() -> None:
    """It walks past at 10 m/s: only what it publishes within 20 m of (50, 5) is expected."""
    wanted = Subscription(1, 0, parse_filter("within 20 of (50, 5)"))
    sending = Publications(0, 0, 10 * SECOND, SECOND, (("topic", "news"),), 0, placed=True)
    described = replace(
        scenario([Role.PUBLISHER, Role.SUBSCRIBER], Workload((wanted,), (sending,)), time_limit=10 * SECOND),
        nodes=(NodeSettings((0, 5), WALK), NodeSettings((50, 5))),
    )
    published = [event for _, _, event in commands(described, [NodeInfo(0)] * 2) if isinstance(event, Publish)]
    assert len(published) == 10
    for publication in published:
        attributes = dict(publication.notification.attributes)
        assert attributes["y"] == 5
        assert publication.subscribers == ((1,) if abs(float(attributes["x"]) - 50) <= 20 else ())
    assert {publication.subscribers for publication in published} == {(1,), ()}
