"""Nodes that their agents move in ns-3."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from roambus.bridge.backend import Backend
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.mobility.steered import Steered
from roambus.bridge.scenario.definition import Scenario
from roambus.extensions.ns3.tests.adapter import make_ns3
from roambus.python_protocol.simtime import MILLISECOND, SimTime
from roambus.testing.backend_case import Case
from tests.support.flights import Speaker, flying, rows_of
from tests.support.steering import LIMIT, SCRIPT, by_way, flown, node_moves, rounded

pytestmark = pytest.mark.ns3


def moved(delay: SimTime = 0) -> Scenario:
    """Five nodes that their agents move."""
    flight = flying(Steered(), processing_delay=delay, agent="flying", time_limit=LIMIT)
    return replace(flight, nodes=tuple(replace(node, mobility=Steered()) for node in flight.nodes))


def over_ns3(folder: Path, scenario: Scenario, stack: str = "lr-wpan", *, batching: bool = True) -> Backend:
    """Ns-3 in this folder."""
    return make_ns3(Case(folder, scenario, Speaker.messages), stack=stack, batching=batching)


@pytest.mark.parametrize("delay", [0, MILLISECOND])
@pytest.mark.parametrize("stack", ["lr-wpan", "wifi"])
def test_a_flight_by_commands_is_that_by_a_file(tmp_path: Path, stack: str, delay: SimTime) -> None:
    """The traces are equal, levels, positions and the radio's counts among them; without batching, too."""
    flight = moved(delay)
    rows, ways = flown(flight, over_ns3(tmp_path, flight, stack))
    assert flown(flight, over_ns3(tmp_path, flight, stack, batching=False))[0] == rows
    filed = by_way(flight, ways)
    assert rounded(rows) == rounded(rows_of(filed, Speaker, over_ns3(tmp_path, filed, stack)))


def test_nodes_go_as_on_the_embedded_radio(tmp_path: Path) -> None:
    """Starts, turns and rests in the traces are the same."""
    flight = moved()
    rows, _ = flown(flight, over_ns3(tmp_path, flight))
    by_radio, _ = flown(flight, RadioBackend(flight))
    for node in range(5):
        assert node_moves(rows, node) == node_moves(by_radio, node)
    assert len(node_moves(rows, 0)) > len(SCRIPT)
