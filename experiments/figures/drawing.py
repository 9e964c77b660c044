"""Draws figures: one style for all, and the same bytes for the same figure.

Lines have a colour, a marker and a dash, so no reader depends on colours, and stand apart so that intervals stay
visible; an agent has the same three in a folder.

Panels share a scale, which is one of `scales`.
"""

# ruff: noqa: E402  # `import_elsewhere` comes before everything else of Matplotlib's, see `mpl`
from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from roambus.bridge.runs.layout import AGENT
from roambus.bridge.system.process import import_elsewhere
from roambus.experiments.figures.figure import (
    Drawn,
    Figure,
    OwnFigure,
    Series,
    capital,
    places,
)
from roambus.experiments.figures.style import USUAL, FigureStyle
from roambus.spark.aggregation.aggregate import replace_file

mpl: Any = import_elsewhere("matplotlib")
"""Imported from another folder: Matplotlib reads settings from the working folder, perhaps a stranger's."""

from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure as Picture

from roambus.experiments.figures.line_names import Panel, make_room, name_lines
from roambus.experiments.figures.scales import set_scale

_COLOURS = ("#12358A", "#DE7A00", "#B03A7A", "#000000", "#6DB1E8", "#1F9E77", "#8A8A8A")
"""Distinct with every kind of colour vision; the first four differ in lightness, for greyscale prints."""
_GREYS = ("#000000", "#666666", "#999999")
_SHADE, _LIGHTEST = 0.8, 0.4
"""The colour that each further line of an agent keeps, and the least."""
# As many markers as make no pattern with the dashes: a marker and a dash come together again after 44 lines.
_MARKERS, _LINES = "osD^vPX<>p*", ("-", "--", "-.", ":")
_PNG_DPI = 300
_PANEL_COLUMNS, _PANEL_RATIO = 2, 0.75
"""Panels in a row, and their height in widths at most."""
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Metadata without dates and versions."""
_DODGE, _SPREAD = 0.07, 0.5
"""The offset of neighbouring lines, and of all together, in distances of neighbouring x values."""
_NEAR = 0.035
"""The offset of neighbouring lines at most, in lengths of the axis: two x values are far apart."""
_SIDE = 0.5
"""How far the axis reaches on both sides of a single x value, or of agents side by side."""
_ROOM_A_CHARACTER, _ROOM_BETWEEN = 0.025, 0.015
"""The least that a character of an x label takes, and the gap between two labels, in widths of the axis."""
_SEED_SIZE = 3
"""The width of a seed's point, in pt."""
_NO_STYLE = {"backend", "backend_fallback", "interactive"}
"""Settings of programs with windows, which cannot always be set."""


def draw(figure: Drawn, folder: Path, style: FigureStyle = USUAL) -> list[Path]:
    """Write FOLDER/name in the style's formats, and the caption as FOLDER/name.txt; raises OSError."""
    with _styled(style.settings):
        picture = figure.picture(style) if isinstance(figure, OwnFigure) else _picture([figure], style)
        drawn = [_save(picture, folder / f"{figure.name}.{kind}") for kind in style.formats]
    return [*drawn, write_caption(folder / figure.name, [figure])]


def write_caption(stem: Path, figures: Sequence[Drawn]) -> Path:
    """Write figures' captions as STEM.txt, a line each; raises OSError."""
    caption = stem.with_name(f"{stem.name}.txt")
    text = "".join(f"{figure.own_caption}\n" for figure in figures)
    replace_file(caption, partial(Path.write_text, data=text, encoding="utf-8"))
    return caption


def draw_panels(figures: Sequence[Figure], file: Path, style: FigureStyle = USUAL) -> None:
    """Write one picture of the style's width, two figures a row if it is wide; raises OSError."""
    panel, columns = in_panels(style, len(figures))
    with _styled(panel.settings):
        _save(_picture(figures, panel, columns), file)


def in_panels(style: FigureStyle, count: int) -> tuple[FigureStyle, int]:
    """The style of each of so many panels, and how many stand in a row."""
    columns = 1 if style.is_narrow else min(_PANEL_COLUMNS, count)
    width = style.size[0] / columns
    return replace(style, size=(width, min(style.size[1], _PANEL_RATIO * width))), columns


def _picture(figures: Sequence[Figure], style: FigureStyle, columns: int = 1) -> Picture:
    """The figures in rows of panels of the style's size."""
    rows, (width, height) = math.ceil(len(figures) / columns), style.size
    picture = Picture(figsize=(width * columns, height * rows), layout="constrained")
    panels = []
    for position, figure in enumerate(figures, start=1):
        axes = picture.add_subplot(rows, columns, position)
        panels.append(_plot(figure, axes, style))
        if len(figures) > 1:
            # The y axis has the metric's title already.
            title = capital(figure.title.removeprefix(f"{figure.y_title}, "))
            panels[-1] = replace(panels[-1], title=axes.set_title(title, loc="left"))
    name_lines(picture, panels, style.is_narrow)
    make_room(picture, panels, rows)
    return picture


def _styled(style: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Use these settings in the block, else Matplotlib's own; ignore settings files."""
    own = {name: value for name, value in mpl.rcParamsDefault.items() if name not in _NO_STYLE}
    context: AbstractContextManager[None] = mpl.rc_context({**own, **style})
    return context


def _save(picture: Picture, path: Path) -> Path:
    kind = path.suffix.removeprefix(".")
    replace_file(path, partial(picture.savefig, format=kind, dpi=_PNG_DPI, metadata=_METADATA[kind]))
    return path


def _plot(figure: Figure, axes: Axes, style: FigureStyle) -> Panel:
    lines, scale = _plot_lines(figure, axes, style)
    axes.set_xlabel(figure.x_title)
    axes.set_ylabel(figure.y_title + scale)
    names, own = [series.label for series in figure.series], paints(figure.series, style)
    return Panel(axes, lines, names, own, partial(_labels, places(figure.x_values), figure.labels))


def _plot_lines(figure: Figure, axes: Axes, style: FigureStyle) -> tuple[list[ErrorbarContainer], str]:
    at = places(figure.x_values)
    gaps = len(figure.series) - 1
    spacing = float(min(np.diff(sorted(at.values())), default=1.0))
    length = float(np.ptp([*at.values()])) or math.inf
    dodge = min(_DODGE * spacing, _SPREAD / max(gaps, 1) * spacing, _NEAR * length)
    lines = []
    for index, (series, paint) in enumerate(zip(figure.series, paints(figure.series, style), strict=True)):
        shift = (index - gaps / 2) * dodge
        shifted = [at[x] + shift for x in series.x]
        lines.append(_plot_series(series, shifted, axes, paint, with_seeds=figure.shows_seeds))
    axes.set_xticks(list(at.values()), _labels(at, figure.labels))
    if len(at) == 1 or not all(series.label for series in figure.series):
        axes.set_xlim(min(at.values()) - _SIDE, max(at.values()) + _SIDE)
    shown = figure.beside or figure.series
    ends = [end for series in shown for end in _ends(series, figure.shows_seeds) if not math.isnan(end)]
    means = [mean for series in shown for mean in series.mean]
    return lines, set_scale(axes, figure.drawn_scale, [*ends, *means], means)


def _ends(series: Series, with_seeds: bool) -> Sequence[float]:  # of two kinds of pictures
    return [value for values in series.values for value in values] if with_seeds else (*series.low, *series.high)


def _plot_series(
    series: Series, places: Sequence[float], axes: Axes, paint: dict[str, Any], *, with_seeds: bool
) -> ErrorbarContainer:
    reach = np.nan_to_num([np.subtract(series.mean, series.low), np.subtract(series.high, series.mean)])
    yerr = reach if np.any(reach) and not with_seeds else None
    if with_seeds:
        seeds = [(place, value) for place, values in zip(places, series.values, strict=True) for value in values]
        axes.plot(*zip(*seeds, strict=True), ".", color=paint["color"], markersize=_SEED_SIZE, clip_on=False)
    line = axes.errorbar(places, series.mean, yerr=yerr, **paint)
    for part in line.get_children():
        part.set_clip_on(False)
    return line


def paints(series: Sequence[Series], style: FigureStyle) -> list[dict[str, Any]]:
    """Each line's colour, marker and dash."""
    agents = [line.place.get(AGENT, "") for line in series]
    # The place of the colour is the agent's among all of the results, or the line's own.
    ranks = [style.agents.index(agent) if agent in style.agents else index for index, agent in enumerate(agents)]
    before = [ranks[:index].count(rank) for index, rank in enumerate(ranks)]
    # An agent's further lines have markers and dashes that no agent has.
    further = itertools.count(max([len(style.agents) - 1, *ranks]) + 1)
    forms = [next(further) if earlier else rank for rank, earlier in zip(ranks, before, strict=True)]
    return [
        {
            "color": colour_of(rank, 0 if style.is_grey else earlier, style),
            "marker": _MARKERS[form % len(_MARKERS)],
            "linestyle": _LINES[form % len(_LINES)] if agent.label else "",
        }
        for agent, rank, earlier, form in zip(series, ranks, before, forms, strict=True)
    ]


def colour_of(rank: int, lines_before: int, style: FigureStyle) -> str:
    """The colour of the agent of that place, lighter for its further lines."""
    colours = _GREYS if style.is_grey else _COLOURS
    return tinted(colours[rank % len(colours)], max(_LIGHTEST, _SHADE**lines_before))


def tinted(colour: str, share: float) -> str:
    """The colour, with white for the rest."""
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 - (255 - part) * share):02X}" for part in parts)


def _labels(places: Mapping[str, float], texts: Mapping[str, str], character: float = 0.0) -> list[str]:
    """The values' texts, wrapped; empty where there is no room, at a character's width in widths of the axis."""
    letter = max(_ROOM_A_CHARACTER, character)
    width = (max(places.values()) - min(places.values())) or 1.0
    room = int(1 / len(places) / letter)
    end, labels = -math.inf, {}
    for value, place in sorted(places.items(), key=lambda item: item[1]):
        text = fill(texts.get(value, value), max(1, room), break_long_words=False)
        middle, half = place / width, max(map(len, text.split("\n"))) * letter / 2
        labels[value] = text if middle - half >= end else ""
        end = middle + half + _ROOM_BETWEEN if text == labels[value] else end
    return [labels[value] for value in places]
