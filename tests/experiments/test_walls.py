"""Maps of walls: which ways they concern, and what a map's reader makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus import UserError, wall_losses
from roambus.bridge.formats.ini.radio import read_losses


def test_ways_through_a_wall_lose_what_the_wall_takes(tmp_path: Path) -> None:
    """Two of three nodes have it between them; the way that passes beside it is left out, and drawn as ever."""
    walls = tmp_path / "walls.csv"
    walls.write_text("# x1, y1, x2, y2, dB\n5, 0, 5, 10, 12\n5,0,5,1,100\n")
    losses = read_losses(wall_losses(walls, tmp_path / "map.txt", places=[(0, 5), (10, 5), (0, 17)]), "nodes", 3)
    assert list(zip(losses.sources, losses.targets, strict=True)) == [(0, 1), (1, 0)]
    assert losses.losses_db == pytest.approx([55 + 24 + 12] * 2)


def test_cells_count_by_their_middles(tmp_path: Path) -> None:
    """A wall on the corners of cells parts a field of 10 m x 5 m into its two cells."""
    (tmp_path / "walls.csv").write_text("5,0,5,5,10\n")
    text = wall_losses(tmp_path / "walls.csv", tmp_path / "map.txt", field=(10, 5)).read_text()
    assert text == "0>1:81.78\n1>0:81.78\n"


def test_a_mistake_in_the_walls_is_named(tmp_path: Path) -> None:
    """By file and line; and places are either nodes or cells."""
    walls = tmp_path / "walls.csv"
    walls.write_text("5,0,5,5\n")
    with pytest.raises(UserError, match=r"walls.csv:1: a wall is x1,y1,x2,y2,loss_db"):
        wall_losses(walls, tmp_path / "map.txt", field=(10, 5))
    with pytest.raises(UserError, match="give the places of static nodes, or the field"):
        wall_losses(walls, tmp_path / "map.txt")
