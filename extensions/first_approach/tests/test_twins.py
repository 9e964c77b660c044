"""Two protocols, or two values of a parameter, under one network and its commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.places import ROOT
from tests.support.transcripts import FOLDER, check_twins

HERE, CORE = Path(__file__).parent / FOLDER, ROOT / "tests" / FOLDER


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (HERE / "figure_1d.txt", CORE / "mft_figure_1d.txt"),
        (HERE / "figure_1d.txt", HERE / "figure_1d_connected_only_off.txt"),
        (HERE / "first_approach_phantom.txt", CORE / "mft_no_phantom.txt"),
        (HERE / "first_approach_there_and_back.txt", CORE / "mft_there_and_back.txt"),
    ],
    ids=lambda path: path.stem,
)
def test_twins_differ_by_their_agent_only(first: Path, second: Path) -> None:
    """So what differs in their outputs comes from that."""
    check_twins(first, second)
