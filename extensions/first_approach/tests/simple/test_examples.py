"""Figures 2.1 to 2.3 and table 2.2 of the thesis.

b1 has the neighbours b2 and b3. s1 is at b1, s2 at b2, s3, s5, s6 at b3. Table 2.2 takes f4 to b2 and f6 twice to b3,
so s4 cannot have subscribed to both at one broker: it is at b2, as in figure 2.2, and its f6 comes from b3.
"""

from __future__ import annotations

import pytest

from roambus.extensions.first_approach.tests.simple.network import Network
from tests.python_protocol.brokers.network import CLIENTS

TABLE_2_2 = ["f1 b2", "f1 b3", "f1 s1", "f2 b2", "f3 b3", "f4 b2", "f6 b3", "f6 b3"]


@pytest.fixture
def figure_2_1() -> Network:
    """With the subscriptions that give table 2.2."""
    network = Network((1, 2), (1, 3))
    at = {2: [(2, 1), (2, 2), (4, 4)], 1: [(1, 1)], 3: [(5, 1), (3, 3), (4, 6), (6, 6)]}
    for broker, subscriptions in at.items():
        for number, wanted in subscriptions:
            network.subscribe(number, broker, wanted)
    network.take_log()
    return network


def test_table_2_2(figure_2_1: Network) -> None:
    """The routing table of b1, equal entries included."""
    assert figure_2_1.table(1) == TABLE_2_2


def test_figure_2_2(figure_2_1: Network) -> None:
    """s4 subscribes to f7: the SUB reaches every broker once, and b1 has a new entry."""
    figure_2_1.subscribe(4, 2, 7)
    assert figure_2_1.take_log() == ["b2 -> b1 SUB f7", "b1 -> b3 SUB f7"]
    assert figure_2_1.table(1) == [*TABLE_2_2, "f7 b2"]


def test_figure_2_3(figure_2_1: Network) -> None:
    """A publication that matches f1, at b2: b2 and b1 each send it to their own subscriber and to a broker."""
    figure_2_1.publish(1, 2)
    assert figure_2_1.take_log() == ["b2 -> b1 PUB 99.0", "b1 -> b3 PUB 99.0"]
    assert [client - CLIENTS for client, _ in figure_2_1.to_clients] == [2, 1, 5]


def test_equal_entries_cost_one_message(figure_2_1: Network) -> None:
    """Section 2.3.1: what matches f6 goes to b3 once."""
    figure_2_1.publish(6, 2)
    assert figure_2_1.take_log() == ["b2 -> b1 PUB 99.0", "b1 -> b3 PUB 99.0"]
    assert [client - CLIENTS for client, _ in figure_2_1.to_clients] == [4, 6]
