"""Places and ways on a field."""

from __future__ import annotations

from itertools import pairwise
from math import dist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.mobility.given_way import GivenWay
from roambus.bridge.transcript.network import Place, Ways, parse_measure, parse_place
from roambus.python_protocol.simtime import SECOND

SPEED = 5.0
coordinates = st.integers(0, 200).map(float)
places = st.builds(Place, coordinates, coordinates)
walks = st.lists(st.tuples(st.integers(0, 30), places), max_size=6)


def test_a_place_and_a_measure_are_read() -> None:
    """Metres, and metres a second."""
    assert parse_place("20,7.5") == (20, 7.5)
    assert parse_place("448251.6,5411932.5") == (448251.6, 5411932.5)
    assert parse_measure("30m", "m") == 30
    assert parse_measure("1.5m/s", "m/s") == 1.5


@pytest.mark.parametrize("text", ["", "20", "20,", "-1,5", "nan,1", "1e9,1", "20, 5", "12345678,1"])
def test_what_is_no_place_is_refused(text: str) -> None:
    """With an example."""
    with pytest.raises(ValueError, match=r"not a place such as 20,7\.5"):
        parse_place(text)


@pytest.mark.parametrize("text", ["", "30", "0m", "30m/s", "30 m", "inf m"])
def test_what_is_no_range_is_refused(text: str) -> None:
    """With an example."""
    with pytest.raises(ValueError, match="not a measure such as 30m"):
        parse_measure(text, "m")


@given(places, walks)
def test_who_walks_is_never_faster_than_told_and_arrives(start: Place, walks: list[tuple[int, Place]]) -> None:
    """Wherever it is sent on the way."""
    ways, now, end = Ways({0: start}, SPEED), 0, 0
    for pause, place in walks:
        now += pause * SECOND
        end = now + ways.walk(0, place, now)
    way = ways.mobility(0)
    assert isinstance(way, GivenWay)
    points = way.points
    assert points[0].time_s == 0
    assert points[0][1:] == start
    for behind, ahead in pairwise(points):
        assert dist(behind[1:], ahead[1:]) <= SPEED * (ahead.time_s - behind.time_s) + 1e-6
    assert dist(ways.place(0, end / SECOND + 1e-6), walks[-1][1] if walks else start) < 1e-6


@given(places, walks, st.floats(0, 200))
def test_a_way_is_not_changed_by_what_comes_later(start: Place, walks: list[tuple[int, Place]], at_s: float) -> None:
    """Where a node was before a command it still was afterwards."""
    ways, now = Ways({0: start}, SPEED), 0
    for pause, place in walks:
        now += pause * SECOND
        moment = min(at_s, now / SECOND)
        before = ways.place(0, moment)
        ways.walk(0, place, now)
        assert dist(ways.place(0, moment), before) < 1e-6
