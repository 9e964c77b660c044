"""The two worked examples of section 3.4 of the thesis, message for message with contents.

Seven brokers in a balanced binary tree, a subscriber at each with a filter of its own. The thesis lists a BTAB before
the BMIG that is passed on at the same step; algorithm 3.3 sends that first (lines 8 and 10).
"""

from __future__ import annotations

import pytest

from roambus.extensions.first_approach.tests.network import Network

SUBSCRIBERS = range(1, 8)


@pytest.fixture
def tree() -> Network:
    """Figures 3.1 and 3.2 before anything breaks."""
    network = Network((1, 2), (1, 3), (2, 4), (2, 5), (3, 6), (3, 7))
    for number in SUBSCRIBERS:
        network.subscribe(number, number)
    network.take_log()
    return network


def table(**interfaces: str) -> str:
    """A BTAB with s_i at the i-th interface, in the order given."""
    entries = (f"(f{name[1:]},{interface},{name})" for name, interface in interfaces.items())
    return f"BTAB R=[{' '.join(entries)}]"


R2_WITH_S3 = table(s1="b1", s2="s2", s3="b3", s4="b4", s5="b5", s6="b1", s7="b1")
R3_AFTER_BTAB = {"s3": "s3", "s1": "b2", "s2": "b2", "s4": "b2", "s5": "b2"}


def test_simple_migration(tree: Network) -> None:
    """Figure 3.1: the cascade of thirteen messages, when b3 migrates from b1 to b2."""
    tree.cut(3, 1)
    tree.migrate(3, 2)
    assert tree.take_log() == [
        "b3 -> b2 BMIG C=[s3] b=b3",
        "b2 -> b1 BMIG C=[s3] b=b3",
        f"b2 -> b3 {R2_WITH_S3}",
        "b3 -> b6 FMIG",
        "b3 -> b7 FMIG",
        "b6 -> b3 BMIG C=[s6] b=b6",
        "b7 -> b3 BMIG C=[s7] b=b7",
        "b3 -> b2 BMIG C=[s6] b=b6",
        f"b3 -> b6 {table(**R3_AFTER_BTAB, s6='b6', s7='b2')}",
        "b3 -> b2 BMIG C=[s7] b=b7",
        f"b3 -> b7 {table(**R3_AFTER_BTAB, s6='b6', s7='b7')}",
        "b2 -> b1 BMIG C=[s6] b=b6",
        "b2 -> b1 BMIG C=[s7] b=b7",
    ]


def test_after_the_simple_migration_everybody_reaches_everybody(tree: Network) -> None:
    """Figure 3.1: a notification for any subscriber, published at any broker, arrives once."""
    tree.cut(3, 1)
    tree.migrate(3, 2)
    assert_all_reachable(tree)


def test_complex_migration(tree: Network) -> None:
    """Figure 3.2: b6 leaves b3 for b5 while b3 is cut off; then b3 migrates to b2, and needs no correction for s6."""
    tree.cut(3, 1)
    tree.cut(6, 3)
    tree.migrate(6, 5)
    assert tree.take_log() == [
        "b6 -> b5 BMIG C=[s6] b=b6",
        "b5 -> b2 BMIG C=[s6] b=b6",
        f"b5 -> b6 {table(s1='b2', s2='b2', s3='b2', s4='b2', s5='s5', s6='b6', s7='b2')}",
        "b2 -> b1 BMIG C=[s6] b=b6",
    ]
    tree.migrate(3, 2)
    assert tree.take_log() == [
        "b3 -> b2 BMIG C=[s3] b=b3",
        "b2 -> b1 BMIG C=[s3] b=b3",
        f"b2 -> b3 {table(s1='b1', s2='s2', s3='b3', s4='b4', s5='b5', s6='b5', s7='b1')}",
        "b3 -> b7 FMIG",
        "b7 -> b3 BMIG C=[s7] b=b7",
        "b3 -> b2 BMIG C=[s7] b=b7",
        f"b3 -> b7 {table(**R3_AFTER_BTAB, s6='b2', s7='b7')}",
        "b2 -> b1 BMIG C=[s7] b=b7",
    ]


def test_after_the_complex_migration_everybody_reaches_everybody(tree: Network) -> None:
    """Figure 3.2: b3 sends what is for s6 to b2, although it was not told of the migration of b6."""
    tree.cut(3, 1)
    tree.cut(6, 3)
    tree.migrate(6, 5)
    tree.migrate(3, 2)
    assert tree.next_hops(6) == {1: ["b2"], 2: ["b5"], 3: ["b2"], 4: ["b2"], 5: ["b6"], 6: ["s6"], 7: ["b3"]}
    assert_all_reachable(tree)


def test_notifications_stored_meanwhile_are_replayed(tree: Network) -> None:
    """Algorithm 3.3, lines 24 and 25: b3 stores what it cannot send to b6, and sends it on once b2 has told of s6."""
    tree.cut(3, 1)
    tree.cut(6, 3)
    tree.publish(6, 7, sequence=5)
    tree.migrate(6, 5)
    tree.migrate(3, 2)
    sent = [line for line in tree.take_log() if "REP" in line]
    assert sent == ["b3 -> b2 REP 99.5", "b2 -> b5 REP 99.5", "b5 -> b6 REP 99.5"]
    assert tree.reached(6) == [5]


def test_the_phantom_of_section_3_5(tree: Network) -> None:
    """s6 unsubscribes while b3's partition is on its own; with the merge the others give the subscription back."""
    tree.cut(3, 1)
    tree.unsubscribe(6, 6)
    assert tree.next_hops(6) == {1: ["b3"], 2: ["b1"], 3: [], 4: ["b2"], 5: ["b2"], 6: [], 7: []}
    tree.migrate(3, 2)
    assert tree.next_hops(6) == {1: ["b3"], 2: ["b1"], 3: ["b2"], 4: ["b2"], 5: ["b2"], 6: ["b3"], 7: ["b3"]}
    tree.publish(6, 2)
    assert tree.brokers[1].storage.subscribers() == [106]


def assert_all_reachable(network: Network) -> None:
    """Publishes for each subscriber at each broker."""
    sequence = 1000
    for number in SUBSCRIBERS:
        network.to_clients.clear()
        for broker in range(1, 8):
            network.publish(number, broker, sequence)
            sequence += 1
        assert len(set(network.reached(number))) == len(network.to_clients) == 7
