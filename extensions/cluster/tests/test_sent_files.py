"""A plan is sent with the files that its ini names."""

from __future__ import annotations

import shutil
from pathlib import Path

from roambus.bridge.backends.ideal.backend import IdealFactory
from roambus.bridge.runs.run import execute
from roambus.extensions.cluster.cluster import send
from tests.bridge.runs.test_movement_runs import MOVES, Write, moves, write  # noqa: F401  # a fixture


def test_a_cluster_is_sent_the_file(write: Write, tmp_path: Path) -> None:  # noqa: F811  # the fixture
    """The plan that executors get does not need the user's folder."""
    plan = write()
    (tmp_path / "workspace").mkdir()
    sent = send(plan, tmp_path / "workspace")
    shutil.rmtree(tmp_path / "ways")
    execute(sent, IdealFactory())
    assert moves(sent, 0) == MOVES
