"""A command's unfinished work goes with it; what a killed command left goes with the next one."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.experiments.sweeps.attempts import LOCK_FILE, PREFIX, is_shared, workspace


def test_the_folder_is_gone_at_the_end(tmp_path: Path) -> None:
    """With what is in it."""
    with workspace(tmp_path) as folder:
        (folder / "half").mkdir()
    assert list(tmp_path.iterdir()) == []


def test_whoever_is_still_at_work_cannot_go_on(tmp_path: Path) -> None:
    """Nobody makes the folder again."""
    with workspace(tmp_path) as folder:
        pass
    with pytest.raises(FileNotFoundError):
        (folder / "late").mkdir()


def test_what_a_killed_command_left_is_removed(tmp_path: Path) -> None:
    """Its lock has ended with it; perhaps it had not come so far as to have one."""
    for name in ("killed", "killed-early"):
        (tmp_path / f"{PREFIX}{name}" / "half").mkdir(parents=True)
    (tmp_path / f"{PREFIX}killed" / LOCK_FILE).touch()
    with workspace(tmp_path) as folder:
        assert list(tmp_path.iterdir()) == [folder]


def test_another_command_at_work_is_left_alone(tmp_path: Path) -> None:
    """Two sweeps can add to the same results at the same time, and the second one is told."""
    assert not is_shared(tmp_path)
    with workspace(tmp_path) as first:
        assert is_shared(tmp_path)
        with workspace(tmp_path) as second:
            assert {first, second} == set(tmp_path.iterdir())
        assert first.is_dir()
