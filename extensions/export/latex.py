"""Figures and their numbers for LaTeX: TikZ of pgfplots, and tables of booktabs.

Each file is a complete figure or table with caption and label, to be input. Lines look as in the drawn figures, and
have a legend above; rates have a linear axis.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from roambus.bridge.system.errors import UserError
from roambus.experiments.comparing.selection import Where, narrow
from roambus.experiments.figures.drawing import paints
from roambus.experiments.figures.figure import Figure, Series, places
from roambus.experiments.figures.scales import CUT
from roambus.experiments.figures.style import FigureStyle
from roambus.experiments.measurements import Measurements, format_mean
from roambus.experiments.reporting.figure_files import metric_figures
from roambus.experiments.studies.study import read_results
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


@dataclass(frozen=True, slots=True)
class Chosen:
    """The figures of these metrics (none: the usual ones), of runs at these values, each of this size in inches."""

    metrics: Sequence[str] = ()
    where: Where = field(default_factory=dict)
    size: tuple[float, float] | None = None
    """None for the width of a line."""

    def part_of(self, measured: Measurements) -> Measurements | None:
        """Return the measurements at the values, or None for all; raise UserError."""
        return narrow(measured, (), self.where) if self.where else None


def latex_files(results: Path, chosen: Chosen | None = None) -> Iterator[tuple[str, list[str]]]:
    """Yield each figure's and table's file name and lines; raise UserError without metrics or a figure."""
    chosen = chosen or Chosen()
    found = [
        (figure, FigureStyle(agents=tuple(sweep.measured.agents)))
        for sweep in read_results(results).sweeps
        for figure in metric_figures(sweep, chosen.metrics, chosen.part_of(sweep.measured))
    ]
    if not found:
        raise UserError(f"{results}: no figure has a value: choose another --metric or --where")
    size = _SIZE if chosen.size is None else "width={:g}in, height={:g}in".format(*chosen.size)
    for figure, style in found:
        yield f"{figure.name}.tex", _framed("figure", "fig", figure, _plot(figure, style, size))
        yield f"{figure.name}-table.tex", _framed("table*", "tab", figure, _table(figure))


def escaped(text: str) -> str:
    """Return the text as LaTeX."""
    return re.sub(r"[&%$#_{}\\~^±]", lambda found: _SPECIAL[found[0]], text)


def _framed(kind: str, prefix: str, figure: Figure, lines: Iterable[str]) -> list[str]:
    caption = f"\\caption{{{escaped(figure.own_caption)}}}\n\\label{{{prefix}:{figure.name}}}\n"
    whole = [f"\\begin{{{kind}}}\n\\centering\n", *lines, f"\\end{{{kind}}}\n"]
    whole.insert(-1 if kind == "figure" else 1, caption)
    return whole


def _table(figure: Figure) -> Iterator[str]:
    rows = [[figure.x_title, *(figure.labels.get(x, x) for x in figure.x_values)]]
    for series in figure.series:
        cells = dict(zip(series.x, map(format_mean, series.mean, series.low, series.high), strict=True))
        rows.append([series.label, *(cells.get(x, "") for x in figure.x_values)])
    head, *body = (f"{' & '.join(map(escaped, row))} \\\\\n" for row in rows)
    yield f"\\begin{{tabular}}{{l{'r' * len(figure.x_values)}}}\n\\toprule\n{head}\\midrule\n"
    yield from body
    yield "\\bottomrule\n\\end{tabular}\n"


def _plot(figure: Figure, style: FigureStyle, size: str) -> Iterator[str]:
    at = places(figure.x_values)
    labels = ", ".join(f"{{{escaped(figure.labels.get(x, x))}}}" for x in at)
    marks = [mark for series in figure.series for mark in (*series.mean, *series.low, *series.high)]
    ends = [mark for mark in marks if not math.isnan(mark)]
    log = _decades(min(ends), max(ends)) if figure.logarithmic and min(ends) > 0 else _linear(figure, min(ends))
    cut = CUT if figure.scale is Scale.CUT and min(ends) > 0 else ""
    titles = f"xlabel={{{escaped(figure.x_title)}}}, ylabel={{{escaped(figure.y_title + cut)}}}"
    ticks = f"xtick={{{', '.join(f'{place:g}' for place in at.values())}}}, xticklabels={{{labels}}}"
    yield f"\\begin{{tikzpicture}}\n\\begin{{axis}}[{size}, {_STYLE},\n{titles},\n{ticks}{log}]\n"
    for series, paint in zip(figure.series, paints(figure.series, style), strict=True):
        bars = "" if figure.shows_seeds else ", error bars/.cd, y dir=both, y explicit"
        yield f"\\addplot[{_painted(paint)}{bars}] coordinates {{\n"
        yield from (f"  {point}\n" for point in _points(series, at, with_intervals=not figure.shows_seeds))
        yield "};\n" + (f"\\addlegendentry{{{escaped(series.label)}}}\n" if series.label else "")
    for series, paint in zip(figure.series, paints(figure.series, style), strict=True) if figure.shows_seeds else ():
        seeds = ((at[x], value) for x, values in zip(series.x, series.values, strict=True) for value in values)
        yield f"\\addplot[forget plot, {_coloured(paint)}, only marks, mark=*, mark size=0.8pt] coordinates {{\n"
        yield from (f"  ({place:g},{value:.6g})\n" for place, value in seeds)
        yield "};\n"
    yield "\\end{axis}\n\\end{tikzpicture}\n"


def _linear(figure: Figure, low: float) -> str:
    """Return the ends of a linear axis: 0 where lengths are compared, 0 and 1 of shares."""
    if figure.scale is Scale.CUT or low < 0:
        return ""
    return ", ymin=0, ymax=1" if figure.scale is Scale.SHARE else ", ymin=0"


def _decades(low: float, high: float) -> str:
    """Return a logarithmic axis with ticks at 1, 2 and 5, which pgfplots lacks."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [tick for power in powers for digit in (1, 2, 5) if low <= (tick := digit * 10.0**power) <= high]
    return f", ymode=log, log ticks with fixed point, ytick={{{', '.join(f'{tick:g}' for tick in ticks)}}}"


def _coloured(paint: Mapping[str, str]) -> str:
    red, green, blue = (int(paint["color"][at : at + 2], 16) for at in (1, 3, 5))
    return f"color={{rgb,255:red,{red};green,{green};blue,{blue}}}"


def _painted(paint: Mapping[str, str]) -> str:
    mark = _MARKS.get(paint["marker"], "triangle")
    return f"{_coloured(paint)}, mark={mark}, mark options=solid, {_DASHES[paint['linestyle']]}"


def _points(series: Series, at: Mapping[str, float], *, with_intervals: bool) -> Iterator[str]:
    for x, mean, low, high in zip(series.x, series.mean, series.low, series.high, strict=True):
        reach = "" if math.isnan(low) or not with_intervals else f" += (0,{high - mean:.6g}) -= (0,{mean - low:.6g})"
        yield f"({at[x]:g},{mean:.6g}){reach}"
