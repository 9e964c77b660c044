"""Who hears whom, while nodes move: in a small field and in a large one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reference_scenarios import CC2420, MAC
from roambus.bridge.backend import Totals
from roambus.bridge.backends.radio import channel
from roambus.bridge.backends.radio.medium import NOBODY, occupants
from roambus.bridge.mobility.random_waypoint import RandomWaypoint
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.radio import ChannelSettings
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.support.beacons import totals_of_beacons

CELLS = ChannelSettings(only_static_nodes=False)
FAST = RandomWaypoint(20, 0, 100 * MILLISECOND)


def wandering(seed: int, nodes: int, tx_power_dbm: float) -> Scenario:
    """Fast nodes in a field that not every signal crosses, all but the first with the given power."""
    loud, others = NodeSettings(mobility=FAST), NodeSettings(mobility=FAST, tx_power_dbm=tx_power_dbm)
    return Scenario(seed, 3 * SECOND, (150.0, 150.0), CELLS, CC2420, MAC, (loud, *(others,) * (nodes - 1)))


def totals_of(scenario: Scenario) -> Totals:
    """Of the nodes' own traffic, 20 packets a second each."""
    return totals_of_beacons(scenario, 20, 40)


@settings(max_examples=20, deadline=None)
@given(st.integers(min_value=0, max_value=2**32), st.integers(min_value=1, max_value=80), st.sampled_from([0, -5, -25]))
def test_looking_at_places_finds_whom_looking_at_nodes_finds(seed: int, nodes: int, tx_power_dbm: float) -> None:
    """Every count of every node and its energy are the same, so every signal and every draw was."""
    scenario = wandering(seed, nodes, tx_power_dbm)
    by_node = totals_of(scenario)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(channel, "MOST_IN_A_TABLE", 0)
        assert totals_of(scenario) == by_node
    assert nodes == 1 or sum(by_node.counts["transmitted"]) > 0


@given(st.lists(st.integers(min_value=0, max_value=5), max_size=20))
def test_every_node_is_in_the_list_of_its_place(cells: list[int]) -> None:
    """And in no other."""
    first, after = occupants(np.array(cells, np.int64), places=6)
    for place in range(6):
        found, node = [], first[place]
        while node != NOBODY:
            found.append(node)
            node = after[node]
        assert sorted(found) == [node for node, cell in enumerate(cells) if cell == place]
