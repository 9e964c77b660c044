"""Agents that need positions learn their own, with the errors of their receivers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest

from roambus.bridge.backend import Move, NodeInfo
from roambus.bridge.backends.castalia.backend import CastaliaFactory
from roambus.bridge.backends.ideal.backend import IdealFactory
from roambus.bridge.backends.radio.backend import RadioFactory
from roambus.bridge.host.command_plan import commands
from roambus.bridge.host.event_loop import Host
from roambus.bridge.host.positions import Receivers, follow
from roambus.bridge.mobility.given_way import GivenWay
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.mobility.paths import motion, paths_of, positions
from roambus.bridge.mobility.random_waypoint import RandomWaypoint
from roambus.bridge.scenario.definition import Command, Publication, Scenario, Subscription, Workload
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.system.errors import AgentError, UserError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.agent import Agent, on, on_timer
from roambus.python_protocol.events import Publish, Started, Subscribe, Unsubscribe
from roambus.python_protocol.filters import parse_filter
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.support.scenarios import scenario

Fixes = dict[tuple[int, SimTime], tuple[Any, Any]]


class Located(Agent):
    """Looks at its position every second."""

    needs_position = True

    @on(Started)
    def start(self, _: Started, now: SimTime) -> None:
        self.look("look", now)

    @on_timer("look")
    def look(self, _: object, now: SimTime) -> None:
        self.note("look", detail=f"{self.position} {self.velocity}")
        self.set_timer("look", SECOND)


class Ignorant(Agent):
    """Reads its position without declaring it."""

    @on(Started)
    def start(self, _: Started, now: SimTime) -> None:
        self.note("look", detail=f"{self.position}")


def places(*nodes: NodeSettings, **changes: Any) -> Scenario:
    """Nodes within 100 m by 100 m."""
    return replace(scenario([Role.NONE] * len(nodes)), nodes=nodes, agent="located", **changes)


def looks(described: Scenario, agent: type[Agent] = Located) -> list[tuple[float, int, str]]:
    """The notes of the agents."""
    trace = TraceWriter()
    Host(described, agent, IdealFactory().make(described, agent, Path()), trace).run()
    return [(row["time_s"], row["node"], row["detail"]) for row in trace.table().to_pylist() if row["event"] == "look"]


WALK = GivenWay((WayPoint(0, 10, 20), WayPoint(2, 10, 20), WayPoint(4, 14, 20), WayPoint(4, 30, 30)))


def test_an_agent_learns_its_place_and_velocity_at_each_event() -> None:
    """At rest, on the way, and where it jumps."""
    seen = looks(places(NodeSettings((10, 20), WALK), NodeSettings((90, 20))))
    assert [text for time, node, text in seen if node == 0][:5] == [
        "(10.0, 20.0) (0.0, 0.0)",
        "(10.0, 20.0) (0.0, 0.0)",
        "(10.0, 20.0) (2.0, 0.0)",
        "(12.0, 20.0) (2.0, 0.0)",
        "(30.0, 30.0) (0.0, 0.0)",
    ]


def test_the_place_is_that_of_the_links() -> None:
    """A receiver without errors tells where the back-ends' paths lead."""
    described = places(*[NodeSettings(None, RandomWaypoint(5.0, pause=SECOND))] * 3)
    for points in paths_of(described):
        for time in (0.0, 0.3, 2.5, 9.9):
            assert motion(points, time)[0] == pytest.approx(tuple(positions(points, [time])[0]))  # type: ignore[arg-type]


def test_the_offset_stays_and_the_noise_changes_from_fix_to_fix() -> None:
    """Each has the standard deviation that the ini gives."""
    node = NodeSettings((50, 50), position_offset_m=10.0)
    fixes = [Receivers(places(node, NodeSettings(), seed=seed))._receivers[0] for seed in range(200)]
    offsets = [fix.fix(0)[0] for fix in fixes]
    assert all(fix.fix(SECOND)[0] == offset for fix, offset in zip(fixes, offsets, strict=True))
    assert 8 < stdev(x for x, _ in filter(None, offsets)) < 12
    (noisy, _) = Receivers(places(replace(node, position_offset_m=0, position_noise_m=5.0), NodeSettings()))._receivers
    assert 4 < stdev(fix[0] for at in range(300) if (fix := noisy.fix(at)[0])) < 6
    assert noisy.fix(7) == noisy.fix(7)


def test_errors_of_one_node_are_independent_of_the_other_nodes() -> None:
    """A run with one more node gives the others the same fixes."""
    node = NodeSettings((50, 50), position_offset_m=10.0, position_noise_m=5.0)
    two, three = (Receivers(places(*[node] * size, NodeSettings()))._receivers for size in (2, 3))
    assert two[1].fix(SECOND) == three[1].fix(SECOND)
    assert two[0].fix(SECOND) != two[1].fix(SECOND)


def test_between_two_fixes_the_last_one_stands() -> None:
    """Place and velocity are both of its time."""
    node = NodeSettings((10, 20), WALK, fix_interval=3 * SECOND)
    receiver = Receivers(places(node, NodeSettings()))._receivers[0]
    assert receiver.fix(2900 * MILLISECOND) == ((10, 20), (0, 0))
    assert receiver.fix(3 * SECOND) == receiver.fix(5 * SECOND) == ((12, 20), (2, 0))


def test_a_node_without_a_receiver_knows_nothing() -> None:
    """It has neither position nor velocity."""
    seen = looks(places(NodeSettings((10, 20), has_receiver=False), NodeSettings((9, 9))))
    assert {text for _, node, text in seen if node == 0} == {"None None"}


def test_a_receiver_learns_the_simulators_ways_as_they_come() -> None:
    """A later message about an earlier time replaces what was to come; one about the same time follows it."""
    receivers = Receivers(places(NodeSettings((10, 20)), NodeSettings((90, 20))))
    receivers.learn([Move(0, 1, 5.0, 6.0), Move(4 * SECOND, 1, 9.0, 6.0), Move(0, 0, 1.0, 2.0)])
    (other, moving) = receivers._receivers
    assert (moving.fix(1), moving.place(2 * SECOND)) == (((5.000000001, 6.0), (1.0, 0.0)), (7.0, 6.0))
    assert other.fix(3 * SECOND) == ((1.0, 2.0), (0.0, 0.0))
    receivers.learn([Move(2 * SECOND, 1, 7.0, 6.0), Move(2 * SECOND, 1, 70.0, 60.0)])
    assert moving.fix(3 * SECOND) == ((70.0, 60.0), (0.0, 0.0))
    assert moving.fix(1 * SECOND) == ((6.0, 6.0), (1.0, 0.0))


class Told(Located):
    """Notes where the subscribers of its notifications are."""

    oracle_positions = True

    @on(Publish)
    def publish(self, event: Publish, _: SimTime) -> None:
        self.note("look", detail=f"{event.subscribers} {event.places}")


def test_an_oracle_tells_where_subscribers_are_at_the_time_of_publication() -> None:
    """Their receivers' errors do not matter."""
    commands = tuple(Command(at * SECOND, 0, Publication(())) for at in (1, 3))
    wanted = (Subscription(1, 0, parse_filter("all")),)
    walking = NodeSettings((10, 20), WALK, position_offset_m=50.0)
    described = places(NodeSettings((90, 20)), walking, workload=Workload(wanted, commands=commands))
    seen = [text for _, node, text in looks(described, Told) if node == 0 and text.startswith("(1,)")]
    assert seen == ["(1,) ((10.0, 20.0),)", "(1,) ((12.0, 20.0),)"]
    assert not Located.oracle_positions


def test_an_undeclared_position_is_refused() -> None:
    """The error names the declaration."""
    with pytest.raises(AgentError, match=r"Ignorant reads position without needs_position = True"):
        looks(places(NodeSettings((1, 1)), NodeSettings((2, 2))), Ignorant)


def test_a_graph_without_places_is_refused() -> None:
    """Before the run, with the keys to set."""
    message = r"agent located or its workload needs positions, and node 0 has no place of its own: set .*xCoor and "
    with pytest.raises(UserError, match=message):
        looks(places(NodeSettings((0, 0)), NodeSettings((0, 0)), ideal=IdealLinks(links=((0, 1),))))
    assert looks(places(NodeSettings((0, 0)), NodeSettings((0, 1)), ideal=IdealLinks(links=((0, 1),))))
    together = places(NodeSettings((7, 7)), NodeSettings((7, 7)), ideal=IdealLinks(links=((0, 1),)))
    assert [text for *_, text in looks(together)][:2] == ["(7.0, 7.0) (0.0, 0.0)"] * 2


def test_without_a_field_each_node_needs_a_place() -> None:
    """The first without one is named; a single node may be at (0, 0)."""
    given = NodeSettings((3, 4)), NodeSettings((5, 6))
    assert looks(places(*given, field_m=(0.0, 0.0)))
    with pytest.raises(UserError, match="and node 0 has no place of its own"):
        Receivers(places(NodeSettings(), NodeSettings(), field_m=(0.0, 0.0)))
    with pytest.raises(UserError, match="and node 1 has no place of its own"):
        Receivers(places(given[0], NodeSettings(), field_m=(0.0, 0.0)))
    assert looks(places(NodeSettings((0, 0))))


def test_errors_are_around_the_true_place() -> None:
    """Those of the offset and of the noise."""
    node = NodeSettings((10, 20), position_offset_m=0.001, position_noise_m=0.001)
    receiver = Receivers(places(node, NodeSettings()))._receivers[0]
    for at in range(9):
        place, _ = receiver.fix(at)
        assert place == pytest.approx((10, 20), abs=0.05)


class Near(Located):
    """Its messages carry 100 m."""

    farthest_m = 100.0


def test_a_place_that_messages_cannot_carry_is_refused_before_the_run() -> None:
    """A node's, on its way as well, and a notification's; the others know no such end."""
    away = GivenWay((WayPoint(0, 0, 0), WayPoint(2, 0, -100.5)))
    with pytest.raises(UserError, match=r"^node 1 comes to \(0, -100.5\), which the messages of agent located cannot"):
        looks(places(NodeSettings((100, 0)), NodeSettings((0, 0), away)), Near)
    there = Workload(commands=(Command(SECOND, 0, Publication((("x", 5), ("y", 101)))),))
    with pytest.raises(UserError, match=r"^node 0 publishes with y = 101, which .* they reach 100.0 m from \(0, 0\)"):
        looks(places(NodeSettings((1, 0)), NodeSettings((2, 0)), workload=there), Near)
    there = Workload(commands=(Command(SECOND, 0, Publication((("x", -100), ("y", 100)))),))
    assert looks(places(NodeSettings((100, -100)), NodeSettings((2, 0)), workload=there), Near)


AROUND = parse_filter("within 30 of me")


def walking(subscriber: NodeSettings, *commands: Command, **changes: Any) -> Scenario:
    """Node 1 walks from (0, 0) to (40, 0) between 2 s and 6 s, at 10 m/s."""
    way = GivenWay((WayPoint(0, 0, 0), WayPoint(2, 0, 0), WayPoint(6, 40, 0)))
    subscriber = replace(subscriber, position=(0, 0), mobility=way)
    workload = Workload(subscriptions=(Subscription(1, 0, AROUND),), commands=commands)
    return places(NodeSettings((60, 0)), subscriber, workload=workload, **changes)


def test_an_area_around_the_subscriber_is_judged_at_the_time_of_publication() -> None:
    """The border belongs to it, wherever the last fix was."""
    there = Publication((("x", 60.0), ("y", 0.0)))
    described = walking(NodeSettings(), *(Command(at * MILLISECOND, 0, there) for at in (4900, 4999, 5000, 9000)))
    events = [event for _, _, event in commands(described, [NodeInfo(0)] * 2) if isinstance(event, Publish)]
    assert [event.subscribers for event in events] == [(), (), (1,), (1,)]


@pytest.mark.parametrize(("interval", "every_s"), [(0, 1), (3 * SECOND, 3)])
def test_the_agent_subscribes_to_the_area_of_each_new_fix(interval: SimTime, every_s: int) -> None:
    """And leaves the one before, until it unsubscribes."""
    leave = Command(round(4.5 * SECOND), 1, Unsubscribe(AROUND))
    plan = commands(walking(NodeSettings(fix_interval=interval), leave), [NodeInfo(0)] * 2)
    area = "Subscribe within 30 of (0, 0)"
    planned = [(at / SECOND, f"{type(command).__name__} {getattr(command, 'filter', '')}") for at, _, command in plan]
    assert planned[0] == (0.0, area)
    assert planned[1:-1] == [
        (at, text)
        for at, x, before in ((3, 10, 0), (4, 20, 10))
        if at % every_s == 0
        for text in (f"Subscribe within 30 of ({x}, 0)", f"Unsubscribe within 30 of ({before}, 0)")
    ]
    assert planned[-1] == (4.5, f"Unsubscribe within 30 of ({20 if every_s == 1 else 10}, 0)")


def test_a_still_subscription_beside_a_moving_one_is_as_it_is() -> None:
    """The agent hears of it each time."""
    still = Subscribe(parse_filter("within 5 of (1, 2)"))
    plan = commands(walking(NodeSettings(), Command(1, 1, still), Command(2, 1, still)), [NodeInfo(0)] * 2)
    assert [command for _, _, command in plan].count(still) == 2


def test_an_area_follows_from_the_next_fix_on() -> None:
    """Until the run ends."""
    described = walking(NodeSettings(), time_limit=9 * SECOND)
    followed = follow(described, Command(5 * SECOND, 1, Subscribe(AROUND)))
    assert [command.at // SECOND for command in followed] == [5, 6, 7, 8]


def test_the_area_of_a_subscription_is_that_of_the_fix_to_a_decimetre() -> None:
    """A smaller move needs no new subscription."""
    wanted = Workload(subscriptions=(Subscription(1, 0, AROUND),))
    plan = commands(places(NodeSettings((9, 9)), NodeSettings((10.04, 20.06)), workload=wanted), [NodeInfo(0)] * 2)
    assert [str(getattr(command, "filter", "")) for _, _, command in plan] == ["within 30 of (10, 20.1)"]


def test_an_area_around_a_node_that_does_not_know_where_it_is_is_refused() -> None:
    """Without a receiver, without a place, or where the simulator draws it."""
    with pytest.raises(
        UserError, match=r"node 1 subscribes to an area .* set SN\.node\[\*\]\.Positioning\.receiver = true"
    ):
        commands(walking(NodeSettings(has_receiver=False)), [NodeInfo(0)] * 2)
    nowhere = places(*[NodeSettings((0, 0))] * 2, workload=Workload((Subscription(1, 0, AROUND),)))
    with pytest.raises(UserError, match="or its workload needs positions, and node 0 has no place"):
        commands(nowhere, [NodeInfo(0)] * 2)
    drawn = replace(nowhere, nodes=(NodeSettings(None, RandomWaypoint()), NodeSettings((1, 1))))
    with pytest.raises(UserError, match=r"which Castalia draws: give SN\.node\[\*\]\.MobilityManager\.file"):
        CastaliaFactory().make(drawn, Located, Path())


def test_the_embedded_radio_tells_the_same_places() -> None:
    """From the first event on, whenever a node boots."""
    described = places(NodeSettings((10, 20), start_spread=0), NodeSettings((30, 20), start_spread=0))
    trace = TraceWriter()
    Host(described, Located, RadioFactory().make(described, Located, Path()), trace).run()
    seen = {row["node"]: row["detail"] for row in trace.table().to_pylist() if row["event"] == "look"}
    assert seen == {0: "(10.0, 20.0) (0.0, 0.0)", 1: "(30.0, 20.0) (0.0, 0.0)"}
