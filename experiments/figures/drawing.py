"""Draws figures: one style for all, and the same bytes for the same figure.

Lines have a colour, a marker and a dash, so no reader depends on colours, and stand apart so that intervals stay
visible. An agent has one colour in a folder. Line parts have SVG ids, by which the report hides them.

Axes hold all intervals and begin at 0 where lengths are compared; panels share a scale. Rates near 0 or 1 get a folded
scale (logit with offset); a non-linear axis says so.
"""

# ruff: noqa: E402  # `import_elsewhere` comes before everything else of Matplotlib's, see `mpl`
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from roambus.bridge.process import import_elsewhere
from roambus.bridge.runs.layout import AGENT
from roambus.experiments.figures.figure import (
    Drawn,
    Figure,
    OwnFigure,
    Series,
)
from roambus.experiments.figures.style import USUAL, Look
from roambus.spark.aggregation.aggregate import replace_file
from roambus.spark.metrics.catalogue import Scale

mpl: Any = import_elsewhere("matplotlib")
"""Imported from another folder: Matplotlib reads settings from the working folder, perhaps a stranger's."""

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure as Picture
from matplotlib.offsetbox import DrawingArea
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

_MARGIN = 0.05
"""The free share of the height above the highest and below the lowest mark."""
_OFFSET = 0.004
"""How far beyond 0 and 1 the folded scale's infinity lies: smaller gives extreme rates more room."""
_CROWDED, _CROWD = 0.1, 0.5
"""Rates crowd if such a part is so near to 0 or 1."""
# The same distances from 0 and from 1, because the scale is the same at both ends.
_TICKS = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1)
_DECADE = 10


def crowds(rates: Sequence[float]) -> bool:
    """Whether a linear axis could not separate most of these rates."""
    near = sum(min(rate, 1 - rate) <= _CROWDED for rate in rates)
    return bool(rates) and all(0 <= rate <= 1 for rate in rates) and near > _CROWD * len(rates)


def folded(rate: ArrayLike) -> NDArray[np.float64]:
    """A rate's place on the folded scale, clipped to its ends."""
    inside = np.clip(np.asarray(rate, dtype=float), -_OFFSET * 0.99, 1 + _OFFSET * 0.99)
    return np.asarray(np.log((inside + _OFFSET) / (1 - inside + _OFFSET)))


def unfolded(place: ArrayLike) -> NDArray[np.float64]:
    """The rate at a place of the folded scale."""
    odds = np.exp(np.asarray(place, dtype=float))
    return np.asarray((odds * (1 + _OFFSET) - _OFFSET) / (1 + odds))


def set_scale(axes: Axes, scale: Scale, values: Sequence[float], rates: Sequence[float]) -> str:
    """Make the vertical axis show `values`; `rates` are the means. Return the title's addition."""
    low, high = min(values), max(values)
    if scale is Scale.LOGARITHMIC and low > 0:
        return _logarithmic(axes, low, high)
    axes.ticklabel_format(axis="y", useOffset=False)  # an offset at the end of the axis is easily overlooked
    if scale is Scale.SHARE and crowds(rates):
        return _folded(axes, low, high)
    if scale is Scale.SHARE:
        axes.set_ylim(min(0.0, low), max(1.0, high))
        return ""
    bottom = 0.0 if scale is not Scale.CUT and low >= 0 else low - _MARGIN * ((high - low) or 1.0)
    axes.set_ylim(bottom, high + _MARGIN * ((high - bottom) or 1.0))
    return ""


def _folded(axes: Axes, low: float, high: float) -> str:
    axes.set_yscale("function", functions=(folded, unfolded))
    bottom = max((tick for tick in _TICKS if tick <= low + 1e-9), default=0.0)
    top = min((tick for tick in _TICKS if tick >= high - 1e-9), default=1.0)
    if bottom == top:
        bottom, top = max(0.0, bottom - 0.05), min(1.0, top + 0.05)
    axes.set_ylim(bottom, top)
    axes.yaxis.set_major_locator(FixedLocator([tick for tick in _TICKS if bottom <= tick <= top]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    return ", logit scale"


def _logarithmic(axes: Axes, low: float, high: float) -> str:
    """Set ticks at more digits where the axis has fewer decades, so that some exist."""
    reach = (high / low) ** _MARGIN
    axes.set_yscale("log")
    axes.set_ylim(low / max(reach, 1.05), high * max(reach, 1.05))
    subs = (1, 2, 5) if high / low > 2 * _DECADE else (1, 1.5, 2, 3, 5, 7)
    axes.yaxis.set_major_locator(LogLocator(subs=subs))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    return ", logarithmic"


_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, distinct with every kind of colour vision."""
_GREYS = ("#000000", "#666666", "#999999")
_SHADE, _LIGHTEST = 0.75, 0.3
"""The colour that each further line of an agent keeps, and the least."""
# As many markers as make no pattern with the dashes: a marker and a dash come together again after 44 lines.
_MARKERS, _LINES = "osD^vPX<>p*", ("-", "--", "-.", ":")
_PNG_DPI = 300
"""For print; screen pictures of panels have fewer."""
_PANEL_COLUMNS, _PANEL_DPI = 2, 110
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Metadata without dates and versions."""
_DODGE, _SPREAD = 0.07, 0.5
"""The offset of neighbouring lines, and of all together, in distances of neighbouring x values."""
_SIDE = 0.5
"""How far the axis reaches on both sides of a single x value."""
_ROOM_A_CHARACTER, _ROOM_BETWEEN = 0.025, 0.015
"""An x label's largest width, and the gap between two, in widths of the axis."""
_BELOW: Mapping[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.22), "borderaxespad": 0, "ncols": 2}
_BESIDE: Mapping[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0}
"""Where the names of the lines stand."""
_LONGEST_LABEL = 24
"""In characters; longer names wrap, because they take their room from the axes."""
_ABOVE_NAMES, _LEAST_AXES = 0.3, 0.6
"""Free inches above and below names beside the axes; the height's share that names below leave to axes."""
_NO_STYLE = {"backend", "backend_fallback", "interactive"}
"""Settings of programs with windows, which cannot always be set."""
LINE_ID = r"line-(\d+)-\d+"
"""The SVG id of a line's part, legend included: the line's number, then the part's."""


def draw(figure: Drawn, folder: Path, look: Look = USUAL) -> list[Path]:
    """Write FOLDER/name in the look's formats, and the caption as FOLDER/name.txt; raises OSError."""
    with _styled(look.settings):
        if isinstance(figure, OwnFigure):
            picture = figure.picture(look)
        else:
            picture = Picture(figsize=look.size, layout="constrained")
            _name_parts(_plot(figure, picture.add_subplot(), look))
            picture.set_figheight(_height(picture, look))
        drawn = [_save(picture, folder / f"{figure.name}.{kind}") for kind in look.formats]
    return [*drawn, write_caption(folder / figure.name, [figure])]


def write_caption(stem: Path, figures: Sequence[Drawn]) -> Path:
    """Write figures' captions as STEM.txt, a line each; raises OSError."""
    caption = stem.with_name(f"{stem.name}.txt")
    text = "".join(f"{figure.caption}\n" for figure in figures)
    replace_file(caption, partial(Path.write_text, data=text, encoding="utf-8"))
    return caption


def draw_panels(figures: Sequence[Figure], file: Path, *, same_y: bool = False, look: Look = USUAL) -> None:
    """Write one picture, two figures a row; `same_y` shares the scale. Raises OSError."""
    columns = min(_PANEL_COLUMNS, len(figures))
    rows = math.ceil(len(figures) / columns)
    width, height = look.size
    with _styled(look.settings):
        picture = Picture(figsize=(width * columns, height * rows), layout="constrained")
        for position, figure in enumerate(figures, start=1):
            axes = picture.add_subplot(rows, columns, position)
            _plot(figure, axes, look)
            axes.set_title(figure.title, loc="left")
        picture.set_figheight(rows * _height(picture, look))
        if same_y:
            _align(picture.axes)
        _save(picture, file, _PANEL_DPI if look == USUAL else _PNG_DPI)


def _styled(style: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Use these settings in the block, else Matplotlib's own; ignore settings files."""
    own = {name: value for name, value in mpl.rcParamsDefault.items() if name not in _NO_STYLE}
    context: AbstractContextManager[None] = mpl.rc_context({**own, **style})
    return context


def _height(picture: Picture, look: Look) -> float:
    """A panel row's height (inches), which grows with many line names."""
    legends = [one for axes in picture.axes if (one := axes.get_legend())]
    names = max((one.get_window_extent().height / picture.dpi for one in legends), default=0.0)
    return max(look.size[1], names + (_LEAST_AXES * look.size[1] if look.is_narrow else _ABOVE_NAMES))


def _align(panels: Sequence[Axes]) -> None:
    lows, highs = zip(*(axes.get_ylim() for axes in panels), strict=True)
    for axes in panels:
        axes.set_ylim(min(lows), max(highs))


def _save(picture: Picture, path: Path, dpi: int = _PNG_DPI) -> Path:
    kind = path.suffix.removeprefix(".")
    replace_file(path, partial(picture.savefig, format=kind, dpi=dpi, metadata=_METADATA[kind]))
    return path


def _plot(figure: Figure, axes: Axes, look: Look) -> list[list[Artist]]:
    lines, scale = _plot_lines(figure, axes, look)
    axes.set_xlabel(figure.x_title)
    axes.set_ylabel(figure.y_title + scale)
    parts = [list(line.get_children()) for line in lines]
    labels = [fill(series.label, _LONGEST_LABEL) for series in figure.series]
    if not any(labels):
        return parts
    place = _BELOW if look.is_narrow else _BESIDE
    legend = axes.legend(lines, labels, **place)
    samples = [sample.get_children() for sample in legend.findobj(DrawingArea)]
    return [[*own, *sample, text] for own, sample, text in zip(parts, samples, legend.get_texts(), strict=True)]


def _name_parts(lines: Sequence[Sequence[Artist]]) -> None:
    for number, parts in enumerate(lines):
        for place, part in enumerate(parts):
            part.set_gid(f"line-{number}-{place}")


def _plot_lines(figure: Figure, axes: Axes, look: Look) -> tuple[list[ErrorbarContainer], str]:
    places = _places(figure.x_values)
    gaps = len(figure.series) - 1
    spacing = min(np.diff(sorted(places.values())), default=1.0)
    dodge = min(_DODGE, _SPREAD / max(gaps, 1)) * float(spacing)
    lines = []
    for index, (series, paint) in enumerate(zip(figure.series, _paints(figure.series, look), strict=True)):
        shift = (index - gaps / 2) * dodge
        lines.append(_plot_series(series, [places[x] + shift for x in series.x], axes, paint))
    axes.set_xticks(list(places.values()), _labels(places))
    if len(places) == 1:
        (only,) = places.values()
        axes.set_xlim(only - _SIDE, only + _SIDE)
    ends = [end for series in figure.series for end in (*series.low, *series.high) if not math.isnan(end)]
    means = [mean for series in figure.series for mean in series.mean]
    return lines, set_scale(axes, figure.scale, [*ends, *means], means)


def _plot_series(series: Series, places: Sequence[float], axes: Axes, paint: dict[str, Any]) -> ErrorbarContainer:
    reach = np.nan_to_num([np.subtract(series.mean, series.low), np.subtract(series.high, series.mean)])
    yerr = reach if np.any(reach) else None
    line = axes.errorbar(places, series.mean, yerr=yerr, capsize=3, **paint)
    for part in line.get_children():
        part.set_clip_on(False)
    return line


def _paints(series: Sequence[Series], look: Look) -> list[dict[str, Any]]:
    agents = [one.place.get(AGENT, "") for one in series]
    # The place of the colour is the agent's among all of the results, or the line's own.
    ranks = [look.agents.index(one) if one in look.agents else index for index, one in enumerate(agents)]
    return [
        {
            "color": colour_of(rank, 0 if look.is_grey else ranks[:index].count(rank), look),
            "marker": _MARKERS[index % len(_MARKERS)],
            "linestyle": _LINES[index % len(_LINES)],
        }
        for index, rank in enumerate(ranks)
    ]


def colour_of(rank: int, lines_before: int, look: Look) -> str:
    """The colour of the agent of that place, lighter for its further lines."""
    colours = _GREYS if look.is_grey else _COLOURS
    return tinted(colours[rank % len(colours)], max(_LIGHTEST, _SHADE**lines_before))


def tinted(colour: str, share: float) -> str:
    """The colour, with white for the rest."""
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 - (255 - part) * share):02X}" for part in parts)


def _places(values: Sequence[str]) -> dict[str, float]:
    try:
        return {value: float(value) for value in values}
    except ValueError:
        return {value: float(position) for position, value in enumerate(values)}


def _labels(places: Mapping[str, float]) -> list[str]:
    width = (max(places.values()) - min(places.values())) or 1.0
    end, labels = -math.inf, {}
    for value, place in sorted(places.items(), key=lambda item: item[1]):
        middle, half = place / width, len(value) * _ROOM_A_CHARACTER / 2
        labels[value] = value if middle - half >= end else ""
        end = middle + half + _ROOM_BETWEEN if labels[value] else end
    return [labels[value] for value in places]
