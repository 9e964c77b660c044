"""Draws figures: the same style for all, and the same bytes for the same figure.

Lines have a colour, a marker and a dash each, so that no reader depends on colours, and stand a little apart, so that
intervals do not hide each other. Each part of a line has an id in the SVG file, by which the report hides single lines.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from roambus.experiments.figures.figure import DotFigure, Drawn, Figure, Series
from roambus.experiments.figures.plain_matplotlib import (
    Artist,
    Axes,
    DrawingArea,
    ErrorbarContainer,
    FuncFormatter,
    Line2D,
    LogLocator,
    NullLocator,
    Picture,
    styled,
)
from roambus.spark.aggregation.tables import replace_file
from roambus.spark.metrics.catalogue import Scale

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""The palette of Okabe and Ito, whose colours are told apart with every kind of colour vision."""
_MARKERS, _LINES = "osD^vPX<>p*", ("-", "--", "-.", ":")
_SIZE_INCHES, _PNG_DPI = (6.4, 4.0), 160
_PANEL_COLUMNS, _PANEL_DPI = 2, 110
_METADATA: dict[str, dict[str, None]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
"""What would differ from day to day and from version to version is left out of files."""
_DODGE, _SPREAD = 0.07, 0.5
"""How far neighbouring lines, and all lines together, are moved apart, in distances of neighbouring x values: intervals
must not hide each other, nor lines come near the next value.
"""
LINE_ID = r"line-(\d+)-\d+"
"""The id of each part of a line in an SVG file, legend included: the number of the line, then that of the part."""
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "roambus",
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "text.parse_math": False,
}


def draw(figure: Drawn, folder: Path) -> list[Path]:
    """Writes FOLDER/name.png and FOLDER/name.svg; raises OSError."""
    with styled(_STYLE):
        picture = Picture(figsize=_SIZE_INCHES, layout="constrained")
        _name_parts(_plot(figure, picture.add_subplot()))
        return [_save(picture, folder / f"{figure.name}.{kind}", metadata) for kind, metadata in _METADATA.items()]


def draw_panels(figures: Sequence[Drawn], file: Path, *, same_y: bool = False) -> None:
    """Writes one picture, `file` with the suffix .png or .svg, with two figures a row; raises OSError.

    `same_y` gives all of them one scale, so that they can be compared: they must be of one kind, logarithmic or not.
    """
    columns = min(_PANEL_COLUMNS, len(figures))
    rows = math.ceil(len(figures) / columns)
    width, height = _SIZE_INCHES
    with styled(_STYLE):
        picture = Picture(figsize=(width * columns, height * rows), layout="constrained")
        for position, figure in enumerate(figures, start=1):
            _plot(figure, picture.add_subplot(rows, columns, position))
        if same_y:
            _align(picture.axes)
        _save(picture, file, _METADATA[file.suffix.removeprefix(".")], _PANEL_DPI)


def _align(panels: Sequence[Axes]) -> None:
    """Gives all panels the range that shows what any of them shows."""
    lows, highs = zip(*(axes.get_ylim() for axes in panels), strict=True)
    for axes in panels:
        axes.set_ylim(min(lows), max(highs))


def _save(picture: Picture, path: Path, metadata: dict[str, None], dpi: int = _PNG_DPI) -> Path:
    kind = path.suffix.removeprefix(".")
    replace_file(path, partial(picture.savefig, format=kind, dpi=dpi, metadata=metadata))
    return path


def _plot(figure: Drawn, axes: Axes) -> list[list[Artist]]:
    """Returns the parts of each line, those of the legend included."""
    lines = _plot_lines(figure, axes) if isinstance(figure, Figure) else _plot_dots(figure, axes)
    axes.set_xlabel(figure.x_title)
    axes.set_ylabel(figure.y_title + (", logarithmic" if figure.logarithmic else ""))
    axes.set_title(f"{figure.title}\n{figure.intervals}", loc="left")
    parts = [_parts(line) for line in lines]
    labels = [series.label for series in figure.series]
    if not any(labels):
        return parts
    legend = axes.legend(lines, labels, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    samples = [sample.get_children() for sample in legend.findobj(DrawingArea)]
    return [[*own, *sample, text] for own, sample, text in zip(parts, samples, legend.get_texts(), strict=True)]


def _parts(line: ErrorbarContainer | Line2D) -> list[Artist]:
    return list(line.get_children()) if isinstance(line, ErrorbarContainer) else [line]


def _name_parts(lines: Sequence[Sequence[Artist]]) -> None:
    for number, parts in enumerate(lines):
        for place, part in enumerate(parts):
            part.set_gid(f"line-{number}-{place}")


def _plot_lines(figure: Figure, axes: Axes) -> list[ErrorbarContainer]:
    places = _places(figure.x_values)
    gaps = len(figure.series) - 1
    dodge = min(_DODGE, _SPREAD / max(gaps, 1)) * _spacing(list(places.values()))
    lines = []
    for index, series in enumerate(figure.series):
        shift = (index - gaps / 2) * dodge
        lines.append(_plot_series(series, [places[x] + shift for x in series.x], index, axes))
    _scale(figure, axes)
    axes.set_xticks(list(places.values()), list(places))
    return lines


def _plot_dots(figure: DotFigure, axes: Axes) -> list[Line2D]:
    lines = []
    for index, dots in enumerate(figure.series):
        colour, marker = _COLOURS[index % len(_COLOURS)], _MARKERS[index % len(_MARKERS)]
        lines += axes.plot(dots.x, dots.y, linestyle="", color=colour, marker=marker, markersize=3)
    if figure.logarithmic:
        axes.set_yscale("log")
    elif all(y >= 0 for dots in figure.series for y in dots.y):
        axes.set_ylim(bottom=0)
    return lines


def _plot_series(series: Series, places: Sequence[float], index: int, axes: Axes) -> ErrorbarContainer:
    widths = [0.0 if math.isnan(width) else width for width in series.half_width]
    return axes.errorbar(
        places,
        series.mean,
        yerr=widths if any(widths) else None,
        color=_COLOURS[index % len(_COLOURS)],
        marker=_MARKERS[index % len(_MARKERS)],
        linestyle=_LINES[index % len(_LINES)],
        markersize=6,
        linewidth=1.5,
        capsize=3,
    )


def _scale(figure: Figure, axes: Axes) -> None:
    means = [mean for series in figure.series for mean in series.mean]
    if figure.logarithmic and min(means) > 0:
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(bottom=min(means) / 2)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axes.yaxis.set_minor_locator(NullLocator())
        return
    axes.ticklabel_format(axis="y", useOffset=False)  # an offset at the end of the axis is easily overlooked
    if figure.scale is Scale.SHARE:
        axes.set_ylim(0, max(1.05, *means))
    elif figure.scale is not Scale.CUT:
        axes.set_ylim(bottom=0)


def _places(values: Sequence[str]) -> dict[str, float]:
    """The place of each value on the axis: numbers lie where they are, names one after the other."""
    try:
        return {value: float(value) for value in values}
    except ValueError:
        return {value: float(position) for position, value in enumerate(values)}


def _spacing(places: Sequence[float]) -> float:
    ordered = sorted(places)
    return min((right - left for left, right in itertools.pairwise(ordered)), default=1.0)
