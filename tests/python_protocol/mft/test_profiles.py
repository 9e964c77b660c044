"""The profiles of MFT-PubSub."""

from __future__ import annotations

import tomllib
from pathlib import Path

from roambus.python_protocol.mft.messages import MftParameters

ROOT = Path(__file__).parents[3]


def test_as_published_is_all_that_the_thesis_leaves_open() -> None:
    """The same as what the study of the thesis calls mft-published."""
    sweep = tomllib.loads((ROOT / "experiments/studies/thesis/explain-mft.toml").read_text(encoding="utf-8"))
    published = sweep["agents"]["mft-published"]["parameters"]
    assert MftParameters(profile="as_published") == MftParameters(**published, profile="as_published")
    assert all(getattr(MftParameters(profile="as_published"), name) is value for name, value in published.items())


def test_the_thesis_is_the_profile_unless_another_is_named() -> None:
    """It has every correction."""
    assert MftParameters(profile="thesis") == MftParameters()
