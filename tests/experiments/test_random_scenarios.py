"""Nodes that start in the steady state of random waypoint are where nodes are that have long been moving."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from roambus.bridge.mobility.paths import path, positions
from roambus.bridge.mobility.random_waypoint import RandomWaypoint
from roambus.experiments.random_scenarios import Start, drawn_interests, steady_starts
from roambus.python_protocol.simtime import SECOND

SIDE, SPEED, NODES = 110.0, 8.0, 3000
FIELD = (SIDE, SIDE)
Places = NDArray[np.float64]


def places_at(starts: Sequence[Start], times_s: Sequence[float], pause_s: float = 0) -> list[Places]:
    """Where the nodes are at these times, as the embedded radio moves them."""
    paths = [
        path(
            RandomWaypoint(
                SPEED,
                round(pause_s * SECOND),
                first_x=start.to_x,
                first_y=start.to_y,
                first_pause=round(start.pause * SECOND),
            ),
            (start.x, start.y),
            FIELD,
            round(max(times_s) * SECOND),
            np.random.SeedSequence(number),
        )
        for number, start in enumerate(starts)
    ]
    return [np.array([positions(points, np.array([time]))[0] for points in paths]) for time in times_s]


def in_the_middle(places: Places) -> float:
    """The share of nodes in the middle ninth of the field."""
    return float(np.mean(np.all(np.abs(places - SIDE / 2) < SIDE / 6, axis=1)))


def share_error(share: float, nodes: int = NODES) -> float:
    """Four standard errors of the difference of two shares of so many nodes."""
    return 4 * float(np.sqrt(2 * share * (1 - share) / nodes))


def uniform_starts() -> list[Start]:
    random = np.random.default_rng(1)
    return [Start(*random.uniform(0, SIDE, 2)) for _ in range(NODES)]


def test_the_middle_is_as_dense_at_the_start_as_ever_after() -> None:
    """Twice as dense as with uniform starts; these come there only with time, which the same measure shows."""
    steady = [in_the_middle(places) for places in places_at(steady_starts(1, NODES, SIDE, SPEED), [0, 2, 7, 200])]
    uniform = [in_the_middle(places) for places in places_at(uniform_starts(), [0, 200])]
    error = share_error(steady[-1])
    assert steady == pytest.approx([steady[-1]] * 4, abs=error)
    assert uniform[1] == pytest.approx(steady[-1], abs=error)
    assert uniform[0] == pytest.approx(1 / 9, abs=error)
    assert steady[0] > uniform[0] + 2 * error


def test_the_density_is_that_of_one_node_over_a_long_time() -> None:
    """On a grid of 5 x 5, the share of 3,000 starts in each cell is that of the time of nodes that move for hours."""
    edges = np.linspace(0, SIDE, 6)
    starts = np.array([(start.x, start.y) for start in steady_starts(2, NODES, SIDE, SPEED)])
    moving = [
        path(RandomWaypoint(SPEED), (5.0, 5.0), FIELD, 40_000 * SECOND, np.random.SeedSequence(n)) for n in (1, 2)
    ]
    times = np.arange(100, 40_000, 1.0)
    long = np.concatenate([positions(points, times) for points in moving])
    at_start, in_time = (
        np.histogram2d(places[:, 0], places[:, 1], bins=[edges, edges])[0] / len(places) for places in (starts, long)
    )
    error = 4 * np.sqrt(in_time * (1 - in_time) / NODES) + 0.004
    assert np.all(np.abs(at_start - in_time) < error)
    assert in_time[2, 2] > 2.5 * in_time[0, 0]


@pytest.mark.parametrize("pause", [2.0, 30.0])
def test_with_pauses_as_many_rest_at_the_start_as_ever_after(pause: float) -> None:
    """The share is that of pauses in a node's time; of those who rest as many are in the middle as anywhere."""
    starts = steady_starts(3, NODES, SIDE, SPEED, pause)
    resting = [start for start in starts if start.pause]
    expected = pause / (pause + 0.521405 * SIDE / SPEED)
    assert len(resting) / NODES == pytest.approx(expected, abs=share_error(expected))
    assert np.mean([start.pause for start in resting]) == pytest.approx(pause / 2, abs=pause / len(resting) ** 0.5 * 2)
    before, after = (places_at(starts, [at, at + 0.01], pause) for at in (0, 150))
    rest = [np.mean(np.hypot(*(late - early).T) < 0.001) for early, late in (before, after)]
    assert rest == pytest.approx([expected] * 2, abs=share_error(expected) + 0.002)


def test_a_node_goes_on_towards_the_destination_of_its_way() -> None:
    """From the first moment at the given speed, straight."""
    starts = steady_starts(4, 50, SIDE, SPEED)
    begin, later = places_at(starts, [0, 0.1])
    for start, here, there in zip(starts, begin, later, strict=True):
        ahead = np.array([start.to_x, start.to_y]) - here
        if np.hypot(*ahead) > SPEED * 0.1:
            assert there - here == pytest.approx(ahead / np.hypot(*ahead) * SPEED * 0.1)


def test_a_seed_gives_the_same_starts_and_another_gives_others() -> None:
    """Also another number of nodes: a larger network is not a smaller one with more nodes."""
    assert steady_starts(1, 5, SIDE, SPEED) == steady_starts(1, 5, SIDE, SPEED)
    assert steady_starts(1, 5, SIDE, SPEED) != steady_starts(2, 5, SIDE, SPEED)
    assert steady_starts(1, 5, SIDE, SPEED) != steady_starts(1, 6, SIDE, SPEED)[:5]


@pytest.mark.parametrize(("side", "speed", "pause"), [(0, 8, 0), (-1, 8, 0), (110, 0, 0), (110, 8, -1)])
def test_what_has_no_steady_state_is_refused(side: float, speed: float, pause: float) -> None:
    """Fields without extent, nodes without speed, and negative pauses."""
    with pytest.raises(ValueError, match="steady state: side"):
        steady_starts(1, 2, side, speed, pause)


def interests(seed: int = 1, subscribers: int = 32, share: float = 1.0, each: int = 0) -> list[list[str]]:
    """The topics of 16 that each subscriber wants; the first ones are wanted most if each wants so many."""
    drawn = drawn_interests(
        seed=seed, subscribers=subscribers, topics=16, share=share, each=each, exponent=1.0 if each else 0.0
    )
    return [wanted.split("; ") for wanted in drawn]


def test_each_topic_is_wanted_by_its_share_of_the_subscribers() -> None:
    """They are drawn anew for each topic, and somebody who wants none has an empty text."""
    drawn = interests(share=1 / 16)
    for topic in range(16):
        assert sum(f"topic = 't{topic}'" in wanted for wanted in drawn) == 2
    assert len(set(map(tuple, drawn))) > 8
    assert [""] in drawn
    assert drawn != interests(2, share=1 / 16)


def test_each_subscriber_wants_its_number_of_topics() -> None:
    """By Zipf's law more of them want the first topic than the last."""
    drawn = interests(subscribers=200, each=3)
    assert {len(set(wanted)) for wanted in drawn} == {3}
    first, last = (sum(f"topic = 't{topic}'" in wanted for wanted in drawn) for topic in (0, 15))
    assert first > 2 * last


@pytest.mark.parametrize(("share", "each"), [(1.5, 0), (1, 17)])
def test_interest_that_cannot_be_is_refused(share: float, each: int) -> None:
    """Nobody wants more topics than there are."""
    with pytest.raises(ValueError, match="interest is a share"):
        interests(share=share, each=each)
