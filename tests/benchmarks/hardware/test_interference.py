"""The interference of a place is fitted to some rounds of a recording, and what these cannot tell is said."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.hardware.fitting import Receiver
from benchmarks.hardware.interference import FRAME_S, fit, keys_of, rounds_of
from roambus.bridge.formats.recordings import ROW, Recording
from roambus.python_protocol.simtime import SECOND

TRUTH = Receiver(-94.0, 0.2, -60.0, 8.0)
ROUNDS, LINKS = 6, 4000


def recorded(truth: Receiver, weakest_dbm: float = -93.0) -> Recording:
    """Rounds of bursts at all strengths, an hour and a half apart; each takes half an hour."""
    random = np.random.default_rng(1)
    rows = np.zeros(ROUNDS * LINKS, ROW)
    rows["at"] = np.sort(random.uniform(0, 1800, (ROUNDS, LINKS)) + 5400 * np.arange(ROUNDS)[:, None]).ravel() * SECOND
    rows["rssi_dbm"] = random.uniform(weakest_dbm, -30, len(rows))
    rows["source"], rows["target"] = 0, 1
    rows["delivery"], rows["sent"] = random.binomial(100, truth.delivery(rows["rssi_dbm"])) / 100, 100
    return Recording("made", "", 0.0, "", (0, 1), rows)


def test_every_second_round_is_fitted() -> None:
    """A round is over when nobody has sent for a while, and not when the clock strikes."""
    number, fitted = rounds_of(recorded(TRUTH))
    assert np.bincount(number).tolist() == [LINKS] * ROUNDS
    assert fitted.tolist() == [0, 2, 4]


def test_what_a_recording_was_made_of_is_found_again() -> None:
    """Each number lies near, and nothing is degenerate."""
    found = fit(recorded(TRUTH), draws=10)
    assert found.receiver.noise_dbm == pytest.approx(TRUTH.noise_dbm, abs=0.3)
    assert found.receiver.busy == pytest.approx(TRUTH.busy, abs=0.01)
    assert found.receiver.interferer_dbm == pytest.approx(TRUTH.interferer_dbm, abs=0.7)
    assert list(found.degenerate()) == []


@pytest.mark.parametrize(
    ("truth", "weakest_dbm", "problem"),
    [
        (TRUTH, -70.0, "noise_dbm: at -70 dBm"),
        (TRUTH._replace(busy=0.0), -93.0, "above the noise are lost"),
    ],
)
def test_what_a_recording_cannot_tell_is_degenerate(truth: Receiver, weakest_dbm: float, problem: str) -> None:
    """Without weak bursts nobody knows the noise; without losses nobody knows with what they come."""
    (found,) = fit(recorded(truth, weakest_dbm), draws=10).degenerate()
    assert problem in found


def test_a_noise_that_is_given_is_not_fitted() -> None:
    """It is what it was said to be, and no problem."""
    found = fit(recorded(TRUTH, -70.0), TRUTH.noise_dbm, draws=10)
    assert found.receiver.noise_dbm == TRUTH.noise_dbm
    assert list(found.degenerate()) == []


def test_the_keys_hit_as_many_frames() -> None:
    """Pause and length are such that a frame of the testbeds meets a burst as often."""
    keys = keys_of(TRUTH, 2.0)
    pause, length = 1 / float(keys["interference"]), float(keys["interference_length"]) / 1000
    assert 1 - pause / (pause + length) * math.exp(-FRAME_S / pause) == pytest.approx(TRUTH.busy, abs=1e-3)
