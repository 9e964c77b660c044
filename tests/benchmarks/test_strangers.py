"""Strangers at the socket of a run change nothing; `benchmarks.trials strangers` lets thousands come."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from benchmarks.trials.strangers import DOORS, Terms, conduct, undisturbed

pytestmark = pytest.mark.slow

SECONDS = 60
"""How long the runs are, in simulated time: about half a second."""


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory, stand_in: Path) -> bytes:
    """The trace of a run to which nobody comes."""
    return undisturbed(tmp_path_factory.mktemp("quiet"), SECONDS)


@pytest.mark.parametrize("over", DOORS)
def test_strangers_change_nothing(over: str, wanted: bytes, tmp_path: Path) -> None:
    """The trace is the same, byte for byte, and memory and file descriptors are given back."""
    episode = conduct(tmp_path / "run", over, Random(1), Terms(SECONDS, wanted, waiting=150))
    assert wanted
    assert episode.faults == []
    assert episode.visits.total() > 150
