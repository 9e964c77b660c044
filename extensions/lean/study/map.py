"""A map of the best agents: panels of cells, each with an agent's colour and a few words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from roambus.experiments.figures.figure import OwnFigure
from roambus.experiments.figures.style import FigureStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

_SIDE = 0.5
"""Half a cell's side."""
_TINT, _NOBODY = 0.45, "#EEEEEE"
"""The strength of colour in an agent's cell, so that text stays legible, and an empty cell's colour."""
_LETTERS, _HATCHES = 0.75, 16
"""The relative letter size in cells, and the lines of a hatch."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A map's field: its agent ("" for none), its text, and whether it is sure."""

    agent: str
    words: tuple[str, ...]
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class MapFigure(OwnFigure):
    """A map of the best agents: for each panel, cells at places (x, y)."""

    x_values: tuple[str, ...]
    y_values: tuple[str, ...]
    panels: Mapping[str, Mapping[tuple[str, str], Cell]]
    intervals: str
    """The meaning of words, colours and hatching."""

    def picture(self, style: FigureStyle) -> Picture:
        """Place panels side by side, or one below the other without room, each as large as a figure."""
        from matplotlib.figure import Figure as Picture  # noqa: PLC0415  # who reads the study draws nothing

        width, height = style.size
        count = len(self.panels)
        rows, columns = (count, 1) if style.is_narrow else (1, count)
        picture = Picture(figsize=(width * columns, height * rows), layout="constrained")
        for position, (title, cells) in enumerate(self.panels.items(), start=1):
            axes = picture.add_subplot(rows, columns, position)
            axes.set_title(title, loc="left")
            axes.set_xlabel(self.x_title)
            axes.set_ylabel(self.y_title)
            axes.set_xticks(range(len(self.x_values)), self.x_values)
            axes.set_yticks(range(len(self.y_values)), self.y_values)
            axes.set_xlim(-_SIDE, len(self.x_values) - _SIDE)
            axes.set_ylim(-_SIDE, len(self.y_values) - _SIDE)
            axes.grid(visible=False)
            for (x, y), cell in cells.items():
                _plot_cell(cell, axes, self.x_values.index(x), self.y_values.index(y), style)
        return picture


def _plot_cell(cell: Cell, axes: Axes, x: int, y: int, style: FigureStyle) -> None:
    from matplotlib import patches  # noqa: PLC0415  # as above

    from roambus.experiments.figures import drawing  # noqa: PLC0415  # as above

    rank = style.agents.index(cell.agent) if cell.agent in style.agents else len(style.agents)
    ground = drawing.tinted(drawing.colour_of(rank, 0, style), _TINT) if cell.agent else _NOBODY
    left, low = x - _SIDE, y - _SIDE
    axes.add_patch(patches.Rectangle((left, low), 1, 1, facecolor=ground, edgecolor="white", linewidth=2))
    # Lines, because a report takes no patterns over out of a figure's file.
    for d in () if cell.is_sure else np.linspace(-1, 1, _HATCHES)[1:-1]:
        ends = [left + max(0, -d), left + min(1, 1 - d)], [low + max(0, d), low + min(1, 1 + d)]
        axes.plot(*ends, color="white", linewidth=2)
    letters = _LETTERS * float(drawing.mpl.rcParams["font.size"])
    box = {"facecolor": ground, "edgecolor": "none", "pad": 1.5}
    axes.text(x, y, "\n".join(cell.words), ha="center", va="center", fontsize=letters, bbox=box)
