"""Faults happen at the host, whatever the back-end: a node that is down does nothing, and then goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar

import pytest

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import Backend
from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Command, Publication, Scenario, Subscription, Workload
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange, ParentChange
from roambus.bridge.scenario.tree import Outage, outages
from roambus.bridge.system.errors import AgentError, UserError
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.python_protocol.actions import Action, CancelTimer, Send, SetTimer
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.baselines import BeaconMessage
from roambus.python_protocol.brokers.routing import Sub, Uns
from roambus.python_protocol.events import (
    Crashed,
    Event,
    Recovered,
    Started,
    Stopped,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from roambus.python_protocol.filters import Filter, parse_filter
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.roles import BROADCAST, Role
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND, SECOND, SimTime
from tests.support.family import broker_agents
from tests.support.runs import publishing
from tests.support.scenarios import scenario

CRASH, FREEZE, RECOVER = FaultKind.CRASH, FaultKind.FREEZE, FaultKind.RECOVER
Row = dict[str, object]


def faults(*planned: tuple[float, int, FaultKind]) -> tuple[Fault, ...]:
    return tuple(Fault(round(at * SECOND), node, kind) for at, node, kind in planned)


class Hesitant(Agent):
    """Node 0 sends four beacons, due after 1, 2, 3 and 4 s."""

    messages = MessageSet([BeaconMessage])

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:  # it hesitates at the start only
        if self.node == 0 and isinstance(event, Started):
            return [Send(BROADCAST, BeaconMessage(10), after * SECOND) for after in (1, 2, 3, 4)]
        return []


def sent_at(planned: tuple[Fault, ...]) -> list[float]:
    """When the beacons of a hesitant node 0 left it."""
    described = scenario([Role.NONE] * 2, time_limit=4 * SECOND, faults=planned)
    trace = TraceWriter()
    Host(described, Hesitant, IdealBackend(2, [(0, 1)], 4 * SECOND), trace).run()
    return [row["time_s"] for row in trace.table().to_pylist() if row["event"] == "send"]


@pytest.mark.parametrize(
    ("planned", "times"),
    [
        ((), [1, 2, 3]),
        (faults((3.5, 1, CRASH)), [1, 2, 3]),
        (faults((1.5, 0, CRASH), (2.5, 0, RECOVER)), [1]),
        (faults((1.5, 0, FREEZE), (2.5, 0, RECOVER)), [1, 2.5, 3]),
        (faults((1.5, 0, FREEZE)), [1]),
    ],
)
def test_what_a_node_sends_later_shares_its_fate(planned: tuple[Fault, ...], times: list[float]) -> None:
    """It leaves in time, never after a crash, late after a freeze; what is due at the end of the run, not at all."""
    assert sent_at(planned) == times


class Diary(Agent):
    """Node 0 has a timer every second, and one at 9.5 s; node 1 sends it something every second."""

    messages = MessageSet([BeaconMessage])

    diary: ClassVar[list[tuple[float, str]]] = []

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        if self.node == 0:
            what = str(event.key) if isinstance(event, TimerFired) else type(event).__name__
            self.diary.append((now / SECOND, what))
            return self._set_timers(event)
        if isinstance(event, Started | TimerFired):
            return [Send(BROADCAST, BeaconMessage(10)), SetTimer("send", SECOND)]
        return []

    def _set_timers(self, event: Event) -> Iterable[Action]:
        if isinstance(event, Started):
            return [SetTimer("late", 9500 * MILLISECOND), SetTimer("tick", SECOND)]
        return [SetTimer("tick", SECOND)] if isinstance(event, TimerFired) and event.key == "tick" else []


def links(described: Scenario) -> IdealBackend:
    """Ideal links that know nothing of faults: what the host does by itself shows."""
    return IdealBackend(len(described.nodes), [(0, 1)], described.time_limit)


def run(
    agent: type[Agent], described: Scenario, backend: Backend | None = None, level: TraceLevel = TraceLevel.APP
) -> list[Row]:
    trace = TraceWriter(level)
    Host(described, agent, backend or links(described), trace).run()
    rows: list[Row] = trace.table().to_pylist()
    return rows


def diary(planned: tuple[Fault, ...], workload: Workload = Workload()) -> list[tuple[float, str]]:  # noqa: B008  # frozen
    Diary.diary.clear()
    run(Diary, scenario([Role.NONE] * 2, workload, time_limit=10 * SECOND, faults=planned))
    return Diary.diary.copy()


def test_a_crashed_node_does_nothing_until_it_recovers() -> None:
    """Its timers are gone for good, and what is sent to it is lost."""
    log = diary(faults((2.5, 0, CRASH), (7.5, 0, RECOVER)))
    assert [entry for entry in log if entry[0] >= 2.5] == [
        (2.5, "Crashed"),
        (7.5, "Recovered"),
        (8.001, "Received"),
        (9.001, "Received"),
    ]


def test_a_frozen_node_catches_up_when_it_recovers() -> None:
    """What fell due meanwhile comes then, in its order; what is sent to it on a radio is lost."""
    workload = Workload(
        commands=(
            Command(3200 * MILLISECOND, 0, Publication((("n", 1),))),
            Command(2800 * MILLISECOND, 0, Subscribe(Filter())),
            Command(7500 * MILLISECOND, 0, Unsubscribe(Filter())),
        )
    )
    log = diary(faults((2.5, 0, FREEZE), (7.5, 0, RECOVER)), workload)
    assert [entry for entry in log if 2.5 <= entry[0] < 9] == [
        (2.5, "Stopped"),
        (7.5, "Recovered"),
        (7.5, "Subscribe"),
        (7.5, "tick"),
        (7.5, "Publish"),
        (7.5, "Unsubscribe"),
        (8.001, "Received"),
        (8.5, "tick"),
    ]
    assert (9.5, "late") in log


def test_a_crash_ends_a_freeze() -> None:
    """What waited for the frozen node is lost with it, but for what its application wants."""
    workload = Workload(
        commands=(Command(3 * SECOND, 0, Publication((("n", 1),))), Command(3 * SECOND, 0, Subscribe(Filter())))
    )
    log = diary(faults((2.5, 0, FREEZE), (4, 0, CRASH), (7.5, 0, RECOVER)), workload)
    assert [entry for entry in log if 2.5 <= entry[0] < 8] == [
        (2.5, "Stopped"),
        (4.0, "Crashed"),
        (7.5, "Recovered"),
        (7.5, "Subscribe"),
    ]


class Rethinking(Diary):
    """Sets its timer anew as soon as it has recovered."""

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        actions = super().handle(event, now)
        if self.node == 0 and isinstance(event, Recovered):
            return [CancelTimer("late"), SetTimer("tick", 700 * MILLISECOND)]
        return actions


def test_a_timer_that_fell_due_in_a_freeze_can_still_be_replaced_and_cancelled() -> None:
    """The node has not heard of it when it recovers."""
    Diary.diary.clear()
    planned = faults((2.5, 0, FREEZE), (9.6, 0, RECOVER))
    run(Rethinking, scenario([Role.NONE] * 2, time_limit=11 * SECOND, faults=planned))
    last = [entry for entry in Diary.diary if entry[0] >= 9.6]
    assert last == [(9.6, "Recovered"), (10.001, "Received"), (10.3, "tick")]


class Calling(Diary):
    """Node 0 sends to node 1 at 2.5 s, just before it goes down."""

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        self.diary.append((now / SECOND, type(event).__name__))
        if self.node == 0 and isinstance(event, Started):
            return [SetTimer("call", 2500 * MILLISECOND)]
        return [Send(1, BeaconMessage(10))] if isinstance(event, TimerFired) else []


@pytest.mark.parametrize(
    ("kind", "expected"), [(CRASH, ["Crashed", "Recovered"]), (FREEZE, ["Stopped", "Recovered", "SendFailed"])]
)
def test_a_failed_transmission_is_reported_to_a_frozen_node_later_and_to_a_crashed_one_never(
    kind: FaultKind, expected: list[str]
) -> None:
    """A frame is under way when its sender goes down; then its link goes down."""
    Diary.diary.clear()
    described = scenario([Role.NONE] * 2, faults=faults((2.5004, 0, kind), (3, 0, RECOVER)))
    down = LinkChange(2500500 * MICROSECOND, 0, 1, up=False)
    rows = run(Calling, described, IdealBackend(2, [(0, 1)], described.time_limit, [down]))
    assert [what for at, what in Diary.diary if at > 2.5] == expected
    assert [(row["time_s"], row["peer"]) for row in rows if row["event"] == "drop"] == [(2.5005, 1)]


def test_the_trace_tells_of_faults() -> None:
    """A row each, and nothing of a crashed node between them."""
    planned = faults((2.5, 1, CRASH), (4.5, 1, RECOVER), (6, 1, FREEZE), (7, 1, RECOVER))
    rows = run(Diary, scenario([Role.NONE] * 2, faults=planned), level=TraceLevel.FULL)
    found = [(row["time_s"], row["event"]) for row in rows if row["event"] in {"crash", "freeze", "recover"}]
    assert found == [(2.5, "crash"), (4.5, "recover"), (6.0, "freeze"), (7.0, "recover")]
    assert [row["time_s"] for row in rows if row["event"] == "send"] == [0.0, 1.0, 2.0]


def test_receive_rows_end_with_the_node() -> None:
    """What a node that is down does not hear is in no row."""
    planned = faults((2.5, 0, FREEZE), (7.5, 0, RECOVER))
    rows = run(Diary, scenario([Role.NONE] * 2, faults=planned), level=TraceLevel.FULL)
    heard = [row["time_s"] for row in rows if row["event"] == "receive"]
    assert heard == [0.001, 1.001, 2.001, 8.001, 9.001]


def test_publications_of_a_crashed_node_do_not_happen() -> None:
    """Nor are they numbered; a subscription counts from when it is carried out."""
    single = Workload(
        (Subscription(1, 3 * SECOND, Filter()),),
        commands=tuple(Command(at * SECOND, 0, Publication((("n", at),))) for at in (1, 4, 6, 9)),
    )
    planned = faults((2, 1, CRASH), (3, 0, CRASH), (5, 0, RECOVER), (8, 1, RECOVER))
    rows = run(Diary, scenario([Role.NONE] * 2, single, faults=planned))
    published = [(row["time_s"], row["notification_id"], row["detail"]) for row in rows if row["event"] == "publish"]
    assert published == [(1.0, "0.0", ""), (6.0, "0.1", ""), (9.0, "0.2", "1")]
    assert [row["time_s"] for row in rows if row["event"] == "subscribe"] == [8.0]


def test_publications_of_a_frozen_node_are_for_those_who_want_them_when_they_happen() -> None:
    """They come late, and in their order."""
    single = Workload(
        (Subscription(1, 3 * SECOND, Filter()),),
        commands=tuple(Command(at * SECOND, 0, Publication((("n", at),))) for at in (4, 2)),
    )
    rows = run(Diary, scenario([Role.NONE] * 2, single, faults=faults((1, 0, FREEZE), (5, 0, RECOVER))))
    published = [(row["time_s"], row["notification_id"], row["detail"]) for row in rows if row["event"] == "publish"]
    assert published == [(5.0, "0.0", "1"), (5.0, "0.1", "1")]


def test_who_stays_down_carries_nothing_out() -> None:
    """Commands that wait for a recovery that never comes."""
    rows = run(
        Diary,
        scenario([Role.NONE] * 2, publishing(0, [1], start=0, until=9 * SECOND), faults=faults((1, 0, FREEZE))),
    )
    assert all(row["time_s"] <= 1 for row in rows if row["node"] == 0)  # type: ignore[operator]  # seconds


def test_an_outage_can_begin_as_a_freeze_and_end_as_a_crash() -> None:
    """It is one outage, of a node that has crashed."""
    planned = faults((1, 0, FREEZE), (2, 0, CRASH), (3, 0, RECOVER), (4, 0, FREEZE))
    assert outages(planned) == {0: [Outage(SECOND, 3 * SECOND, crashed=True), Outage(4 * SECOND, None, crashed=False)]}


class Sending(Agent):
    """Sends when it should be silent."""

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        return [Send(BROADCAST, BeaconMessage(10))] if isinstance(event, Crashed | Stopped) else []


@pytest.mark.parametrize("kind", [CRASH, FREEZE])
def test_a_node_that_is_down_cannot_send(kind: FaultKind) -> None:
    """An agent that tries is wrong, and told so."""
    with pytest.raises(AgentError, match="a Beacon from a node that is down"):
        run(Sending, scenario([Role.NONE] * 2, faults=faults((1, 0, kind))))


@pytest.mark.parametrize(
    ("planned", "message"),
    [
        (faults((3, 1, RECOVER)), "node 1 cannot recover at 3s: it is up"),
        (faults((3, 1, CRASH), (4, 1, CRASH)), "node 1 cannot crash at 4s: it has crashed"),
        (faults((3, 1, CRASH), (4, 1, FREEZE)), "node 1 cannot freeze at 4s: it has crashed"),
        (faults((3, 1, FREEZE), (4, 1, FREEZE)), "node 1 cannot freeze at 4s: it is frozen"),
        (faults((3, 1, FREEZE), (2, 0, CRASH)), "node 0 cannot crash at 2s: a fault at 3s comes before it"),
        (faults((3, 2, CRASH)), "node 2 cannot crash at 3s: the nodes are 0 to 1"),
        (faults((0, 1, CRASH)), "node 1 cannot crash at 0s: it boots at 0s"),
    ],
)
def test_a_plan_that_makes_no_sense_is_the_users_mistake(planned: tuple[Fault, ...], message: str) -> None:
    """The message names node and time."""
    with pytest.raises(UserError, match=message):
        run(Diary, scenario([Role.NONE] * 2, faults=planned))


class Order(Agent):
    """Keeps the kinds of events of node 1, and sends to node 0 when it has crashed."""

    events: ClassVar[list[str]] = []

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        if self.node == 1 and now >= 5 * SECOND:
            self.events.append(type(event).__name__)
        return []


def test_at_one_instant_a_node_recovers_then_learns_its_place_then_gets_commands() -> None:
    """An agent that has lost its memory has a place in the tree again before it acts."""
    Order.events.clear()
    workload = Workload((Subscription(1, 3 * SECOND, Filter()), Subscription(1, 5 * SECOND, parse_filter("x = 1"))))
    described = scenario(
        [Role.BROKER] * 2, workload, tree=(ParentChange(0, 1, 0),), faults=faults((2, 1, CRASH), (5, 1, RECOVER))
    )
    run(Order, described)
    assert Order.events == ["Recovered", "Rewired", "Subscribe", "Subscribe"]


class First(Agent):
    """Keeps what it is told first."""

    events: ClassVar[list[tuple[int, str]]] = []

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        self.events.append((self.node, type(event).__name__))
        return []


def test_a_node_boots_before_it_learns_its_place() -> None:
    """Over a radio nodes boot at different times."""
    First.events.clear()
    described = scenario([Role.BROKER] * 2, tree=(ParentChange(0, 1, 0),))
    run(First, described, RadioBackend(described))
    assert sorted(First.events, key=lambda entry: entry[0]) == [
        (node, event) for node in (0, 1) for event in ("Started", "Rewired")
    ]


@pytest.mark.parametrize("agent", broker_agents())
def test_a_broker_that_thaws_goes_on_where_it_was(agent: type[Agent]) -> None:
    """Its own client is attached as before, and nothing comes twice.

    On a given tree there is nothing to say, but for a protocol whose migrations are subscriptions: it says them again.
    """
    described = scenario(
        [Role.BROKER, Role.BROKER | Role.SUBSCRIBER],
        Workload((Subscription(1, 0, Filter()),), commands=(Command(8 * SECOND, 0, Publication((("n", 1),))),)),
        agent_parameters={"tree": "given", "link_layer": "false"},
        tree=(ParentChange(0, 1, 0),),
        faults=faults((5, 1, FREEZE), (6, 1, RECOVER)),
    )
    rows = run(agent, described, make_ideal(described))
    again = [6.0] if agent.migration_messages == (Sub, Uns) else []
    sends = [row["time_s"] for row in rows if row["event"] == "send" and row["time_s"] > 5]  # type: ignore[operator]  # seconds
    assert sends == [*again, 8.0]
    assert [(row["time_s"], row["node"]) for row in rows if row["event"] == "deliver"] == [(8.001, 1)]


PARAMETERS = {"beacon": {"rate": "5"}, "flooding": {}, "gossip": {}, "aodv": {"profile": "thesis"}, "mft": {}}


def in_a_triangle(agent: str, kind: FaultKind) -> Scenario:
    """A publisher, a subscriber and a broker; the broker is down for three seconds, then the subscriber."""
    described = scenario(
        [Role.PUBLISHER, Role.SUBSCRIBER, Role.BROKER],
        publishing(0, [1], start=SECOND, until=39 * SECOND),
        time_limit=40 * SECOND,
        agent_parameters=PARAMETERS[agent],
        faults=faults((6, 2, kind), (9, 2, RECOVER), (11, 1, kind), (14, 1, RECOVER)),
        ideal=IdealLinks(links=((0, 1), (1, 2), (0, 2))),
    )
    places = ((0.0, 0.0), (6.0, 0.0), (0.0, 6.0))
    nodes = tuple(replace(node, position=place) for node, place in zip(described.nodes, places, strict=True))
    return replace(described, nodes=nodes)


@pytest.mark.parametrize("kind", [CRASH, FREEZE])
@pytest.mark.parametrize("agent", PARAMETERS)
@pytest.mark.parametrize("make", [make_ideal, RadioBackend])
def test_every_agent_goes_on_after_an_outage(agent: str, kind: FaultKind, make: Callable[[Scenario], Backend]) -> None:
    """Broker and subscriber do nothing while they are down; in the end, notifications arrive as before."""
    described = in_a_triangle(agent, kind)
    rows = run(load_agent(agent), described, make(described))
    for node, down, up in ((2, 6, 9), (1, 11, 14)):
        own = [row["time_s"] for row in rows if row["node"] == node and row["event"] in {"send", "deliver"}]
        assert not [at for at in own if down < at < up]  # type: ignore[operator]  # seconds
        assert agent in {"flooding", "gossip"} or [at for at in own if at > up]  # type: ignore[operator]  # seconds
    delivered = [row["time_s"] for row in rows if row["event"] == "deliver"]
    assert agent == "beacon" or max(delivered) > 38  # type: ignore[operator, type-var]  # seconds
