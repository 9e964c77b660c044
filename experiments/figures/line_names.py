"""The names of lines: at their ends if these are few, else once in a legend.

A name at an end needs no search for marker and colour. Names keep their order and stand as near to their lines as their
heights allow (isotonic regression); a thin line leads to each. Panels whose lines look alike share one legend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure as Picture
from matplotlib.text import Annotation, Text
from numpy.typing import NDArray

FEW = 5
"""The most lines of a single figure that have their names at their ends."""
_END = 1.03
"""Where names begin, in widths of the axis."""
_LONGEST, _NARROW_LONGEST = 24, 13
"""In characters; longer names wrap, because they take their room from the axes."""
_ABOVE: Mapping[str, Any] = {"loc": "outside upper center", "columnspacing": 1.5, "borderaxespad": 0.2}
_BESIDE: Mapping[str, Any] = {"loc": "outside right upper", "borderaxespad": 0.2}
_SAMPLE, _CHARACTER = 6, 0.5
"""A legend's sample and gaps in characters, and a character's width in letter heights."""
_LEADER: Mapping[str, Any] = {"arrowstyle": "-", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0.5)}
_INK = "#222222"
_FREE, _LEAST_AXES = 0.6, 0.6
"""Free inches above and below names, and the share of the height that names above the axes leave to these."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A figure's axes with its lines, their names and their paints."""

    axes: Axes
    lines: Sequence[ErrorbarContainer]
    names: Sequence[str]
    paints: Sequence[Mapping[str, Any]]

    @property
    def style(self) -> tuple[object, ...]:
        """Its text in a legend."""
        return tuple((name, *map(str, paint.values())) for name, paint in zip(self.names, self.paints, strict=True))


def name_lines(picture: Picture, panels: Sequence[Panel], is_narrow: bool) -> None:
    """Name the lines of all panels; a line without a name stands alone."""
    first = panels[0]
    are_alike = len({panel.style for panel in panels}) == 1
    if not any(first.names):
        return
    if are_alike and (len(panels) > 1 or len(first.names) > FEW):
        _legend(picture, first, is_above=is_narrow or len(panels) > 1)
    else:
        for panel in panels:
            _at_ends(panel, is_narrow)


def _legend(picture: Picture, panel: Panel, *, is_above: bool) -> None:
    names = [fill(name, _LONGEST) for name in panel.names]
    width = max(len(line) for name in names for line in name.split("\n")) + _SAMPLE
    letter = float(panel.axes.xaxis.get_ticklabels()[0].get_fontsize()) / 72
    fitting = int(picture.get_figwidth() / (width * _CHARACTER * letter))
    columns, place = (max(1, min(len(names), fitting)), _ABOVE) if is_above else (1, _BESIDE)
    # An interval's container is a legend's handle, though no artist.
    legend = picture.legend(cast("Sequence[Artist]", panel.lines), names, ncols=columns, **place)
    legend.set_label("above" if is_above else "")


def _at_ends(panel: Panel, is_narrow: bool) -> None:
    for line, name, paint in zip(panel.lines, panel.names, panel.paints, strict=True):
        x, y = (np.asarray(values, dtype=float) for values in line.lines[0].get_data())
        panel.axes.annotate(
            fill(name, _NARROW_LONGEST if is_narrow else _LONGEST),
            (x[-1], y[-1]),
            (_END, 0.5),
            textcoords="axes fraction",
            va="center",
            color=_INK,
            fontsize=panel.axes.xaxis.get_ticklabels()[0].get_fontsize(),
            arrowprops={**_LEADER, "color": paint["color"]},
            annotation_clip=False,
        )


def make_room(picture: Picture, rows: int) -> None:
    """Make the picture as high as its names need, and put those at ends in their places."""
    at_ends = [[text for text in axes.texts if isinstance(text, Annotation)] for axes in picture.axes]
    legends = [legend.get_window_extent().height / picture.dpi for legend in picture.legends]
    names = max(sum(map(_height, texts)) / picture.dpi for texts in at_ends)
    height = picture.get_figheight()
    above = any(legend.get_label() for legend in picture.legends)
    picture.set_figheight(max(height, rows * names + _FREE, sum(legends) + (_LEAST_AXES * height if above else _FREE)))
    picture.draw_without_rendering()
    for axes, texts in zip(picture.axes, at_ends, strict=True):
        _place(axes, texts)


def _place(axes: Axes, texts: Sequence[Annotation]) -> None:
    size = axes.get_window_extent().height
    ends = [axes.transAxes.inverted().transform(axes.transData.transform(text.xy))[1] for text in texts]
    order = np.argsort(ends, kind="stable")
    heights = np.array([_height(texts[number]) for number in order]) / size
    for number, y in zip(order, spread(np.array(ends)[order], heights), strict=True):
        texts[number].xyann = (_END, float(y))


def _height(name: Annotation) -> float:
    return float(Text.get_window_extent(name).height)  # without the line to it


def spread(wanted: NDArray[np.float64], heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Middles within 0 and 1, nearest to the wanted ones (ascending) so that no two heights overlap."""
    before = np.cumsum(heights) - heights / 2
    free, count = wanted - before, len(wanted)
    nearest = [max(min(free[i : j + 1].mean() for j in range(k, count)) for i in range(k + 1)) for k in range(count)]
    return np.asarray(np.clip(nearest, 0, max(0.0, 1 - heights.sum())) + before)
