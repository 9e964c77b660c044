"""Figure 2.1 and table 2.3 of the thesis, on the network of table 2.2 (of `first_approach`)."""

from __future__ import annotations

import pytest

from roambus.extensions.phoenix.broker import Mig, Stamp
from roambus.extensions.phoenix.tests.network import Network
from tests.python_protocol.brokers.network import CLIENTS


@pytest.fixture
def figure_2_1() -> Network:
    """With the subscriptions that give table 2.3."""
    network = Network((1, 2), (1, 3))
    at = {2: [(2, 1), (2, 2), (4, 4)], 1: [(1, 1)], 3: [(5, 1), (3, 3), (4, 6), (6, 6)]}
    for broker, subscriptions in at.items():
        for number, wanted in subscriptions:
            network.subscribe(number, broker, wanted)
    network.take_log()
    return network


def test_table_2_3(figure_2_1: Network) -> None:
    """The routing table of b1."""
    assert figure_2_1.table(1) == [
        "f1 b2 s2",
        "f1 b3 s5",
        "f1 s1 s1",
        "f2 b2 s2",
        "f3 b3 s3",
        "f4 b2 s4",
        "f6 b3 s4",
        "f6 b3 s6",
    ]


def test_a_migration_in_the_network_of_figure_2_1(figure_2_1: Network) -> None:
    """s3 goes from b3 to b2, having received one of two: the MIG goes the way of a PUB, the other comes as a REP."""
    figure_2_1.publish(3, 1, sequence=5)
    figure_2_1.publish(3, 1, sequence=6)
    first = figure_2_1.to_clients[0][1]
    figure_2_1.take_log()
    figure_2_1.client_sends(CLIENTS + 3, 2, Mig(CLIENTS + 3, 3, Stamp(0, 1)))
    assert getattr(first, "stamp", None) == Stamp(0, 1)
    assert figure_2_1.take_log() == ["b2 -> b1 MIG s3", "b1 -> b3 MIG s3", "b3 -> b1 REP 99.6", "b1 -> b2 REP 99.6"]
    assert figure_2_1.to_clients[-1][0] == CLIENTS + 3
    assert [row for row in figure_2_1.table(1) if row.endswith("s3")] == ["f3 b2 s3"]
