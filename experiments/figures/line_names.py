"""The names of lines, at their ends if these are few, else once in a legend; and the room of all texts.

A name at an end needs no search for marker and colour. Names keep their order and stand as near to their lines as their
heights allow (isotonic regression); a thin line leads to each. Panels whose lines look alike share one legend.

Titles wrap at the edge of their panel, as large as they are drawn; x labels that would touch another are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
_PASSES = 4
"""Layouts at most: a wrapped title changes the room of the others."""
_DIGIT = 0.7
"""A digit's width in letter heights, with the axis' margins."""
_PANEL_LETTERS = 15
"""The least height of a panel in letter heights: two lines of title and label, and axes as high."""
_WHOLE_WORDS: Mapping[str, Any] = {"break_on_hyphens": False, "break_long_words": False}
_FREE, _LEAST_AXES = 0.6, 0.6
"""Free inches above and below names, and the share of the height that names above the axes leave to these."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A figure's axes with its lines, their names and their paints."""

    axes: Axes
    lines: Sequence[ErrorbarContainer]
    names: Sequence[str]
    paints: Sequence[Mapping[str, Any]]
    x_labels: Callable[[float], list[str]]
    """The texts below the axis, by a character's width in widths of the axis."""
    title: Text | None = None

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
    letter = _letter(panel.axes) / 72
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
            fontsize=_letter(panel.axes),
            arrowprops={**_LEADER, "color": paint["color"]},
            annotation_clip=False,
        )


def make_room(picture: Picture, panels: Sequence[Panel], rows: int) -> None:
    """Make the picture as high as its names need, fit its texts, and put names at ends in their places."""
    at_ends = [[text for text in axes.texts if isinstance(text, Annotation)] for axes in picture.axes]
    legends = [legend.get_window_extent().height / picture.dpi for legend in picture.legends]
    names = max(sum(map(_height, texts)) / picture.dpi for texts in at_ends)
    height = picture.get_figheight()
    above = any(legend.get_label() for legend in picture.legends)
    named = sum(legends) + (_LEAST_AXES * height if above else _FREE)
    least = rows * _PANEL_LETTERS * _letter(panels[0].axes) / 72 if panels[0].title else 0.0
    picture.set_figheight(max(height, rows * names + _FREE, named, least))
    for _ in range(_PASSES):
        picture.draw_without_rendering()
        if not sum(map(_fit, panels)):  # each of them
            break
    for axes, texts in zip(picture.axes, at_ends, strict=True):
        _place(axes, texts)


def _fit(panel: Panel) -> bool:
    """Wrap titles that are longer than their room, and leave out crowded x labels; return whether any changed."""
    left, bottom, right, top = _cell(panel.axes)
    box, x, y = panel.axes.get_window_extent(), panel.axes.xaxis, panel.axes.yaxis
    if panel.title is not None:  # a legend stands above
        top = min(top, Text.get_window_extent(panel.title).y1)
    middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
    before = _texts(panel)
    _wrap(x.label, 2 * min(middle[0] - left, right - middle[0]), Text.get_window_extent(x.label).width)
    _wrap(y.label, 2 * min(middle[1] - bottom, top - middle[1]), Text.get_window_extent(y.label).height)
    if panel.title is not None:
        _wrap(panel.title, right - box.x0, Text.get_window_extent(panel.title).width)
    letter = _letter(panel.axes) / 72 * panel.axes.figure.dpi
    panel.axes.set_xticks(panel.axes.get_xticks(), panel.x_labels(_DIGIT * letter / box.width))
    return before != _texts(panel)


def _letter(axes: Axes) -> float:
    """The height of the letters at the axis, in pt."""
    return float(axes.xaxis.get_ticklabels()[0].get_fontsize())


def _texts(panel: Panel) -> list[str]:
    titles = [panel.axes.get_xlabel(), panel.axes.get_ylabel(), panel.title.get_text() if panel.title else ""]
    return [*titles, *(label.get_text() for label in panel.axes.get_xticklabels())]


def _cell(axes: Axes) -> tuple[float, float, float, float]:
    """The left, lower, right and upper edge of a panel's part of the picture, in dots."""
    picture, spec = axes.figure.bbox, axes.get_subplotspec()
    if spec is None:
        return 0.0, 0.0, picture.width, picture.height
    rows, columns = spec.get_gridspec().get_geometry()
    wide, high = picture.width / columns, picture.height / rows
    row, column = spec.rowspan.start, spec.colspan.start
    return column * wide, (rows - row - 1) * high, (column + 1) * wide, (rows - row) * high


def _wrap(text: Text, room: float, length: float) -> None:
    words = text.get_text()
    if length > room > 0:
        longest = max(map(len, words.split("\n")))
        text.set_text(fill(" ".join(words.split()), max(1, int(longest * room / length)), **_WHOLE_WORDS))


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
