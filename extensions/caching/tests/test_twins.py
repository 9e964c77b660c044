"""The ways of caching, under the network and commands of figure 3."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.transcripts import FOLDER, check_twins

HERE = Path(__file__).parent / FOLDER


@pytest.mark.parametrize("way", ["reactive", "proactive", "none"])
def test_the_ways_of_caching_differ_by_their_parameter_only(way: str) -> None:
    """So what differs in their outputs comes from that."""
    check_twins(HERE / "caching_figure_3_both.txt", HERE / f"caching_figure_3_{way}.txt")
