"""Agents that move their nodes: by commands a node goes as by a movement file, and what cannot be is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import nextafter
from random import Random
from typing import ClassVar

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from roambus.bridge.backend import Backend
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.mobility.given_way import GivenWay
from roambus.bridge.mobility.steered import Steered
from roambus.bridge.scenario.definition import Command as Planned
from roambus.bridge.scenario.definition import Publications, Scenario, Subscription, Workload
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.plans import Fault, FaultKind, Partition
from roambus.bridge.system.errors import AgentError, UserError
from roambus.python_protocol.actions import GoTo
from roambus.python_protocol.agent import Agent, on
from roambus.python_protocol.events import Crashed, Started, Subscribe
from roambus.python_protocol.filters import parse_filter
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.support.flights import (
    LASTING,
    START,
    Command,
    Flight,
    Flyer,
    Row,
    flight,
    flock,
    flying,
    rows_of,
    way_of,
)

Make = Callable[[Scenario], Backend]
BACKENDS = pytest.mark.parametrize("make", [make_ideal, RadioBackend], ids=["ideal", "radio"])
DISK = IdealLinks(range_m=30.0)
TOUR = (
    Command(1 * SECOND, (50.0, 10.0)),
    Command(6 * SECOND, (90.0, 70.0), 12.5),
    Command(15 * SECOND, (15.0, 65.0), 20.0),
    Command(22 * SECOND, (16.5, 12.5), 10.0),
)
"""Each command comes after the arrival that the one before it leads to."""
CHANGED = (
    Command(0, (50.0, 10.0)),
    Command(2 * SECOND, (50.0, 90.0), 20.0),
    Command(4500 * MILLISECOND),
    Command(7 * SECOND, (90.0, 80.0), 15.0),
    Command(7 * SECOND, (0.0, 0.0), 20.0),
    Command(12 * SECOND, (0.0, 0.0), 20.0),
)
"""Commands that overtake others, twice at one instant, and one to where the node is."""


def moves(rows: Sequence[Row], node: int = 0) -> list[tuple[float, str]]:
    return [(row["time_s"], row["detail"]) for row in rows if (row["event"], row["node"]) == ("move", node)]


@BACKENDS
@pytest.mark.parametrize("delay", [0, 3 * MILLISECOND])
@pytest.mark.parametrize("script", [TOUR, CHANGED], ids=["tour", "changed"])
def test_a_flight_by_commands_is_the_flight_of_a_movement_file(
    make: Make, script: Sequence[Command], delay: SimTime
) -> None:
    """All that is sent, heard, believed and moved, at any time."""
    commanded, given_way = flight(script, ideal=DISK, processing_delay=delay)
    rows = rows_of(*commanded, make(commanded[0]))
    assert rows == rows_of(*given_way, make(given_way[0]))
    assert {row["peer"] for row in rows if (row["event"], row["node"]) == ("hear", 0)} >= {1, 2}


def test_a_receiver_shows_what_a_command_of_that_instant_did() -> None:
    """A fix of the very time of a go_to has the new velocity, though the agent had one before."""
    nodes = tuple(replace(node, fix_interval=SECOND) for node in flying(Steered()).nodes)
    by_agent, by_file = flock([TOUR], nodes=nodes, ideal=DISK)
    assert rows_of(*by_agent, make_ideal(by_agent[0])) == rows_of(*by_file, make_ideal(by_file[0]))


def test_a_node_that_turns_back_is_seen_in_its_cell_again() -> None:
    """Seen at 200 ms beyond x = 12, it turns at 210 ms by a command of 160 ms, and rests before x = 12."""
    script = (Command(0, (50.0, 10.0), 20.0), Command(160 * MILLISECOND, (11.0, 10.0), 20.0))
    commanded, given_way = flight(script, processing_delay=50 * MILLISECOND)
    assert rows_of(*commanded, RadioBackend(commanded[0])) == rows_of(*given_way, RadioBackend(given_way[0]))


@pytest.mark.parametrize("is_flyer", [True, False])
def test_a_link_reaches_as_far_as_the_weaker_node_of_both(is_flyer: bool) -> None:
    """On ideal links without a range, among nodes of different power."""

    def weakened(scenario: Scenario) -> Scenario:
        powers = (-10.0 if (node == 0) is is_flyer else 0.0 for node in range(len(scenario.nodes)))
        pairs = zip(scenario.nodes, powers, strict=True)
        return replace(scenario, nodes=tuple(replace(node, tx_power_dbm=power) for node, power in pairs))

    rows, by_file = (rows_of(at := weakened(scenario), agent, make_ideal(at)) for scenario, agent in flight(TOUR))
    assert rows == by_file
    assert any((row["event"], row["node"]) == ("hear", 0) for row in rows)


@BACKENDS
def test_a_node_arrives_once_where_its_last_go_to_leads(make: Make) -> None:
    """Not where a halt or another go_to kept it from going; where it is already, at once."""
    (scenario, agent), _ = flight(CHANGED, ideal=DISK)
    rows_of(scenario, agent, make(scenario))
    arrived = agent.arrived  # type: ignore[attr-defined]
    assert [(round(now / SECOND, 3), x, y) for now, x, y in arrived] == [(10.605, 0, 0), (12.0, 0, 0)]


PLACES = st.tuples(st.integers(0, 100).map(float), st.integers(0, 100).map(float))
COMMANDS = st.builds(Command, st.integers(0, 9 * SECOND), st.none() | PLACES, st.sampled_from([0.5, 3.0, 20.0]))


SCRIPTS = st.lists(COMMANDS, max_size=8).map(lambda script: sorted(script, key=lambda command: command.at))


@settings(max_examples=25, deadline=None)
@given(SCRIPTS)
def test_any_commands_lead_where_a_plain_model_says(script: Sequence[Command]) -> None:
    """The rows of its movement are the model's way-points."""
    (scenario, agent), (model, _) = flight(script, ideal=DISK)
    silent = type("Silent", (agent,), {"speak": lambda *_: None})
    assert moves(rows_of(scenario, silent, make_ideal(scenario))) == moves(rows_of(model, Agent, make_ideal(model)))


@pytest.mark.slow
@BACKENDS
@settings(max_examples=8, deadline=None, phases=[Phase.generate])  # a smaller example would take minutes
@given(st.lists(SCRIPTS, min_size=2, max_size=3))
def test_several_nodes_by_any_commands_go_as_by_files(make: Make, scripts: Sequence[Sequence[Command]]) -> None:
    """They meet and part at the same times, however they turn meanwhile."""
    # A range that no two places of whole metres have between them, for at the very range the last digit decides.
    by_agent, by_file = flock(scripts, ideal=IdealLinks(range_m=31.4159), time_limit=10 * SECOND)
    assert rows_of(*by_agent, make(by_agent[0])) == rows_of(*by_file, make(by_file[0]))


def crowd(seed: int, delay: SimTime) -> Flight:
    """Nodes 0 to 2 fly, node 3 goes by a file and node 4 rests; node 4 fails, and for a while there are two groups."""
    random, lasting = Random(seed), 14 * SECOND

    def place() -> tuple[float, float]:
        return float(random.randrange(51)), float(random.randrange(51))

    def script(times: Iterable[SimTime]) -> list[Command]:
        return [Command(at, random.choice([None, *[place()] * 4]), random.choice([3.0, 20.0])) for at in times]

    scripts = [script(sorted(random.choices(range(lasting - 2 * SECOND), k=8))) for _ in range(3)]
    filed, groups = GivenWay(way_of(script(range(0, lasting, SECOND)))), (frozenset({0, 4}), frozenset({1, 2, 3}))
    nodes = [
        replace(node, mobility=filed, position=START) if number == 3 else node
        for number, node in enumerate(flying(Steered()).nodes)
    ]
    return flock(
        scripts,
        nodes=tuple(nodes),
        time_limit=lasting,
        processing_delay=delay,
        faults=(Fault(6 * SECOND, 4, FaultKind.CRASH), Fault(8 * SECOND, 4, FaultKind.RECOVER)),
        ideal=IdealLinks(range_m=30.0, partitions=(Partition(3 * SECOND, groups), Partition(4 * SECOND, ()))),
    )


@pytest.mark.parametrize("delay", [0, 1500 * MILLISECOND])
@pytest.mark.parametrize("seed", range(2))
@BACKENDS
def test_nodes_that_fly_meet_as_nodes_that_go_by_a_file(make: Make, seed: int, delay: SimTime) -> None:
    """Also while a course of one of them is still to begin, whatever else befalls the links."""
    commanded, given_way = crowd(seed, delay)
    rows = rows_of(*commanded, make(commanded[0]))
    assert rows == rows_of(*given_way, make(given_way[0]))
    met = {(row["node"], row["peer"]) for row in rows if row["event"] == "hear"}
    assert len(met & {(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1), (0, 3), (1, 3), (2, 3)}) > 3


def test_moves_that_have_happened_can_be_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes go on meeting as before."""
    commanded, given_way = crowd(1, 0)
    rows = rows_of(*given_way, RadioBackend(given_way[0]))
    monkeypatch.setattr("roambus.bridge.backends.radio.backend.MOST_DONE", 1)
    assert rows_of(*commanded, RadioBackend(commanded[0])) == rows


@pytest.mark.parametrize("early", [0, SECOND])
def test_a_command_that_takes_effect_after_the_end_moves_nothing(early: SimTime) -> None:
    """Nor at the end itself: no course goes to the back-end, and the trace has no row of it."""
    script = (Command(LASTING - 2 * SECOND + early, (60.0, 10.0)),)
    (scenario, agent), _ = flight(script, ideal=DISK, processing_delay=2 * SECOND)
    assert moves(rows_of(scenario, agent, make_ideal(scenario))) == [(0, "10.000 10.000")]


@BACKENDS
def test_a_node_that_crashes_halts_and_forgets_its_go_to(make: Make) -> None:
    """It stays there after its recovery, and does not arrive."""
    script = (Command(SECOND, (60.0, 10.0)),)
    faults = (Fault(3 * SECOND, 0, FaultKind.CRASH), Fault(4 * SECOND, 0, FaultKind.RECOVER))
    (scenario, agent), _ = flight(script, ideal=DISK, faults=faults)
    rows = rows_of(scenario, agent, make(scenario))
    assert moves(rows) == [(0, "10.000 10.000"), (1, "10.000 10.000"), (3, "30.000 10.000")]
    assert not agent.arrived  # type: ignore[attr-defined]


@BACKENDS
def test_a_frozen_node_goes_on_and_hears_of_its_arrival_when_it_recovers(make: Make) -> None:
    """It arrives at 6 s, and hears of it at 8 s."""
    script = (Command(SECOND, (60.0, 10.0)),)
    faults = (Fault(3 * SECOND, 0, FaultKind.FREEZE), Fault(8 * SECOND, 0, FaultKind.RECOVER))
    (scenario, agent), _ = flight(script, ideal=DISK, faults=faults)
    rows = rows_of(scenario, agent, make(scenario))
    assert moves(rows)[-1] == (6, "60.000 10.000")
    assert agent.arrived == [(8 * SECOND, 60, 10)]  # type: ignore[attr-defined]


def test_a_node_without_energy_halts() -> None:
    """Its last place is where it was when the host heard of its battery."""
    (scenario, agent), _ = flight((Command(0, (90.0, 10.0), 5.0),))
    nodes = [replace(scenario.nodes[0], initial_energy_j=0.3), *scenario.nodes[1:]]
    scenario = replace(scenario, nodes=tuple(nodes))
    rows = rows_of(scenario, agent, RadioBackend(scenario))
    (died,) = (row["time_s"] for row in rows if row["event"] == "die")
    halted, place = moves(rows)[-1]
    assert died <= halted < died + 0.25
    assert place == f"{10 + 5 * halted:.3f} 10.000"


class Boundless(float):
    """Within all bounds, by its own comparisons."""

    __lt__ = __gt__ = lambda *_: False


def changed(action: GoTo) -> GoTo:
    action.x_m = float("nan")
    return action


class Wrong(Agent):
    """Node 0 asks for one movement at its start."""

    asks: ClassVar[Callable[[Agent], None]]

    @on(Started)
    def start(self, event: Started, now: SimTime) -> None:
        if self.node == 0:
            type(self).asks(self)


@BACKENDS
@pytest.mark.parametrize(
    ("asks", "message"),
    [
        (lambda it: it.go_to(100.5, 3, speed=1), r"it goes to \(100.5, 3\), out of the field: x is 0 to 100 m"),
        (lambda it: it.go_to(3, -0.1, speed=1), r"it goes to \(3, -0.1\), out of the field"),
        (
            lambda it: it.go_to(3, 4, speed=20.5),
            r"at 20.5 m/s, more than MobilityManager.maxSpeed of node 0, 20: raise that .*--set max_speed=20.5",
        ),
        (
            lambda it: it.go_to(nextafter(100, 101), 3, speed=1),
            r"it goes to \(100.00000000000001, 3\), out of the field",
        ),
        (lambda it: it.go_to(3, 4, speed=nextafter(20, 21)), r"at 20.000000000000004 m/s, more than \S+ of node 0, 20"),
        (lambda it: it.go_to(3, 4, speed=Boundless(21)), r"at 21 m/s, more than \S+ of node 0, 20"),
        (lambda it: it.go_to(3, 4, speed=Boundless(-1)), "a go_to at -1 m/s: it is at least 0.001 m/s"),
        (lambda it: it.go_to(3, 4, speed=nextafter(0.001, 0)), "a go_to at 0.0009999999999999998 m/s: it is at least"),
        (lambda it: it.go_to(3, 4, speed=0), "a go_to at 0 m/s: it is at least 0.001 m/s"),
        (lambda it: it.perform([changed(GoTo(3, 4, 1))]), "the x of a go_to is nan"),
        (lambda it: it.go_to(float("nan"), 4, speed=1), "the x of a go_to is nan"),
        (lambda it: it.go_to("3", 4, speed=1), "the x of a go_to is '3', of type str"),
    ],
)
def test_a_go_to_that_cannot_be_is_the_agents_error(make: Make, asks: Callable[[Agent], None], message: str) -> None:
    """With node, time and the line of the agent; nothing is clipped."""
    agent = type("Wrong", (Wrong,), {"asks": asks})
    scenario = flying(Steered(), ideal=DISK)
    with pytest.raises(AgentError, match=rf"node 0, simulation time 0.*{message}"):
        rows_of(scenario, agent, make(scenario))


@pytest.mark.parametrize("ask", [lambda it: it.go_to(3, 4, speed=1), lambda it: it.halt()], ids=["go_to", "halt"])
def test_a_node_that_its_agent_does_not_move_is_told_the_key(ask: Callable[[Agent], None]) -> None:
    """As one that stays, or goes by a file."""
    _, (scenario, _) = flight(TOUR, ideal=DISK)
    agent = type("Wrong", (Wrong,), {"asks": ask})
    key = r'set SN.node\[0\].MobilityManagerName = "AgentMobilityManager" .template field: --set mobility=agent;'
    with pytest.raises(AgentError, match=f"of a node that its agent does not move: {key}"):
        rows_of(scenario, agent, make_ideal(scenario))


AROUND_ME, EVERYWHERE = parse_filter("within 10 of me"), parse_filter("all")
NEVER = LASTING + SECOND


@pytest.mark.parametrize(
    ("workload", "reason"),
    [
        (Workload(subscriptions=(Subscription(0, NEVER, AROUND_ME),)), "its node subscribes to an area around itself"),
        (Workload(commands=(Planned(NEVER, 0, Subscribe(AROUND_ME)),)), "its node subscribes to an area around itself"),
        (Workload(publications=(Publications(0, NEVER, NEVER, SECOND, (), 0, placed=True),)), "publishes where it is"),
        (Workload(subscriptions=(Subscription(0, NEVER, EVERYWHERE), Subscription(1, NEVER, AROUND_ME))), None),
        (Workload(publications=(Publications(0, NEVER, NEVER, SECOND, (), 0),)), None),
    ],
)
def test_a_node_whose_place_was_planned_cannot_move(workload: Workload, reason: str | None) -> None:
    """Who is to deliver follows from it; another node's place, or what does not depend on places, is no reason."""
    agent = type("Wrong", (Wrong,), {"asks": lambda it: it.go_to(3, 4, speed=1)})
    scenario = flying(Steered(), ideal=DISK, workload=workload)
    with pytest.raises(AgentError, match=f"{reason}.*: it cannot move") if reason else nullcontext():
        rows_of(scenario, agent, make_ideal(scenario))


class Restless(Agent):
    """Goes as it crashes."""

    @on(Crashed)
    def crash(self, event: Crashed, now: SimTime) -> None:
        self.go_to(3, 4, speed=1)


def test_a_node_that_is_down_goes_nowhere() -> None:
    """As it sends nothing."""
    scenario = flying(Steered(), ideal=DISK, faults=(Fault(SECOND, 0, FaultKind.CRASH),))
    with pytest.raises(AgentError, match="a go_to of a node that is down"):
        rows_of(scenario, Restless, make_ideal(scenario))


def test_a_backend_that_cannot_is_named_with_the_key() -> None:
    """Before anything happens."""
    scenario = flying(Steered(), ideal=DISK)
    backend = make_ideal(scenario)
    opened = backend.open
    backend.open = lambda: replace(opened(), steer=None, simulator="a bus")  # type: ignore[method-assign]
    message = r'a bus cannot move nodes by their agents: SN.node\[0\].MobilityManagerName = "AgentMobilityManager"'
    with pytest.raises(UserError, match=message):
        rows_of(scenario, Flyer, backend)


def test_a_flight_over_given_links_changes_no_link() -> None:
    """Places have no effect on them, and the node arrives all the same."""
    (scenario, agent), _ = flight(TOUR, ideal=IdealLinks(links=((0, 3),)))
    rows = rows_of(scenario, agent, make_ideal(scenario))
    assert {row["peer"] for row in rows if (row["event"], row["node"]) == ("hear", 0)} == {3}
    assert len(agent.arrived) == len(TOUR)  # type: ignore[attr-defined]
