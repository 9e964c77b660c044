"""The link estimator: the transmissions that a frame is expected to take, from the signals of heartbeats."""

from __future__ import annotations

import pytest

from roambus.python_protocol.parts.election.by_quality import MOST_TRANSMISSIONS, LinkEstimator

NEAR, FAR = 2, 3
"""Two neighbours."""


def rounds(links: LinkEstimator, *signals: float | None) -> float:
    """What the link to NEAR is worth after a round with each of these signals, where None is a missed heartbeat."""
    for signal in signals:
        if signal is not None:
            links.heard(NEAR, signal)
        links.end_round()
    return links.transmissions(NEAR)


def test_a_link_of_which_nothing_is_known_is_the_worst() -> None:
    """Nobody makes a stranger a parent."""
    assert LinkEstimator().transmissions(NEAR) == MOST_TRANSMISSIONS


def test_a_strong_signal_has_to_be_heard_again_to_be_believed() -> None:
    """With each heartbeat the link is worth fewer transmissions, one in the end."""
    links = LinkEstimator()
    worth = [rounds(links, -70.0) for _ in range(8)]
    assert worth == sorted(worth, reverse=True)
    assert worth[0] > 1.2
    assert worth[-1] == pytest.approx(1, abs=0.01)


def test_a_weak_link_is_worth_more_than_a_strong_one() -> None:
    """At the signal that is needed every second frame is expected to be lost."""
    links = LinkEstimator()
    for _ in range(30):
        links.heard(NEAR, -80.0)
        links.heard(FAR, -91.8)
        links.end_round()
    assert links.transmissions(NEAR) == pytest.approx(1)
    assert links.transmissions(FAR) == pytest.approx(2, abs=0.1)


def test_a_steady_link_survives_collisions_and_one_that_varies_does_not() -> None:
    """Three heartbeats that are missed say that a node which moves has gone, and of one that rests nothing."""
    steady = rounds(LinkEstimator(), *[-84.0] * 40, None, None, None)
    varying = rounds(LinkEstimator(), *[-80.0, -88.0] * 20, None, None, None)
    assert steady < 1.5
    assert varying > 2


@pytest.mark.parametrize("signal", [-92.5, -91.5, -90.0])
def test_what_a_steady_link_is_worth_does_not_depend_on_what_it_loses(signal: float) -> None:
    """Once its signal is known: a link at the edge of range loses some, and is no other link for it."""
    links = LinkEstimator()
    known = rounds(links, *[signal] * 40)
    worth = [rounds(links, *missed, signal) for missed in ([None], [None] * 3, [None, signal, None], [None] * 10)]
    assert worth == pytest.approx([known] * 4, rel=0.01)


def test_a_link_that_is_heard_rarely_is_not_begun_anew_each_time() -> None:
    """One round in `MOST_TRANSMISSIONS` is enough to be known; who is silent for so many is a stranger."""
    links = LinkEstimator()
    known = rounds(links, *[-80.0] * 40)
    assert rounds(links, *[None] * (MOST_TRANSMISSIONS - 1)) == pytest.approx(known, rel=0.01)
    assert rounds(links, None) == MOST_TRANSMISSIONS


def test_a_link_that_failed_is_worth_a_transmission_less_for_a_while() -> None:
    """Each time that the neighbour was given up; most of it is forgotten after a few rounds."""
    links = LinkEstimator()
    known = rounds(links, *[-80.0] * 40)
    assert links.failed(NEAR)
    assert links.transmissions(NEAR) == pytest.approx(known + 1)
    assert links.failed(NEAR)
    assert links.transmissions(NEAR) == pytest.approx(known + 2)
    assert rounds(links, *[-80.0] * 10) == pytest.approx(known, abs=0.1)


def test_who_has_not_been_heard_lately_is_gone_if_its_link_fails() -> None:
    """A stranger, or who has missed more than two rounds."""
    links = LinkEstimator()
    assert not links.failed(NEAR)
    rounds(links, *[-80.0] * 40, None, None)
    assert links.failed(NEAR)
    rounds(links, None)
    assert not links.failed(NEAR)


def test_who_is_silent_for_long_is_forgotten() -> None:
    """It is a stranger again."""
    assert rounds(LinkEstimator(), -80.0, -86.0, -80.0, *[None] * 30) == MOST_TRANSMISSIONS
