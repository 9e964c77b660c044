"""Clients that detach and come back: what their agents are told, when, and what becomes of their links."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import pytest

from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import DEPARTURE, Command, Scenario, Workload
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.plans import Fault, FaultKind, ParentChange
from roambus.bridge.scenario.tree import Absence, absence_commands, with_absences
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.baselines import BeaconMessage
from roambus.python_protocol.events import Attach, Detach, Event, Received, Rewired
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime, format_time
from tests.support.scenarios import scenario

ROLES = [Role.BROKER, Role.BROKER, Role.SUBSCRIBER]
TREE = (ParentChange(0, 1, 0), ParentChange(0, 2, 1))
AWAY = Absence(2, 5 * SECOND, 8 * SECOND, 0)


class Polite(Agent):
    """Says goodbye, answers whoever speaks to it, and remembers what it was told."""

    messages = MessageSet([BeaconMessage])

    events: ClassVar[list[str]] = []

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        name = type(event).__name__ + (f" {event.parent}" if isinstance(event, Rewired) else "")
        self.events.append(f"{format_time(now)} {self.node} {name}")
        if isinstance(event, Detach):
            return [Send(1, BeaconMessage(10))]
        if isinstance(event, Received) and self.node == 1:
            return [Send(2, BeaconMessage(10)), Send(2, BeaconMessage(10), DEPARTURE)]
        return []


def events_of(described: Scenario, node: int) -> list[str]:
    """What the agent of a node was told from 5 s on."""
    Polite.events.clear()
    Host(described, Polite, make_ideal(described), TraceWriter()).run()
    words = (line.split(" ", 2) for line in Polite.events)
    return [f"{at} {what}" for at, who, what in words if int(who) == node and at != "0s"]


def away(absences: Iterable[Absence] = (AWAY,), *, faults: tuple[Fault, ...] = ()) -> Scenario:
    absences = tuple(absences)
    workload = Workload(commands=tuple(absence_commands(absences)))
    tree = with_absences(TREE, absences, ROLES, DEPARTURE)
    return scenario(ROLES, workload, time_limit=10 * SECOND, tree=tree, faults=faults)


def test_a_client_is_told_while_its_link_stands() -> None:
    """Time enough for a goodbye and an answer; then the link goes, and comes back elsewhere before the client acts."""
    assert events_of(away(), 2) == ["5s Detach", "5.002s Received", "5.1s Rewired None", "8s Rewired 0", "8s Attach"]


def test_its_broker_hears_the_goodbye_and_then_nothing_reaches_the_client() -> None:
    """What the broker sends too late fails."""
    assert events_of(away(), 1) == ["5.001s Received", "5.1s Rewired 0", "5.101s SendFailed"]


def test_without_a_broker_the_client_returns_to_where_it_was() -> None:
    """Which may be where it has moved meanwhile."""
    moves = (*TREE, ParentChange(3 * SECOND, 2, 0))
    tree = with_absences(moves, [Absence(2, 5 * SECOND, 8 * SECOND)], ROLES, DEPARTURE)
    assert tree == (
        *moves,
        ParentChange(5 * SECOND + DEPARTURE, 2, None),
        ParentChange(8 * SECOND, 2, 0),
    )


def test_absences_and_moves_can_alternate() -> None:
    """The last place before a detachment is the one that is left, whatever order they were found in."""
    moves = (*TREE, ParentChange(9 * SECOND, 2, 0))
    absences = [Absence(2, 5 * SECOND, 8 * SECOND), Absence(2, 10 * SECOND, 12 * SECOND)]
    tree = with_absences(moves, absences, ROLES, DEPARTURE)
    places = [(change.at // SECOND, change.parent) for change in tree if change.node == 2]
    assert places == [(0, 1), (5, None), (8, 1), (9, 0), (10, None), (12, 0)]


def test_who_never_returns_stays_away() -> None:
    """Its agent is told once."""
    assert events_of(away([Absence(2, 5 * SECOND)]), 2) == ["5s Detach", "5.002s Received", "5.1s Rewired None"]


def test_a_client_on_a_brokers_node_keeps_its_links() -> None:
    """The agent is told; the broker has its place in the tree."""
    absences = [Absence(1, 5 * SECOND, 8 * SECOND)]
    assert with_absences(TREE, absences, ROLES, DEPARTURE) == TREE
    assert [line for line in events_of(away(absences), 1) if "tach" in line] == ["5s Detach", "8s Attach"]


def test_over_a_given_graph_the_links_stand() -> None:
    """What is sent to a client that is away arrives."""
    workload = Workload(commands=tuple(absence_commands([Absence(2, 5 * SECOND, 8 * SECOND)])))
    described = scenario(ROLES, workload, ideal=IdealLinks(links=((0, 1), (1, 2))))
    assert events_of(described, 2) == ["5s Detach", "5.002s Received", "5.102s Received", "8s Attach"]


def test_over_the_radio_the_agents_are_told() -> None:
    """The trace says so."""
    workload = Workload(commands=tuple(absence_commands([Absence(2, 5 * SECOND, 8 * SECOND)])))
    described, trace = scenario(ROLES, workload), TraceWriter()
    Host(described, Polite, RadioBackend(described), trace).run()
    rows = [row for row in trace.table().to_pylist() if row["event"] in {"detach", "attach"}]
    assert [(row["time_s"], row["node"], row["event"]) for row in rows] == [(5.0, 2, "detach"), (8.0, 2, "attach")]


def test_a_crashed_client_is_told_when_it_recovers() -> None:
    """In the order in which it would have been, as of subscriptions; its place has changed by itself."""
    down = (Fault(4 * SECOND, 2, FaultKind.CRASH), Fault(9 * SECOND, 2, FaultKind.RECOVER))
    assert events_of(away(faults=down), 2) == [
        "4s Crashed",
        "9s Recovered",
        "9s Rewired 0",
        "9s Detach",
        "9s Attach",
        "9s SendFailed",
    ]


def test_a_frozen_client_is_told_when_it_recovers() -> None:
    """With its places, in the order in which all of it fell due."""
    down = (Fault(4 * SECOND, 2, FaultKind.FREEZE), Fault(9 * SECOND, 2, FaultKind.RECOVER))
    lines = [line for line in events_of(away(faults=down), 2) if "SendFailed" not in line]
    assert lines == ["4s Stopped", "9s Recovered", "9s Detach", "9s Rewired None", "9s Rewired 0", "9s Attach"]


def test_what_is_planned_becomes_commands() -> None:
    """One that never returns has the first alone."""
    planned = [AWAY, Absence(2, 9 * SECOND)]
    assert list(absence_commands(planned)) == [
        Command(5 * SECOND, 2, Detach()),
        Command(8 * SECOND, 2, Attach()),
        Command(9 * SECOND, 2, Detach()),
    ]


@pytest.mark.parametrize(
    ("absence", "problem"),
    [
        (Absence(2, 5 * SECOND, 5 * SECOND + DEPARTURE), "node 2 leaves its place only at 5.1s"),
        (Absence(2, 5 * SECOND, 8 * SECOND, 2), "node 2 is not a broker, so node 2 cannot return to it"),
        (Absence(2, 5 * SECOND, 8 * SECOND, 7), "node 7 is not a broker"),
        (Absence(1, 5 * SECOND, 8 * SECOND, 0), "node 1 is a broker and keeps its place"),
        (Absence(2, SECOND, 4 * SECOND), "SN.tree gives node 2 a parent at 3s, when it is away"),
        (Absence(2, SECOND), "SN.tree gives node 2 a parent at 3s, when it is away"),
    ],
)
def test_absences_that_contradict_the_tree_are_refused(absence: Absence, problem: str) -> None:
    """With what contradicts what."""
    with pytest.raises(ValueError, match=problem):
        with_absences((*TREE, ParentChange(3 * SECOND, 2, 0)), [absence], ROLES, DEPARTURE)


def test_a_return_to_a_broker_needs_a_tree() -> None:
    """Elsewhere there are no places."""
    with pytest.raises(ValueError, match=r"without SN.tree there is no place to return to"):
        with_absences((), [AWAY], ROLES, DEPARTURE)


def test_a_departure_may_take_as_long_as_the_scenario_says() -> None:
    """For links that are slower."""
    tree = with_absences(TREE, [AWAY], ROLES, 700 * MILLISECOND)
    assert tree[-2:] == (ParentChange(5700 * MILLISECOND, 2, None), ParentChange(8 * SECOND, 2, 0))
