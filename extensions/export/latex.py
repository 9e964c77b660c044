"""Figures and their numbers for LaTeX: TikZ of pgfplots, and tables of booktabs.

Each file is a complete figure or table with caption and label, to be input. Lines look as in the drawn figures, and
have a legend above, and the axes are those of the drawn figures. A table has the figure's numbers, in a column of the
page a row for each x value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from roambus.bridge.system.errors import UserError
from roambus.experiments.comparing.comparison import panels
from roambus.experiments.comparing.selection import Where, check_metric, find_axis, main_metrics, narrow
from roambus.experiments.figures.drawing import paints
from roambus.experiments.figures.figure import Figure, Series, places, slug
from roambus.experiments.figures.scales import (
    CUT,
    FOLDED,
    LOGARITHMIC,
    crowds,
    decade_ticks,
    folded,
    folded_ends,
    folded_ticks,
)
from roambus.experiments.figures.style import USUAL, FigureStyle
from roambus.experiments.measurements import Measurements, format_mean
from roambus.experiments.reporting.figure_files import metric_figures
from roambus.experiments.studies.conditions import conditions
from roambus.experiments.studies.study import SweepResults, read_results
from roambus.spark.metrics.metric import Scale

_SPECIAL = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
}
_MARKS = {"o": "*", "s": "square*", "D": "diamond*", "^": "triangle*", "P": "+", "X": "x", "p": "pentagon*"}
_DASHES = {"-": "solid", "--": "dashed", "-.": "dash dot", ":": "dotted", "": "only marks"}
_SIZE = r"width=\linewidth, height=0.75\linewidth"
_STYLE = (
    r"grid=major, axis lines=left, clip=false, enlarge x limits=0.06, "
    r"legend columns=2, legend cell align=left, "
    r"legend style={at={(0.5,1.03)}, anchor=south, draw=none, font=\footnotesize}"
)

_TICK_GAP = 0.07
"""The least distance of two numbers, in heights of the axis."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The figures of these metrics (none: the usual ones), of runs at these values, each of this size in inches."""

    metrics: Sequence[str] = ()
    where: Where = field(default_factory=dict)
    size: tuple[float, float] | None = None
    """None for the width of a line."""
    against: str | None = None
    """The axis that becomes the x axis, as of `roambus compare`; None for the planned figures."""

    def part_of(self, measured: Measurements) -> Measurements | None:
        """Return the measurements at the values, or None for all; raise UserError."""
        return narrow(measured, (), self.where) if self.where else None


def latex_files(results: Path, chosen: Chosen | None = None) -> Iterator[tuple[str, list[str]]]:
    """Yield each figure's and table's file name and lines; raise UserError without metrics or a figure."""
    chosen = chosen or Chosen()
    found = [
        (figure, FigureStyle(agents=tuple(sweep.measured.agents), size=chosen.size or USUAL.size))
        for sweep in read_results(results).sweeps
        for figure in _figures(sweep, chosen)
    ]
    if not found:
        raise UserError(f"{results}: no figure has a value: choose another --metric or --where")
    size = _SIZE if chosen.size is None else "width={:g}in, height={:g}in".format(*chosen.size)
    for figure, style in found:
        # On a page of two columns a star takes both.
        narrow_table, star = style.is_narrow, "*" if chosen.size is not None and not style.is_narrow else ""
        yield (
            f"{figure.name}.tex",
            _framed(f"figure{star}", figure.own_caption, figure.name, _plot(figure, style, size)),
        )
        table = _table(figure, by_x=narrow_table)
        kind = "table" if narrow_table else "table*"
        yield f"{figure.name}-table.tex", _framed(kind, figure.table_caption, figure.name, table)


def _figures(sweep: SweepResults, chosen: Chosen) -> Iterator[Figure]:
    part = chosen.part_of(sweep.measured)
    if chosen.against is None:
        yield from metric_figures(sweep, chosen.metrics, part)
        return
    measured = part or sweep.measured
    against = find_axis(measured, chosen.against)
    for metric in chosen.metrics or main_metrics(measured):
        check_metric(measured, metric)
        figures = panels(measured, metric, against)
        for figure in figures:
            place = figure.title.removeprefix(figure.y_title) if len(figures) > 1 else ""
            name = slug(f"{metric}-against-{against}{place.replace(', ', '-')}")
            yield replace(figure, name=name).with_remark(conditions(sweep))


def escaped(text: str) -> str:
    """Return the text as LaTeX."""
    return re.sub(r"[&%$#_{}\\~^±]", lambda found: _SPECIAL[found[0]], text)


def _framed(kind: str, text: str, name: str, lines: Iterable[str]) -> list[str]:
    is_figure = kind.startswith("figure")
    caption = f"\\caption{{{escaped(text)}}}\n\\label{{{'fig' if is_figure else 'tab'}:{name}}}\n"
    whole = [f"\\begin{{{kind}}}\n\\centering\n", *lines, f"\\end{{{kind}}}\n"]
    whole.insert(-1 if is_figure else 1, caption)
    return whole


def _table(figure: Figure, *, by_x: bool) -> Iterator[str]:
    """Yield the table's lines: a row for each line of the figure, or for each x value."""
    rows = [[figure.x_title, *(figure.labels.get(x, x) for x in figure.x_values)]]
    for series in figure.series:
        cells = dict(zip(series.x, map(format_mean, series.mean, series.low, series.high), strict=True))
        rows.append([series.label, *(cells.get(x, "") for x in figure.x_values)])
    shown = [list(column) for column in zip(*rows, strict=True)] if by_x else rows
    head, *body = (f"{' & '.join(map(escaped, row))} \\\\\n" for row in shown)
    small = "\\footnotesize\n" if by_x else ""
    yield f"{small}\\begin{{tabular}}{{l{'r' * (len(shown[0]) - 1)}}}\n\\toprule\n{head}\\midrule\n"
    yield from body
    yield "\\bottomrule\n\\end{tabular}\n"


def _plot(figure: Figure, style: FigureStyle, size: str) -> Iterator[str]:
    at = places(figure.x_values)
    labels = ", ".join(f"{{{escaped(figure.labels.get(x, x))}}}" for x in at)
    y = _y_axis(figure)
    titles = f"xlabel={{{escaped(figure.x_title)}}}, ylabel={{{escaped(figure.y_title + y.note)}}}"
    ticks = f"xtick={{{', '.join(f'{place:g}' for place in at.values())}}}, xticklabels={{{labels}}}"
    yield f"\\begin{{tikzpicture}}\n\\begin{{axis}}[{size}, {_STYLE},\n{titles},\n{ticks}{y.options}]\n"
    for series, paint in zip(figure.series, paints(figure.series, style), strict=True):
        bars = "" if figure.shows_seeds else ", error bars/.cd, y dir=both, y explicit"
        yield f"\\addplot[{_painted(paint)}{bars}] coordinates {{\n"
        yield from (f"  {point}\n" for point in _points(series, at, y, with_intervals=not figure.shows_seeds))
        yield "};\n" + (f"\\addlegendentry{{{escaped(series.label)}}}\n" if series.label else "")
    for series, paint in zip(figure.series, paints(figure.series, style), strict=True) if figure.shows_seeds else ():
        seeds = ((at[x], value) for x, values in zip(series.x, series.values, strict=True) for value in values)
        yield f"\\addplot[forget plot, {_coloured(paint)}, only marks, mark=*, mark size=0.8pt] coordinates {{\n"
        yield from (f"  ({place:g},{y.place(value):.6g})\n" for place, value in seeds)
        yield "};\n"
    yield "\\end{axis}\n\\end{tikzpicture}\n"


class _YAxis(NamedTuple):
    """A vertical axis: its options, the end of its title, and the place of a value on it."""

    options: str
    note: str = ""
    place: Callable[[float], float] = float


def _y_axis(figure: Figure) -> _YAxis:
    """Return the axis of the drawn figure, which holds those beside it, too."""
    shown = figure.beside or figure.series
    means = [mean for series in shown for mean in series.mean]
    seeds = [value for series in shown for values in series.values for value in values] if figure.shows_seeds else []
    intervals = [] if figure.shows_seeds else [end for series in shown for end in (*series.low, *series.high)]
    ends = [mark for mark in (*means, *seeds, *intervals) if not math.isnan(mark)]
    low, high = min(ends), max(ends)
    if figure.logarithmic and low > 0:
        ticks = ", ".join(f"{tick:g}" for tick in decade_ticks(low, high, _TICK_GAP))
        return _YAxis(f", ymode=log, log ticks with fixed point, ytick={{{ticks}}}", LOGARITHMIC)
    if figure.scale is Scale.SHARE and crowds(means):
        return _folded_axis(*folded_ends(low, high))
    if figure.scale is Scale.CUT or low < 0:
        return _YAxis("", CUT if figure.scale is Scale.CUT and low > 0 else "")
    return _YAxis(", ymin=0, ymax=1" if figure.scale is Scale.SHARE else ", ymin=0")


def _folded_axis(low: float, high: float) -> _YAxis:
    """Return an axis of the folded scale, whose coordinates are places on it: pgfplots has no such scale."""
    ticks = folded_ticks(low, high, _TICK_GAP)
    at = ", ".join(f"{float(folded(tick)):.6g}" for tick in ticks)
    ends = f"ymin={float(folded(low)):.6g}, ymax={float(folded(high)):.6g}"
    labels = ", ".join(f"{tick:g}" for tick in ticks)
    return _YAxis(f", {ends}, ytick={{{at}}}, yticklabels={{{labels}}}", FOLDED, lambda rate: float(folded(rate)))


def _coloured(paint: Mapping[str, str]) -> str:
    red, green, blue = (int(paint["color"][at : at + 2], 16) for at in (1, 3, 5))
    return f"color={{rgb,255:red,{red};green,{green};blue,{blue}}}"


def _painted(paint: Mapping[str, str]) -> str:
    mark = _MARKS.get(paint["marker"], "triangle")
    return f"{_coloured(paint)}, mark={mark}, mark options=solid, {_DASHES[paint['linestyle']]}"


def _points(series: Series, at: Mapping[str, float], y: _YAxis, *, with_intervals: bool) -> Iterator[str]:
    for x, value, *ends in zip(series.x, series.mean, series.low, series.high, strict=True):
        mean, low, high = map(y.place, (value, *ends))
        reach = "" if math.isnan(low) or not with_intervals else f" += (0,{high - mean:.6g}) -= (0,{mean - low:.6g})"
        yield f"({at[x]:g},{mean:.6g}){reach}" + (f" % {value:.6g}" if mean != value else "")
