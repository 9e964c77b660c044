"""The host drives agents by the clock of the back-end, and blames the right one when something breaks."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

import pytest

from roambus.bridge.backend import Delivery, Hello, NodeInfo, Step, Totals, Transmission
from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Publications, Scenario, Subscription, Workload
from roambus.bridge.system.errors import AgentError, UserError
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.python_protocol.actions import Action, CancelTimer, Deliver, Send, SetTimer
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.baselines import BeaconMessage
from roambus.python_protocol.events import Event, Publish, Received, Started, TimerFired
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.roles import BROADCAST, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.support.scenarios import scenario

LINE = [(0, 1), (1, 2)]


class Gossip(Message, tag=1):
    notification: Notification


class Gossiper(Agent):
    """Broadcasts what is published, delivers what arrives; logs everything."""

    messages = MessageSet([Gossip])
    log: ClassVar[list[tuple[SimTime, int, str]]] = []

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        self.log.append((now, self.node, type(event).__name__))
        if isinstance(event, Publish):
            yield Send(BROADCAST, Gossip(event.notification))
        if isinstance(event, Received) and isinstance(event.message, Gossip):
            yield Deliver(event.message.notification, 1)


def run(agent: type[Agent], described: Scenario, level: TraceLevel = TraceLevel.APP) -> list[dict[str, object]]:
    trace = TraceWriter(level)
    backend = IdealBackend(len(described.nodes), LINE, described.time_limit)
    Host(described, agent, backend, trace).run()
    rows: list[dict[str, object]] = trace.table().to_pylist()
    return rows


def published() -> Scenario:
    workload = Workload(
        (Subscription(1, 0, Filter()),),
        (Publications(0, 0, 2 * SECOND, SECOND, (("topic", "news"),), 20),),
    )
    return scenario([Role.PUBLISHER, Role.SUBSCRIBER, Role.BROKER], workload, time_limit=3 * SECOND)


def test_a_trace_tells_the_whole_story() -> None:
    """Roles at the start, then each command, packet and delivery with its size, peer and hops."""
    rows = run(Gossiper, published())
    assert [row["detail"] for row in rows if row["event"] == "role"] == ["publisher", "subscriber", "broker"]
    assert [row["detail"] for row in rows if row["event"] == "publish"] == ["1", "1"]
    sent = [row for row in rows if row["event"] == "send"]
    assert [(row["message_type"], row["peer"], row["bytes"]) for row in sent] == [("GOSSIP", None, 42)] * 2
    delivered = [(row["node"], row["notification_id"], row["hops"]) for row in rows if row["event"] == "deliver"]
    assert delivered == [(1, "0.0", 1), (1, "0.1", 1)]


def test_receive_rows_only_at_level_full() -> None:
    """Level app leaves out what every radio hears; level full has it."""
    assert not [row for row in run(Gossiper, published()) if row["event"] == "receive"]
    received = [row for row in run(Gossiper, published(), TraceLevel.FULL) if row["event"] == "receive"]
    assert [(row["node"], row["peer"]) for row in received] == [(1, 0), (1, 0)]


class Clock(Agent):
    """Sets, replaces and cancels timers."""

    fired: ClassVar[list[tuple[SimTime, object]]] = []

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        if isinstance(event, Started) and self.node == 0:
            yield SetTimer("replaced", SECOND)
            yield SetTimer("replaced", 2 * SECOND)
            yield SetTimer("cancelled", SECOND)
            yield CancelTimer("cancelled")
            yield SetTimer("second", MILLISECOND)
            yield SetTimer("third", MILLISECOND)
            yield SetTimer("first", 0)
        if isinstance(event, TimerFired):
            self.fired.append((now, event.key))


def test_timers_fire_in_order_of_time_then_of_setting() -> None:
    """A replaced timer fires once, at its new time; a cancelled one never."""
    Clock.fired.clear()
    run(Clock, scenario([Role.NONE] * 3))
    assert Clock.fired == [
        (0, "first"),
        (MILLISECOND, "second"),
        (MILLISECOND, "third"),
        (2 * SECOND, "replaced"),
    ]


class Broken(Agent):
    """Raises when it hears something."""

    messages = MessageSet([Gossip])

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        if isinstance(event, Publish):
            return [Send(BROADCAST, Gossip(event.notification))]
        if isinstance(event, Received):
            raise KeyError("no route")
        return ()


def test_an_agent_that_raises_is_named() -> None:
    """The message names node, time, event and the agent's own line."""
    with pytest.raises(AgentError) as caught:
        run(Broken, published())
    message = str(caught.value)
    assert message.startswith("agent Broken, node 1, simulation time ")
    assert "on Received(sender=0" in message
    assert "KeyError: 'no route'" in message
    assert "test_event_loop.py:" in message
    assert message.endswith("in handle")


class Scripted:
    """A back-end that says what it is told to, and keeps the wake-ups that it is asked for."""

    def __init__(self, *steps: Step) -> None:
        self._steps = iter(steps)
        self.wake_ups: list[SimTime | None] = []

    def open(self) -> Hello:
        return Hello("scripted", [NodeInfo(0)] * 3, 10 * SECOND)

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        self.wake_ups.append(wake_up)
        return next(self._steps, None)

    def fail(self, error: BaseException) -> None:
        self.error = error

    def close(self) -> Totals:
        return Totals()


def test_what_is_due_waits_for_the_last_step_of_an_instant() -> None:
    """Deliveries that come in several Steps are handled at once, the boots of the same instant after them."""
    Gossiper.log.clear()
    heard = [Delivery(node, 0, Gossip(Notification(NotificationId(0, 0), ())), -50, 10) for node in (1, 2)]
    backend = Scripted(Step(0, heard[:1], more=True), Step(0, heard[1:]))
    Host(scenario([Role.NONE] * 3), Gossiper, backend, TraceWriter()).run()
    assert Gossiper.log == [(0, 1, "Received"), (0, 2, "Received")] + [(0, node, "Started") for node in range(3)]
    assert backend.wake_ups == [0, 0, None]


class Stuck(Agent):
    """Sets a timer of no delay for ever."""

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        return [SetTimer("again", 0)]


def test_a_loop_without_delay_ends() -> None:
    """An agent that never lets time pass is an error, not a hang."""
    with pytest.raises(AgentError, match="timers fire at 0s"):
        run(Stuck, scenario([Role.NONE] * 3))


class Confused(Agent):
    """Returns what is not an action."""

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        return ["send"]  # type: ignore[list-item]  # the mistake under test


def test_what_is_no_action_is_named() -> None:
    """A wrong return value is the agent's error."""
    with pytest.raises(AgentError, match="'send' is not an action"):
        run(Confused, scenario([Role.NONE] * 3))


class Careless(Agent):
    """Sends what cannot be sent."""

    messages = MessageSet([BeaconMessage])
    what: ClassVar[Send]

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        return [self.what]


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (Send(3, BeaconMessage(40)), "a Beacon to 3, which is not a node"),
        (Send(BROADCAST, BeaconMessage(65536)), "a Beacon of 65536 bytes, at most 65535"),
    ],
)
def test_what_cannot_be_sent_is_the_agents_mistake(what: Send, message: str) -> None:
    """To a node that is not there, or of more bytes than any packet has, whatever the back-end."""
    Careless.what = what
    with pytest.raises(AgentError, match=message):
        run(Careless, scenario([Role.NONE] * 3))


def test_unknown_parameters_are_the_users_mistake() -> None:
    """A parameter that the agent does not have ends the run before it starts."""
    with pytest.raises(UserError, match="unknown parameter 'speed'"):
        run(Gossiper, scenario([Role.NONE] * 3, agent_parameters={"speed": "1"}))


def test_generators_depend_on_seed_and_node() -> None:
    """Two nodes, or two seeds, draw different numbers; the same ones draw the same."""
    from roambus.bridge.host.agents import make_agents  # noqa: PLC0415  # only this test looks inside

    def draws(seed: int) -> list[float]:
        return [agent.random.random() for agent in make_agents(scenario([Role.NONE] * 2, seed=seed), Gossiper)]

    assert draws(1) == draws(1)
    assert len({*draws(1), *draws(2)}) == 4
