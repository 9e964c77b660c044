"""The two worked examples of section 4.4 of the thesis, message for message with contents.

Seven brokers in a balanced binary tree, a subscriber at each with a filter of its own.
"""

import pytest

from tests.python_protocol.mft.network import CLIENTS, Network


@pytest.fixture
def tree() -> Network:
    """Figures 4.1 and 4.2 before anything breaks; the order of links is the order in which the thesis sends."""
    network = Network((4, 2), (5, 2), (6, 3), (7, 3), (1, 2), (1, 3))
    for node, parent in ((2, 1), (3, 1), (4, 2), (5, 2), (6, 3), (7, 3)):
        network.set_uplink(node, parent)
    # Broker 2 sends to 4, then 1 and 3 (steps 10 to 12).
    network.brokers[2].neighbours = {5: None, 4: None, 1: None}
    for number in range(1, 8):
        network.subscribe(number, number)
    network.take_log()
    return network


def test_simple_migration(tree: Network) -> None:
    """Figure 4.1: two BMIGs are the entire migration of b3 from b1 to b2."""
    tree.cut(3, 1)
    tree.migrate(3, 2)
    assert tree.take_log() == [
        "b3 -> b2 BMIG C=[(s3,1,1) (s6,1,2) (s7,1,2)] O=[(s1,1,2) (s2,1,3) (s4,1,4) (s5,1,4)] h=0",
        "b2 -> b1 BMIG C=[(s3,1,1) (s6,1,2) (s7,1,2)] O=[] h=1",
    ]


def test_after_the_simple_migration_everybody_reaches_everybody(tree: Network) -> None:
    """Figure 4.1: a notification for any subscriber, published at any broker, arrives once."""
    tree.cut(3, 1)
    tree.migrate(3, 2)
    assert_all_reachable(tree)


def test_complex_migration(tree: Network) -> None:
    """Figure 4.2: b6 leaves b3 for b5 while b3 is cut off; then b3 migrates to b2, still believing s6 below it."""
    tree.cut(3, 1)
    tree.cut(6, 3)
    tree.migrate(6, 5)
    assert tree.take_log() == [
        "b6 -> b5 BMIG C=[(s6,1,1)] O=[(s1,1,3) (s2,1,4) (s3,1,2) (s4,1,5) (s5,1,5) (s7,1,3)] h=0",
        "b5 -> b2 BMIG C=[(s6,1,1)] O=[] h=1",
        "b2 -> b1 BMIG C=[(s6,1,1)] O=[] h=2",
    ]
    tree.migrate(3, 2)
    assert tree.take_log() == [
        "b3 -> b2 BMIG C=[(s3,1,1) (s6,1,2) (s7,1,2)] O=[(s1,1,2) (s2,1,3) (s4,1,4) (s5,1,4)] h=0",
        "b2 -> b1 BMIG C=[(s3,1,1) (s6,1,2) (s7,1,2)] O=[] h=1",
        "b2 -> b5 BMIG C=[(s3,1,1) (s6,1,2) (s7,1,2)] O=[] h=1",
        "b5 -> b6 BMIG C=[(s3,1,1) (s6,1,2) (s7,1,2)] O=[] h=2",
        "b6 -> b5 BSUB s6 [f6] T=(1,1) h=0",
        "b5 -> b2 BSUB s6 [f6] T=(1,1) h=1",
        "b2 -> b4 BSUB s6 [f6] T=(1,1) h=2",
        "b2 -> b1 BSUB s6 [f6] T=(1,1) h=2",
        "b2 -> b3 BSUB s6 [f6] T=(1,1) h=2",
        "b3 -> b7 BSUB s6 [f6] T=(1,1) h=3",
    ]


def test_after_the_complex_migration_everybody_reaches_everybody(tree: Network) -> None:
    """Figure 4.2: the inconsistency is gone; every next hop lies on the way."""
    tree.cut(3, 1)
    tree.cut(6, 3)
    tree.migrate(6, 5)
    tree.migrate(3, 2)
    assert tree.next_hops(6) == {1: 2, 2: 5, 3: 2, 4: 2, 5: 6, 6: CLIENTS + 6, 7: 3}
    assert_all_reachable(tree)


def test_notifications_sent_astray_during_the_complex_migration_are_replayed(tree: Network) -> None:
    """Section 4.4, last paragraph: b3 stores what it cannot send to b6, and replays it when the BSUB arrives."""
    tree.cut(3, 1)
    tree.cut(6, 3)
    tree.publish(6, 7, sequence=5)
    tree.migrate(6, 5)
    tree.migrate(3, 2)
    log = tree.take_log()
    sent = [line for line in log if "REP" in line]
    assert sent == ["b3 -> b2 REP s6 99.5", "b2 -> b5 REP s6 99.5", "b5 -> b6 REP s6 99.5"]
    assert [str(node) for node in tree.reached(6)] == ["99.5"]


def assert_all_reachable(network: Network) -> None:
    """Publishes for each subscriber at each broker."""
    sequence = 1000
    for number in range(1, 8):
        network.to_clients.clear()
        for broker in range(1, 8):
            network.publish(number, broker, sequence)
            sequence += 1
        assert len(set(network.reached(number))) == len(network.to_clients) == 7
