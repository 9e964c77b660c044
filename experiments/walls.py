"""Path losses of walls: a map for `--set path_losses=FILE`, from line segments with a loss each.

A way that crosses walls has the mean loss of the channel's law at its length, plus the walls' losses. The map leaves
out all other ways, which are drawn as without a map. Cells count by their middles, because walls often lie on corners.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.scenario.radio import ChannelSettings
from roambus.bridge.system.errors import UserError, mistakes_at
from roambus.bridge.system.files import read_lines

_COLUMNS = 5
_MOST_DB = 1000

Point = tuple[float, float]


def wall_losses(  # noqa: PLR0913  # each is a fact of the map
    walls: Path | str,
    out: Path | str,
    *,
    places: Sequence[Point] = (),
    field: Point | None = None,
    channel: ChannelSettings | None = None,
    law: LogDistance | None = None,
) -> Path:
    """Write the map of the CSV `walls` (x1, y1, x2, y2 in metres, dB), and return it.

    Static nodes have `places`; where nodes move, give the `field`'s sides, and its cells are the places. Raises
    UserError naming file and line, OSError.
    """
    law, cells, (width, height) = law or LogDistance(), channel or ChannelSettings(), field or (0.0, 0.0)
    columns, rows = math.ceil(width / cells.x_cell_m), math.ceil(height / cells.y_cell_m)
    middles = [((x + 0.5) * cells.x_cell_m, (y + 0.5) * cells.y_cell_m) for y in range(rows) for x in range(columns)]
    if bool(places) == bool(middles):
        raise UserError("give the places of static nodes, or the field in whose cells nodes move")
    at = np.array(places or middles, dtype=float)
    crossed = np.zeros((len(at), len(at)))
    for start, end, loss_db in _read(Path(walls)):
        crossed += loss_db * _crosses(at, start, end)
    metres = np.maximum(np.hypot(*np.moveaxis(at[:, None] - at, 2, 0)), law.d0_m)
    losses = law.pl_d0_db + 10 * law.path_loss_exponent * np.log10(metres / law.d0_m) + crossed
    ways = (
        f"{source}>{','.join(f'{target}:{min(losses[source, target], _MOST_DB):.2f}' for target in targets)}\n"
        for source in range(len(at))
        if (targets := np.flatnonzero(crossed[source]).tolist())
    )
    Path(out).write_text("".join(ways), encoding="utf-8")
    return Path(out)


def _read(walls: Path) -> list[tuple[Point, Point, float]]:
    found = []
    for number, line in read_lines(walls):
        with mistakes_at(f"{walls}:{number}"):
            texts = line.split(",")
            if len(texts) != _COLUMNS:
                raise ValueError("a wall is x1,y1,x2,y2,loss_db: its ends in metres, and its loss")
            x1, y1, x2, y2, loss_db = map(float, texts)
            if not (all(map(math.isfinite, (x1, y1, x2, y2))) and 0 < loss_db <= _MOST_DB):
                raise ValueError(f"ends are numbers, and a loss is above 0 and at most {_MOST_DB} dB")
            found.append(((x1, y1), (x2, y2), loss_db))
    return found


def _crosses(at: NDArray[np.float64], start: Point, end: Point) -> NDArray[np.bool_]:
    """Whether the way between each two places crosses the wall."""
    along, to_start, to_end = at[None] - at[:, None], np.subtract(start, at), np.subtract(end, at)
    beyond = _turn(np.subtract(end, start), at - np.asarray(start)) > 0
    turns = _turn(along, to_start[:, None]) * _turn(along, to_end[:, None])
    return np.asarray((beyond[:, None] != beyond) & (turns <= 0))


def _turn(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
