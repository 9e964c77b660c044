"""The promises of every back-end as tests: call by call, and in complete runs of agents.

A package with its own back-end runs them by a short test file with a fixture (docs/guide/backends.md has it whole):

    from roambus.testing.backend_promises import *

    @pytest.fixture
    def factory():
        return lambda case: BusFactory().make(case.scenario, Agent, case.folder)

No back-end may skip a test: all share agents, workload and metrics, so a broken promise silently falsifies results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import Delivery, Transmission
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.bridge.system.errors import AgentError, UserError
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.python_protocol.actions import Action, Send, SetTimer
from roambus.python_protocol.agent import Agent, on, on_timer
from roambus.python_protocol.events import Arrived, Event, Received, Started, TimerFired
from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from roambus.testing.backend_case import MARKERS, Conforming, Factory, Marker, send, write_case

START = SECOND
"""When the tests begin to send: every node has booted."""
LIMIT = 4 * SECOND

Row = dict[str, object]
Make = Callable[[], Conforming]


@pytest.fixture
def make(factory: Factory, tmp_path: Path) -> Make:
    """Return a function for new back-ends of the four nodes."""
    case = write_case(tmp_path, MARKERS, time_limit=LIMIT)
    return lambda: Conforming(factory(case))


@pytest.fixture
def backend(make: Make) -> Iterable[Conforming]:
    """Yield an opened back-end; close it after the test."""
    conforming = make()
    conforming.open()
    yield conforming
    if "close" not in conforming.calls:
        conforming.close()


def advance_to(backend: Conforming, time: SimTime) -> None:
    """Until the wake-up at `time`, whatever comes before it."""
    while (step := backend.advance([], time)) is not None and step.now < time:
        pass
    assert step is not None
    assert step.now == time


def drain(backend: Conforming, transmissions: Sequence[Transmission]) -> list[tuple[SimTime, Delivery]]:
    """Return deliveries of the transmissions, handed over at START, until the time limit."""
    advance_to(backend, START)
    while backend.advance(transmissions, None) is not None:
        transmissions = []
    return backend.heard


def test_the_hello_is_that_of_the_run(make: Make) -> None:
    """The run's nodes, time limit and processing delay; boots within the run, valid clocks."""
    backend = make()
    hello = backend.open()
    assert hello.simulator
    assert (len(hello.nodes), hello.time_limit, hello.processing_delay) == (4, LIMIT, 0)
    assert all(0 <= node.start < START for node in hello.nodes)
    assert all(0.99 < node.clock_rate < 1.01 for node in hello.nodes)
    backend.close()


def test_a_wake_up_is_reached_exactly(backend: Conforming) -> None:
    """One nanosecond or several seconds later, if nothing else happens."""
    for wake_up in (0, 1, 2, START, START + 1, LIMIT - 2, LIMIT - 1):
        step = backend.advance([], wake_up)
        assert step is not None
        assert (step.now, [*step.deliveries, *step.failures], step.more) == (wake_up, [], False)


def test_a_wake_up_is_not_overshot_by_what_is_under_way(backend: Conforming) -> None:
    """Steps come every 100 us while three nodes send and hear."""
    advance_to(backend, START)
    sends = [send(node, node, START + 1 + node * 4 * MILLISECOND) for node in range(3)]
    for tick in range(1, 200):
        wake_up = START + tick * 100_000
        while (step := backend.advance(sends, wake_up)) is not None and step.now < wake_up:
            sends = []
        sends = []
        assert step is not None
    assert len(backend.heard) == 9


@pytest.mark.parametrize("wake_up", [None, LIMIT, LIMIT + 1])
def test_the_time_limit_ends_the_run(backend: Conforming, wake_up: SimTime | None) -> None:
    """Idle, or with a wake-up at or beyond the limit, there is no further step."""
    assert backend.advance([], wake_up) is None


def test_nothing_arrives_at_the_time_limit_or_later(backend: Conforming) -> None:
    """A frame sent just before is on its way at the end; a later transmission does not count."""
    advance_to(backend, START)
    late = [send(0, 1, LIMIT - 1000), send(1, 2, LIMIT), send(2, 3, LIMIT + SECOND)]
    assert backend.advance(late, None) is None
    assert not backend.heard


@pytest.mark.parametrize("sender", range(4))
def test_neighbours_without_disturbance_hear_each_other(backend: Conforming, sender: NodeId) -> None:
    """A broadcast reaches the three others, 5 m to 7.1 m away, at one instant, unchanged."""
    heard = drain(backend, [send(sender, 7, START)])
    assert [delivery.receiver for _, delivery in heard] == [node for node in range(4) if node != sender]
    assert {(delivery.sender, delivery.message) for _, delivery in heard} == {(sender, Marker(7))}
    assert len({time for time, _ in heard}) == 1


def test_a_unicast_message_reaches_its_addressee_only(backend: Conforming) -> None:
    """All nodes are in reach."""
    heard = drain(backend, [send(0, 1, START, destination=2), send(3, 2, START + SECOND, destination=0)])
    assert [(delivery.sender, delivery.receiver, delivery.message) for _, delivery in heard] == [
        (0, 2, Marker(1)),
        (3, 0, Marker(2)),
    ]


def test_what_one_node_sends_arrives_in_its_order(backend: Conforming) -> None:
    """Ten messages of one instant, handed over at once."""
    heard = drain(backend, [send(0, number, START) for number in range(10)])
    assert [delivery.message for _, delivery in heard if delivery.receiver == 1] == [
        Marker(number) for number in range(10)
    ]


def test_a_later_transmission_takes_effect_at_its_time(make: Make) -> None:
    """Early hand-over makes no difference."""
    at_once, before = make(), make()
    for backend in (at_once, before):
        backend.open()
        advance_to(backend, START)
    later = START + 5 * MILLISECOND
    before.advance([send(0, 1, later)], later)
    advance_to(at_once, later)
    steps = [backend.advance(sends, None) for backend, sends in ((at_once, [send(0, 1, later)]), (before, []))]
    assert steps[0] is not None
    assert steps[0] == steps[1]
    assert steps[0].now > later
    for backend in (at_once, before):
        backend.close()


def test_transmissions_take_effect_in_order_of_time(backend: Conforming) -> None:
    """Not in the order in which they were handed over."""
    heard = drain(backend, [send(0, number, START + (3 - number) * 50 * MILLISECOND) for number in range(3)])
    assert [delivery.message for _, delivery in heard if delivery.receiver == 1] == [Marker(2), Marker(1), Marker(0)]


def test_a_transmission_in_the_past_is_refused(backend: Conforming) -> None:
    """It is the caller's mistake, and the back-end still closes."""
    advance_to(backend, START)
    with pytest.raises(ValueError, match="before"):
        backend.advance([send(0, 1, START - 1)], None)
    backend.close()


def contention(make: Make) -> Conforming:
    """All nodes send more than a radio carries; at first the host requests control now and then."""
    backend = make()
    backend.open()
    advance_to(backend, START)
    sends = [
        send(node, 4 * number + node, START + number * 3 * MILLISECOND + node * MILLISECOND, to[number % 2])
        for number in range(60)
        for node, to in enumerate([(BROADCAST, 1), (BROADCAST, 2), (BROADCAST, 3), (BROADCAST, 0)])
    ]
    wake_up: SimTime | None = START
    while (step := backend.advance(sends, wake_up)) is not None:
        sends = []
        wake_up = step.now + 777_777 if step.now < 2 * SECOND else None
    return backend


def test_the_promises_hold_under_contention(make: Make) -> None:
    """Arrivals were sent, to those nodes, at most once each; totals agree."""
    backend = contention(make)
    backend.close()
    assert len(backend.heard) > 20


def test_the_same_seed_gives_the_same_steps(make: Make) -> None:
    """And the same totals."""
    first, again = contention(make), contention(make)
    assert (first.heard, first.failed) == (again.heard, again.failed)
    assert first.close() == again.close()


def resources() -> tuple[int, int]:
    """Return this process's open files, and its children, alive or zombies."""
    children = [child for path in Path("/proc/self/task").glob("*/children") for child in path.read_text().split()]
    return len(list(Path("/proc/self/fd").iterdir())), len(children)


@pytest.mark.parametrize("steps", [None, 0, 1, 3])
def test_closing_frees_everything(make: Make, steps: int | None) -> None:
    """After any number of steps, even before opening, no file or process remains."""
    before = (0, 0)
    for _ in range(2):  # what stays for the next run, such as a library's own, is there after the first
        backend = make()
        if steps is not None:
            backend.open()
            for step in range(steps):
                backend.advance([send(0, 1, START)] if step == 1 else [], START + step)
        backend.close()
        before, after = resources(), before
    assert before == after


AGENTS = {
    "beacon": "rate=5",
    "flooding": "",
    "gossip": "",
    "mft": "",
    "aodv": "",
}


def run(
    factory: Factory, folder: Path, agent: str, *, seed: int = 1, processing_delay: SimTime = 0
) -> tuple[list[Row], Conforming]:
    """Return a whole run's trace rows, and its back-end."""
    agent_class = load_agent(agent)
    case = write_case(
        folder,
        agent_class.messages,
        agent=agent,
        parameters=AGENTS[agent],
        seed=seed,
        time_limit=8 * SECOND,
        processing_delay=processing_delay,
    )
    backend, trace = Conforming(factory(case)), TraceWriter(TraceLevel.FULL)
    Host(case.scenario, agent_class, backend, trace).run()
    rows: list[Row] = trace.table().to_pylist()
    return rows, backend


@pytest.mark.parametrize("processing_delay", [0, MILLISECOND])
@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_runs(factory: Factory, tmp_path: Path, agent: str, processing_delay: SimTime) -> None:
    """From open to close; subscribers get something, all of it published before.

    Each received packet was sent before; no node acts or hears before its boot.
    """
    rows, backend = run(factory, tmp_path, agent, processing_delay=processing_delay)
    assert (backend.calls[0], backend.calls[-2:]) == ("open", ["end", "close"])
    published = {row["notification_id"]: row["time_s"] for row in rows if row["event"] == "publish"}
    delivered = [row for row in rows if row["event"] == "deliver"]
    assert bool(delivered) == (agent != "beacon")
    assert all(row["node"] in (1, 2) for row in delivered)
    assert all(published[row["notification_id"]] <= row["time_s"] for row in delivered)  # type: ignore[operator]  # seconds
    assert {row["notification_id"] for row in delivered} <= {str(NotificationId(0, number)) for number in range(8)}
    boots = {row["node"]: row["time_s"] for row in rows if row["event"] == "role"}
    living = [row for row in rows if row["event"] not in {"move", "energy", "radio"}]
    assert boots.keys() == {0, 1, 2, 3}
    assert all(boots[row["node"]] <= row["time_s"] < 8 for row in living)  # type: ignore[operator]  # seconds
    received = [row for row in rows if row["event"] == "receive"]
    assert len(received) == len(backend.heard) > 0
    sent: set[object] = set()
    for row in living:
        if row["event"] == "send":
            sent.add((row["node"], row["message_type"]))
        if row["event"] == "receive":
            assert (row["peer"], row["message_type"]) in sent


@pytest.mark.parametrize("agent", AGENTS)
def test_a_seed_decides_a_run(factory: Factory, tmp_path: Path, agent: str) -> None:
    """The same seed gives the same trace, another does not."""
    first, again, other = (run(factory, tmp_path, agent, seed=seed)[0] for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("processing_delay", [0, MILLISECOND])
def test_nodes_that_are_down_neither_hear_nor_send(factory: Factory, tmp_path: Path, processing_delay: SimTime) -> None:
    """A crash and a freeze, at their exact times; ideal links hold arrivals at the frozen node."""
    messages = load_agent("beacon").messages
    case = write_case(tmp_path, messages, agent="beacon", parameters="rate=20", processing_delay=processing_delay)
    outages = {1: (SECOND, 2 * SECOND, FaultKind.CRASH), 2: (1500 * MILLISECOND, 3 * SECOND, FaultKind.FREEZE)}
    faults = [Fault(down, node, kind) for node, (down, _, kind) in outages.items()]
    faults += [Fault(up, node, FaultKind.RECOVER) for node, (_, up, _) in outages.items()]
    case = replace(case, scenario=replace(case.scenario, faults=tuple(faults)))
    trace = TraceWriter(TraceLevel.FULL)
    Host(case.scenario, load_agent("beacon"), Conforming(factory(case)), trace).run()
    rows = trace.table().to_pylist()
    for node, (down, up, kind) in outages.items():
        own = [(row["time_s"] * SECOND, row["event"]) for row in rows if row["node"] == node]
        assert [event for at, event in own if down <= at < up] == [kind.value]
        assert {event for at, event in own if up < at} >= {"send", "receive"}
        assert (up, "recover") in own


class Answering(Agent):
    """Node 0 sends a marker 1 s after its boot; node 1 answers 20 ms after hearing it."""

    messages = MARKERS

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        if isinstance(event, Started) and self.node == 0:
            return [SetTimer("first", SECOND)]
        if isinstance(event, Received) and self.node == 1:
            return [SetTimer("answer", 20 * MILLISECOND)]
        if isinstance(event, TimerFired):
            return [Send(1 - self.node, Marker(self.node))]
        return []


class Raising(Answering):
    """Node 0 does not take an answer."""

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        if isinstance(event, Received) and self.node == 0:
            raise RuntimeError("enough")
        return super().handle(event, now)


def test_a_processing_delay_passes_before_outputs_take_effect(factory: Factory, tmp_path: Path) -> None:
    """A message and its answer each come later by exactly one delay."""
    arrivals = []
    for delay in (0, MILLISECOND):
        case = write_case(tmp_path, MARKERS, processing_delay=delay)
        backend = Conforming(factory(case))
        Host(case.scenario, Answering, backend, TraceWriter()).run()
        arrivals.append([time for time, _ in backend.heard])
    (first, second), (later_first, later_second) = arrivals
    assert (later_first - first, later_second - second) == (MILLISECOND, 2 * MILLISECOND)


class Calling(Agent):
    """Node 0 sends each 100 ms."""

    messages = MARKERS
    far = 95.0, 95.0

    @on(Started)
    def start(self, event: Started, now: SimTime) -> None:
        if self.node in (0, 3):
            self.set_timer("go", SECOND if self.node else 0)

    @on_timer("go")
    def go(self, key: str, now: SimTime) -> None:
        if self.node == 0:
            self.send(BROADCAST, Marker(now // MILLISECOND))
            self.set_timer("go", 100 * MILLISECOND)


class Flying(Calling):
    """Node 3 flies out of reach, 100 m away or more, turns, halts on its way back, and returns at last."""

    @on_timer("go")
    def go(self, key: str, now: SimTime) -> None:
        super().go(key, now)
        if self.node == 3:
            self.go_to(*self.far, speed=60)

    @on(Arrived)
    def turn(self, event: Arrived, now: SimTime) -> None:
        if (event.x, event.y) == self.far:
            self.go_to(5, 5, speed=100)
            self.set_timer("halt", SECOND)

    @on_timer("halt")
    def rest(self, key: str, now: SimTime) -> None:
        self.halt()
        self.go_to(6.5, 5, speed=20)


def fly(
    factory: Factory, folder: Path, agent: type[Agent], mobility: str, *, delay: SimTime
) -> tuple[list[Row], Conforming]:
    """Return the trace's rows of a flight, and its back-end; skip it for a back-end that cannot move nodes so."""
    case = write_case(folder, MARKERS, time_limit=8 * SECOND, processing_delay=delay, mobility=mobility)
    backend, trace = Conforming(factory(case)), TraceWriter(TraceLevel.FULL)
    try:
        Host(case.scenario, agent, backend, trace).run()
    except UserError as error:
        pytest.skip(str(error))
    rows: list[Row] = trace.table().to_pylist()
    return rows, backend


@pytest.mark.parametrize("processing_delay", [0, MILLISECOND])
def test_a_node_goes_by_its_agent_as_by_a_file(factory: Factory, tmp_path: Path, processing_delay: SimTime) -> None:
    """Courses begin where the ones before lead, and the same way from a movement file gives the same trace."""
    rows, backend = fly(factory, tmp_path, Flying, "AgentMobilityManager", delay=processing_delay)
    way = ["0 5 5"]
    for course, after in zip(backend.courses, [*backend.courses[1:], None], strict=True):
        way.append(f"{course.at / SECOND!r} {course.x!r} {course.y!r}")
        if course.until > course.at and (after is None or course.until < after.at):
            way.append(f"{course.until / SECOND!r} {course.to_x!r} {course.to_y!r}")
    assert len(backend.courses) == 4
    (tmp_path / "flight.movements").write_text("0 0 0\n0 5 0\n0 0 5\n" + " ".join(dict.fromkeys(way)) + "\n")
    filed, _ = fly(factory, tmp_path, Calling, "MovementFileMobilityManager", delay=processing_delay)
    if all(row["event"] != "move" for row in filed):  # over given links, places are the host's alone
        rows = [row for row in rows if row["event"] != "move"]
    assert rows == filed
    assert {row["event"] for row in rows if row["node"] == 3} >= {"receive"}


def test_the_back_end_is_closed_when_an_agent_raises(factory: Factory, tmp_path: Path) -> None:
    """Once, after the step that it raised on."""
    case = write_case(tmp_path, MARKERS)
    backend = Conforming(factory(case))
    with pytest.raises(AgentError, match=r"node 0, .* on Received.*RuntimeError: enough"):
        Host(case.scenario, Raising, backend, TraceWriter()).run()
    assert backend.calls[-3:] == ["step", "fail", "close"]
