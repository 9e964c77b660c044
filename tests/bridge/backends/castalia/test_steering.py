"""A simulator at the other end of the wire moves nodes as their agents say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.mobility.steered import Steered
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.support.flights import Row, Speaker, flying, rows_of
from tests.support.steering import FLYING, LIMIT, REACH_M, by_way, flown, node_moves, over_stand_in, rounded


def moved(delay: SimTime) -> Scenario:
    """Five nodes that their agents move."""
    flight = flying(Steered(), processing_delay=delay, agent="flying", time_limit=LIMIT)
    return replace(flight, nodes=tuple(replace(node, mobility=Steered()) for node in flight.nodes))


@pytest.mark.parametrize("delay", [0, MILLISECOND])
def test_a_flight_by_commands_is_that_by_a_file(tmp_path: Path, delay: SimTime) -> None:
    """The traces are equal, arrivals, levels and positions among them; and so they are however Steps travel."""
    flight = moved(delay)
    rows, ways = flown(flight, over_stand_in(tmp_path, flight))
    for differently in (
        over_stand_in(tmp_path, flight, batching=False),
        over_stand_in(tmp_path, flight, lookahead=False),
        over_stand_in(tmp_path, flight, moves=True),
    ):
        assert flown(flight, differently)[0] == rows
    filed = by_way(flight, ways)
    by_file = rows_of(filed, Speaker, over_stand_in(tmp_path, filed, moves=True))
    assert rounded(without_moves(rows)) == rounded(by_file)


def test_nodes_meet_as_on_ideal_links(tmp_path: Path) -> None:
    """The same messages are heard at the same times, if a node's reach is the same."""
    flight = moved(0)
    over_wire, _ = flown(flight, over_stand_in(tmp_path, flight))
    reaching = replace(flight, ideal=IdealLinks(range_m=REACH_M))
    assert heard(over_wire) == heard(flown(reaching, make_ideal(reaching))[0])


@pytest.mark.parametrize("delay", [0, MILLISECOND])
@pytest.mark.parametrize("kind", [FaultKind.CRASH, FaultKind.FREEZE])
def test_a_node_that_fails_on_its_way_goes_as_on_ideal_links(tmp_path: Path, delay: SimTime, kind: FaultKind) -> None:
    """It stops at its crash, and goes on while it is frozen; simulator and host agree on the time of each course."""
    faults = (Fault(2 * SECOND, 0, kind), Fault(6 * SECOND, 0, FaultKind.RECOVER))
    flight = replace(moved(delay), faults=faults, ideal=IdealLinks(range_m=REACH_M))
    rows = rows_of(flight, FLYING, over_stand_in(tmp_path, flight))
    for differently in (
        over_stand_in(tmp_path, flight, batching=False),
        over_stand_in(tmp_path, flight, lookahead=False),
    ):
        assert rows_of(flight, FLYING, differently) == rows
    ideal = rows_of(flight, FLYING, make_ideal(flight))
    assert node_moves(rows, 0) == node_moves(ideal, 0)
    held = kind is FaultKind.FREEZE  # ideal links keep what arrives at a frozen node
    assert heard(rows, but=[0] * held) == heard(ideal, but=[0] * held)


def without_moves(rows: Sequence[Row]) -> list[Row]:
    """The rows that the stand-in has, too."""
    return [row for row in rows if row["event"] != "move"]


def heard(rows: Sequence[Row], but: Sequence[int] = ()) -> list[object]:
    """Times, receivers and senders."""
    hears = (row for row in rows if row["event"] == "hear" and row["node"] not in but)
    return [(row["time_s"], row["node"], row["peer"]) for row in hears]
