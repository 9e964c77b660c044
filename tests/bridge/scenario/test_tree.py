"""A given tree becomes ideal links and events, each when it changes."""

from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange, ParentChange
from roambus.bridge.scenario.tree import rewirings, tree_links
from roambus.python_protocol.events import Rewired
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND
from tests.support.scenarios import scenario

BROKERS = [Role.BROKER, Role.BROKER, Role.BROKER, Role.SUBSCRIBER]
TREE = (ParentChange(0, 1, 0), ParentChange(0, 2, 0), ParentChange(0, 3, 2))
NOBODY: frozenset[int] = frozenset()


def rewirings_of(tree: tuple[ParentChange, ...], *faults: Fault) -> list[tuple[int, int, Rewired]]:
    described = scenario(BROKERS, tree=tree, faults=faults)
    return [(at // SECOND, node, place) for at, node, place in rewirings(described)]


def test_every_node_is_told_its_place_at_the_start() -> None:
    """Parent, children, and which of them are brokers."""
    assert rewirings_of(TREE) == [
        (0, 0, Rewired(None, (1, 2), frozenset({1, 2}))),
        (0, 1, Rewired(0, (), NOBODY)),
        (0, 2, Rewired(0, (3,), NOBODY)),
        (0, 3, Rewired(2, (), NOBODY)),
    ]


def test_a_change_is_reported_to_those_whom_it_concerns() -> None:
    """The one that moves, its old and its new parent."""
    moved = rewirings_of((*TREE, ParentChange(5 * SECOND, 3, 1)))[4:]
    assert moved == [
        (5, 1, Rewired(0, (3,), NOBODY)),
        (5, 2, Rewired(0, (), NOBODY)),
        (5, 3, Rewired(1, (), NOBODY)),
    ]


def test_a_crashed_node_is_nobodys_neighbour_until_it_recovers() -> None:
    """Its neighbours are told at once; it is told anew when it is back, where the tree then has it."""
    faults = (Fault(5 * SECOND, 2, FaultKind.CRASH), Fault(9 * SECOND, 2, FaultKind.RECOVER))
    after = rewirings_of((*TREE, ParentChange(7 * SECOND, 2, 1)), *faults)[4:]
    assert after == [
        (5, 0, Rewired(None, (1,), frozenset({1}))),
        (5, 3, Rewired(None, (), NOBODY)),
        (9, 1, Rewired(0, (2,), frozenset({2}))),
        (9, 2, Rewired(1, (3,), NOBODY)),
        (9, 3, Rewired(2, (), NOBODY)),
    ]


def test_a_freeze_changes_nobodys_place() -> None:
    """The links to a frozen node stay up."""
    faults = (Fault(5 * SECOND, 2, FaultKind.FREEZE), Fault(9 * SECOND, 2, FaultKind.RECOVER))
    assert rewirings_of(TREE, *faults) == rewirings_of(TREE)


def test_without_a_tree_nobody_is_told_anything() -> None:
    """Whatever happens to the nodes."""
    assert rewirings_of((), Fault(SECOND, 2, FaultKind.CRASH), Fault(2 * SECOND, 2, FaultKind.RECOVER)) == []


def test_an_edge_that_turns_over_stays() -> None:
    """What is under way between two nodes that swap places is not lost."""
    turned = (*TREE, ParentChange(5 * SECOND, 1, None), ParentChange(5 * SECOND, 0, 1))
    assert tree_links(turned) == [LinkChange(0, 0, 1, True), LinkChange(0, 0, 2, True), LinkChange(0, 2, 3, True)]


def test_edges_go_and_come_with_the_tree() -> None:
    """In the order of time."""
    moved = (*TREE, ParentChange(5 * SECOND, 3, 1))
    assert tree_links(moved)[3:] == [LinkChange(5 * SECOND, 1, 3, True), LinkChange(5 * SECOND, 2, 3, False)]
