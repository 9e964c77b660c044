"""Unit disk: links are up exactly while two nodes are in range, on the way-points of the embedded radio."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.backends.ideal import graph
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.ideal.graph import contacts, disk_changes, reach_m
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.mobility.line import Line
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.mobility.paths import Path, positions
from roambus.bridge.mobility.random_waypoint import RandomWaypoint
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.plans import LinkChange
from roambus.bridge.scenario.propagation import LogDistance
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import MICROSECOND, SECOND
from roambus.testing.backend_case import Conforming, Marker, send
from tests.support.scenarios import scenario

STILL: Path = [WayPoint(0, 0, 0)]
PASSING: Path = [WayPoint(0, -20, 6), WayPoint(40, 20, 6)]
"""Passes a node at the origin at a metre a second, 6 m away; within 10 m for 16 s."""


def test_a_node_that_passes_by_is_in_contact_while_in_range() -> None:
    """From 8 m before the nearest point to 8 m behind it: by Pythagoras."""
    assert contacts([STILL, PASSING], [(0, 1)], [10], 60 * SECOND) == [[(12 * SECOND, 28 * SECOND)]]


def test_a_node_that_passes_too_far_away_is_never_in_contact() -> None:
    """The nearest point is out of range."""
    assert contacts([STILL, PASSING], [(0, 1)], [5.9], 60 * SECOND) == [[]]


def test_a_contact_goes_on_over_way_points() -> None:
    """A turn within the range, and a rest there, are no new contact."""
    back_and_rest: Path = [WayPoint(0, -20, 0), WayPoint(20, 0, 0), WayPoint(23, 0, 0), WayPoint(43, -20, 0)]
    assert contacts([STILL, back_and_rest], [(0, 1)], [10], 60 * SECOND) == [[(10 * SECOND, 33 * SECOND)]]


@pytest.mark.parametrize("few", [graph.FEW, 0])
def test_a_node_that_jumps_is_in_contact_from_the_jump_to_the_next(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At way-points of one time it is at the last; on the way there it has been nowhere else."""
    monkeypatch.setattr(graph, "FEW", few)
    before = [WayPoint(0, 90, 0), WayPoint(8, 90, 0), WayPoint(8, 5, 0), WayPoint(20, 5, 0), WayPoint(20, -90, 0)]
    jumps: Path = [*before, WayPoint(30, -20, 0), WayPoint(31, 20, 0), WayPoint(31, 500, 0)]
    changes = [LinkChange(8 * SECOND, 0, 1, up=True), LinkChange(20 * SECOND, 0, 1, up=False)]
    changes += [LinkChange(30_250_000_000, 0, 1, up=True), LinkChange(30_750_000_000, 0, 1, up=False)]
    assert disk_changes([STILL, jumps], [10, 10], 60 * SECOND) == changes


def test_nodes_at_rest_are_in_contact_always_or_never() -> None:
    """The very range is in range."""
    other: Path = [WayPoint(0, 6, 8)]
    assert contacts([STILL, other], [(0, 1)], [10], SECOND) == [[(0, SECOND)]]
    assert contacts([STILL, other], [(0, 1)], [9.99], SECOND) == [[]]


def test_the_shorter_reach_of_two_nodes_decides() -> None:
    """A link goes both ways or not at all; it does not go down with the run."""
    paths = [STILL, PASSING, [WayPoint(0, 0, 1)]]
    assert disk_changes(paths, [10, 20, 0.5], 60 * SECOND) == [
        LinkChange(12 * SECOND, 0, 1, up=True),
        LinkChange(28 * SECOND, 0, 1, up=False),
    ]
    assert disk_changes(paths, [10, 1, 1], 60 * SECOND) == [LinkChange(0, 0, 2, up=True)]


COORDINATE = st.integers(-30, 30).map(float)
LEGS = st.lists(st.tuples(st.floats(0.5, 9), COORDINATE, COORDINATE), min_size=1, max_size=6)


def path_of(legs: list[tuple[float, float, float]]) -> Path:
    times = np.cumsum([0.0, *(lasts for lasts, _, _ in legs[1:])]).tolist()
    return [WayPoint(time, x, y) for time, (_, x, y) in zip(times, legs, strict=True)]


@settings(max_examples=60, deadline=None)
@given(LEGS, LEGS, st.floats(1, 40))
def test_contacts_are_when_the_distance_is_within_the_range(
    first: list[tuple[float, float, float]], second: list[tuple[float, float, float]], range_m: float
) -> None:
    """At any time but within a microsecond of a crossing; contacts come in order and do not touch."""
    first_path, second_path = path_of(first), path_of(second)
    spans = contacts([first_path, second_path], [(0, 1)], [range_m], 30 * SECOND)[0]
    edges = [at for span in spans for at in span]
    assert edges == sorted(set(edges))
    times = np.arange(0, 30 * SECOND, 30 * SECOND // 997)
    apart = positions(first_path, times / SECOND) - positions(second_path, times / SECOND)
    for at, distance in zip(times.tolist(), np.hypot(*apart.T).tolist(), strict=True):
        if all(abs(at - edge) > MICROSECOND for edge in edges) and not math.isclose(distance, range_m, rel_tol=1e-9):
            assert any(up <= at < down for up, down in spans) == (distance <= range_m)


def moving(*nodes: NodeSettings, range_m: float = 10.0) -> Scenario:
    described = scenario([Role.NONE] * len(nodes), time_limit=60 * SECOND, ideal=IdealLinks(range_m=range_m))
    return replace(described, nodes=nodes, channel=replace(described.channel, only_static_nodes=False))


def test_frames_go_while_nodes_are_in_range() -> None:
    """A node passes another one to and fro."""
    described = moving(NodeSettings((20, 0)), NodeSettings((0, 6), Line(40, 6, speed_mps=1)))
    backend = Conforming(make_ideal(described))
    backend.open()
    times = range(1, 60, 2)
    sends = [send(0, at, at * SECOND, 1) for at in times]
    backend.advance([], 0)
    while backend.advance(sends, None) is not None:
        sends = []
    backend.close()
    heard = [delivery.message.number for _, delivery in backend.heard if isinstance(delivery.message, Marker)]
    assert heard == [at for at in times if 12 <= at < 28 or at >= 52]


def test_nodes_move_as_over_the_radio() -> None:
    """The same seed gives the same way-points, which are in the totals."""
    wandering = NodeSettings(mobility=RandomWaypoint(speed_mps=5))
    described = moving(*[wandering] * 6)
    ideal, radio = Conforming(make_ideal(described)), Conforming(RadioBackend(described))
    totals = []
    for backend in (ideal, radio):
        backend.open()
        assert backend.advance([], None) is None
        totals.append(backend.close().moves)
    assert totals[0] == totals[1]
    assert len(totals[0]) > 12


def test_the_default_range_is_where_sensitivity_is_reached() -> None:
    """0 dBm less 95 dB of mean path loss at 46 m; a weaker node reaches less far, a given range is for all."""
    described = moving(NodeSettings(), NodeSettings(tx_power_dbm=-10), range_m=0)
    law = LogDistance()
    for node in described.nodes:
        distance = reach_m(described, node)
        loss = law.pl_d0_db + 10 * law.path_loss_exponent * math.log10(distance / law.d0_m)
        assert node.tx_power_dbm - loss == pytest.approx(described.radio.sensitivity_dbm)
    assert reach_m(described, described.nodes[0]) == pytest.approx(46.4, abs=0.1)
    assert reach_m(moving(NodeSettings(tx_power_dbm=-10)), NodeSettings()) == 10


@pytest.mark.parametrize("legs", [0, 4])
def test_the_links_are_those_of_all_pairs(legs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among many nodes only pairs that come near are looked at, whatever their ways and reaches."""
    draw = np.random.default_rng(legs).uniform
    ways = [
        [WayPoint(13.7 * leg * draw(0.9, 1), draw(0, 300), draw(0, 300)) for leg in range(int(draw(1, legs + 2)))]
        for _ in range(graph.FEW)
    ]
    reaches = draw(1, 40, len(ways)).tolist()
    near = disk_changes(ways, reaches, 40 * SECOND)
    monkeypatch.setattr(graph, "FEW", len(ways) + 1)
    assert near == disk_changes(ways, reaches, 40 * SECOND)
    assert len(near) >= 20
