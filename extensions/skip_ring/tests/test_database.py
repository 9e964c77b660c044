"""The supervisor's database: labels, configurations, and repairs (the skip ring's paper, section 3.1)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.skip_ring.labels import Label, Reference, label_of
from roambus.extensions.skip_ring.supervisor import Configuration, Database
from roambus.python_protocol.roles import NodeId

entries = st.dictionaries(st.integers(0, 40).map(label_of), st.none() | st.integers(1, 12), max_size=12)


def holding(given_entries: dict[Label, NodeId | None]) -> Database:
    database = Database()
    database.entries = dict(given_entries)
    return database


def of(*nodes: NodeId) -> dict[Label, NodeId | None]:
    """A sound database: the x-th node has l(x)."""
    return {label_of(number): node for number, node in enumerate(nodes)}


def repaired(given_entries: dict[Label, NodeId | None]) -> dict[Label, NodeId | None]:
    database = holding(given_entries)
    database.repair()
    return database.entries


def test_a_label_without_subscriber_is_removed() -> None:
    """Condition (i); the label after it moves up."""
    assert repaired({**of(7, 8), "01": None, "11": 9}) == of(7, 8, 9)


def test_of_a_subscriber_with_several_labels_the_lowest_stays() -> None:
    """Condition (ii), when the subscriber gets its configuration."""
    database = holding(of(7, 8, 7, 9))
    assert database.integrate(7).label == "0"
    assert database.entries == of(7, 8, 9)


def test_a_missing_label_is_filled_by_the_last_subscriber() -> None:
    """Condition (iii)."""
    assert repaired({"0": 7, "01": 8, "11": 9}) == of(7, 9, 8)


def test_a_label_that_is_too_great_is_given_up() -> None:
    """Condition (iv): its subscriber gets one that is missing."""
    assert repaired({**of(7, 8), "0001": 9}) == of(7, 8, 9)


@given(entries)
def test_any_database_is_sound_after_one_round_robin(given_entries: dict[Label, NodeId | None]) -> None:
    """Labels l(0) to l(n - 1), each subscriber that was there under one of them (lemma "supervisor validity")."""
    database = holding(given_entries)
    for _ in range(2 * len(given_entries)):
        subscriber = database.next()
        if subscriber is not None:
            database.integrate(subscriber)
    known = {node for node in given_entries.values() if node is not None}
    assert set(database.entries) == {label_of(number) for number in range(len(known))}
    assert sorted(map(int, filter(None, database.entries.values()))) == sorted(known)


@given(entries, st.integers(1, 12))
def test_a_removed_subscriber_is_gone_from_any_database(entries: dict[Label, NodeId | None], leaver: NodeId) -> None:
    """And labels have no gap."""
    database = holding(entries)
    database.remove(leaver)
    database.repair()
    assert leaver not in database.entries.values()
    assert set(database.entries) == {label_of(number) for number in range(len(database.entries))}


def test_a_new_subscriber_gets_the_next_label_and_its_neighbours_on_the_circle() -> None:
    """Section 4.1."""
    database = holding(of(7, 8))
    assert database.integrate(9) == Configuration(Reference(7, "0"), "01", Reference(8, "1"))
    assert database.integrate(7) == Configuration(Reference(8, "1"), "0", Reference(9, "01"))


def test_the_only_subscriber_has_no_neighbours() -> None:
    """Nor itself."""
    assert Database().integrate(7) == Configuration(None, "0", None)


def test_the_last_subscriber_takes_the_label_of_one_that_leaves() -> None:
    """Section 4.1; if it is the last itself, nobody has to move."""
    database = holding(of(7, 8, 9))
    assert database.remove(7) == 9
    assert database.entries == of(9, 8)
    assert database.remove(8) is None
    assert database.remove(8) is None
    assert database.entries == of(9)


def test_turns_go_round() -> None:
    """Everybody gets its configuration once in n rounds."""
    database = holding(of(7, 8, 9))
    assert sorted(database.next() or 0 for _ in range(3)) == [7, 8, 9]
