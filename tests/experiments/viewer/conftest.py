"""Runs to look at, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.films import run_moving, run_tree


@pytest.fixture(scope="session")
def tree_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree's scenario with its record."""
    return run_tree(tmp_path_factory.mktemp("tree"), "--record")


@pytest.fixture(scope="session")
def moving_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MFT-PubSub on moving nodes, no record."""
    return run_moving(tmp_path_factory.mktemp("moving"), "mft")


@pytest.fixture(scope="session")
def other_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """AODV on the same moves."""
    return run_moving(tmp_path_factory.mktemp("other"), "aodv")
