"""Strangers at the socket of a run change nothing; `benchmarks.trials strangers` lets thousands come."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from benchmarks.trials.strangers import DOORS, Terms, conduct, undisturbed
from roambus.extensions.ns3.tests.adapter import ns3
from tests.support import omnet

pytestmark = pytest.mark.slow

SECONDS = 60
"""How long the runs are, in simulated time: about half a second."""

BUILT = {"stand-in": omnet.stand_in, "castalia": omnet.castalia, "ns3": ns3}


@pytest.fixture(
    scope="module",
    params=[
        "stand-in",
        pytest.param("castalia", marks=pytest.mark.castalia),
        pytest.param("ns3", marks=pytest.mark.ns3),
    ],
)
def terms(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Terms:
    """A simulator, and the trace of a run of it to which nobody comes."""
    BUILT[request.param]()
    wanted = undisturbed(tmp_path_factory.mktemp("quiet"), request.param, SECONDS)
    return Terms(request.param, SECONDS, wanted, waiting=150)


@pytest.mark.parametrize("over", DOORS)
def test_strangers_change_nothing(over: str, terms: Terms, tmp_path: Path) -> None:
    """The trace is the same, byte for byte, and memory and file descriptors are given back."""
    episode = conduct(tmp_path / "run", over, Random(1), terms)
    assert terms.wanted
    assert episode.faults == []
    assert episode.visits.total() > 150
