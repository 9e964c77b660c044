"""What a scenario says of its links is what the ideal back-end has."""

from __future__ import annotations

from dataclasses import replace

from roambus.bridge.backend import Delivery
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange, LinkDelay, ParentChange, Partition
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from roambus.testing.backend_case import Conforming, send
from tests.support.scenarios import scenario

GRAPH = IdealLinks(links=((0, 1), (1, 2)), changes=(LinkChange(5 * SECOND, 1, 3, up=True),))


def described(ideal: IdealLinks = GRAPH) -> Scenario:
    return scenario([Role.BROKER] * 4, ideal=ideal)


def reached(made: Scenario, at: SimTime, sender: NodeId = 1) -> dict[NodeId, SimTime]:
    """Whom a broadcast at `at` reaches, and how much later."""
    backend = Conforming(make_ideal(made))
    backend.open()
    while (step := backend.advance([], at)) is not None and step.now < at:
        pass
    while backend.advance([send(sender, 0, at)] if step else [], None) is not None:
        step = None
    backend.close()
    heard: list[tuple[SimTime, Delivery]] = backend.heard
    return {delivery.receiver: time - at for time, delivery in heard}


def test_a_given_graph_has_its_links_and_changes() -> None:
    """Each with the delay of a millisecond that links have by default."""
    assert reached(described(), SECOND) == {0: MILLISECOND, 2: MILLISECOND}
    assert reached(described(), 6 * SECOND) == {0: MILLISECOND, 2: MILLISECOND, 3: MILLISECOND}


def test_a_graph_that_only_changes_is_given_too() -> None:
    """It begins without links, not as a unit disk."""
    made = described(IdealLinks(changes=GRAPH.changes))
    assert reached(made, SECOND) == {}
    assert reached(made, 6 * SECOND) == {3: MILLISECOND}


def test_links_have_the_delays_of_the_scenario() -> None:
    """One for all, and others for some, in whatever order their ends are named."""
    delays = (LinkDelay(2, 1, 7 * MILLISECOND),)
    made = described(replace(GRAPH, delay=3 * MILLISECOND, delays=delays))
    assert reached(made, SECOND) == {0: 3 * MILLISECOND, 2: 7 * MILLISECOND}


def test_partitions_and_faults_of_the_scenario_happen() -> None:
    """To a graph as to a unit disk."""
    for ideal in (GRAPH, IdealLinks(range_m=200)):
        parted = described(replace(ideal, partitions=(Partition(SECOND, (frozenset({0, 1}),)),)))
        assert reached(parted, SECOND) == {0: MILLISECOND}
        crashed = replace(described(ideal), faults=(Fault(SECOND, 2, FaultKind.CRASH),))
        assert 2 in reached(crashed, SECOND - 2 * MILLISECOND)
        assert 2 not in reached(crashed, SECOND)


def test_the_links_of_a_tree_are_its_edges() -> None:
    """From when they come to when they go, in place of any other graph."""
    tree = (ParentChange(0, 1, 0), ParentChange(0, 3, 1), ParentChange(5 * SECOND, 3, 2))
    made = replace(described(), tree=tree)
    assert reached(made, SECOND) == {0: MILLISECOND, 3: MILLISECOND}
    assert reached(made, 6 * SECOND) == {0: MILLISECOND}
    assert reached(made, 6 * SECOND, sender=2) == {3: MILLISECOND}
