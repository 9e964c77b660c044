"""GPSR's walks over unit disks: planar graphs, the right-hand rule and changes of faces together."""

from __future__ import annotations

from itertools import islice

import pytest

from roambus.extensions.routing.tests.walks import connected, walks


@pytest.mark.parametrize("planarization", ["rng", "gg"])
def test_every_pair_of_a_connected_graph_is_joined_by_a_walk(planarization: str) -> None:
    """Places are real numbers, and messages round them; `benchmarks.gpsr_walks` walks over 2,000 graphs."""
    ends = [end for places in islice(connected(), 40) for end, _ in walks(places, planarization)]
    assert len(ends) > 1000
    assert {end for end in ends if isinstance(end, str)} == set()
