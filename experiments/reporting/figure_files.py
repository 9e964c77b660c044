"""Draws the figures of results, and writes their files.

They are the study's plans, or else one for each main metric and each of the study's own, or all if none of these was
measured; options choose more. Reports inline the files. A file may come from anywhere, so only listed drawing elements
and attributes are kept: SVG has more ways to run a script than any list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring, tostring

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import FIGURES_FOLDER, unlinked, writing
from roambus.experiments.figures.drawing import LINE_ID, draw
from roambus.experiments.figures.figure import Drawn, Figure, Plan, beside, look_up, plans_of_any_sweep
from roambus.experiments.figures.style import USUAL, Look
from roambus.experiments.studies.study import Study, SweepResults, read_results
from roambus.spark.aggregation.aggregate import METRIC, replace_file
from roambus.spark.metrics.catalogue import METRICS

EVERY = "all"
"""Stands for every measured metric."""


def draw_figures(
    results: Path, own: Study | None = None, look: Look = USUAL, metrics: Sequence[str] = (), out: Path | None = None
) -> list[Path]:
    """Draw the figures that the metrics below `results` allow; return all files.

    `own` is a user's study; `metrics` chooses figures, `EVERY` all. Raises UserError.
    """
    folder = out or unlinked(results / FIGURES_FOLDER)
    sweeps = read_results(results, own).sweeps
    look = replace(look, agents=tuple(dict.fromkeys(agent for found in sweeps for agent in found.measured.agents)))
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        chosen = [figure for found in sweeps for figure in _chosen(found, metrics)]
        files = [path for figure in chosen for path in draw(figure, folder, look)]
        for found in sweeps:
            for name, text in found.origin.sweep.tables(found.measured).items() if found.origin and not metrics else ():
                replace_file(folder / name, partial(Path.write_text, data=text, encoding="utf-8"))
                files.append(folder / name)
        if not files:
            study = " --study FILE" if own else ""
            raise UserError(
                f"{results}: no figure has a value: roambus aggregate {results}{study} computes the metrics"
            )
        return files


def _chosen(found: SweepResults, metrics: Sequence[str]) -> list[Drawn]:
    if not metrics:
        return all_figures(found)
    present = set(found.measured.points[METRIC])
    every = [metric.column for metric in found.measured.metrics if metric.column in present]
    asked = every if list(metrics) == [EVERY] else metrics
    figures = {figure.name: figure for metric in asked for figure in _figures_of(found, metric)}
    if not figures:
        raise UserError(f"none of these runs has {' or '.join(metrics)}")
    return [*figures.values()]


def _figures_of(found: SweepResults, metric: str) -> list[Figure]:
    found.measured.metric(metric)  # refuses an unknown one
    own = [plan for plan in _planned(found) if all((line.metric or plan.metric) == metric for line in plan.lines)]
    return _drawn(found, own or [plan for plan in plans_of_any_sweep(found.measured) if plan.metric == metric])


def _planned(found: SweepResults) -> Iterable[Plan]:
    planned = [*found.origin.sweep.plans(found.measured)] if found.origin else []
    every, present = [*plans_of_any_sweep(found.measured)], set(found.measured.points[METRIC])
    main = {metric.column for metric in found.measured.metrics if metric.is_main or metric not in METRICS}
    return planned or [plan for plan in every if plan.metric in main & present] or every


def all_figures(found: SweepResults) -> list[Drawn]:
    """A sweep's figures in the report's order, without empty ones."""
    own = found.origin.sweep.drawings(found.measured) if found.origin else ()
    return [*own, *metric_figures(found)]


def metric_figures(found: SweepResults) -> list[Figure]:
    """The figures of a sweep's metrics, without empty ones."""
    return _drawn(found, _planned(found))


def _drawn(found: SweepResults, plans: Iterable[Plan]) -> list[Figure]:
    return beside([figure for plan in plans if (figure := look_up(found.measured, plan)).series])


# What Matplotlib writes and a figure needs. Styles are taken over whole: the policy of the page loads nothing for them.
_SVG = "{http://www.w3.org/2000/svg}"
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_ELEMENTS = frozenset({"svg", "g", "defs", "path", "use", "clipPath", "rect", "text", "tspan"})
_ATTRIBUTES = frozenset({"viewBox", "d", "x", "y", "width", "height", "transform", "style", "clip-path"})
_WORDS = frozenset({"text", "tspan"})
_REFERRED_TO = frozenset({"path", "clipPath"})
_TARGET = "url(#"


def inline_figure(file: Path, prefix: str, lines: Sequence[str], alternative: str) -> str:
    """The figure as an element `svg`, with ids that begin with `prefix`.

    Lines get `lines` as data-at; `alternative` is for screen readers. Raises UserError, OSError.
    """
    root = _parsed(file)
    _leave_out_foreign(root)
    for element in root.iter():
        _localise(element, prefix, lines)
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    root.attrib |= {"role": "img", "aria-label": alternative}
    return tostring(root, encoding="unicode")


def _parsed(file: Path) -> Element:
    try:
        root = fromstring(file.read_bytes())  # noqa: S314  # expat itself bounds what entities grow to
    except ParseError as error:
        raise UserError(f"{file}: this is not an SVG: {error}: delete it and run `roambus figures` again") from None
    # Well-formed XML of another kind would become a page with nothing in the figure's place, and nobody would know why.
    if root.tag != f"{_SVG}svg":
        raise UserError(
            f"{file}: this is not an SVG, but begins with {root.tag!r}: delete it and run `roambus figures` again"
        )
    return root


def _leave_out_foreign(parent: Element) -> None:
    for child in list(parent):
        if child.tag.startswith(_SVG) and child.tag.removeprefix(_SVG) in _ELEMENTS:
            _leave_out_foreign(child)
        else:
            parent.remove(child)


def _localise(element: Element, prefix: str, lines: Sequence[str]) -> None:
    # Two figures on a page use the same ids, and a page has each id once: so all get the figure's prefix.
    tag, old = element.tag.removeprefix(_SVG), dict(element.attrib)
    element.tag, element.tail = tag, None
    element.text = element.text if tag in _WORDS else None
    element.attrib.clear()
    for name in filter(_ATTRIBUTES.__contains__, old):
        element.set(name, " ".join(old[name].split()).replace(_TARGET, f"{_TARGET}{prefix}"))
    if old.get(_XLINK_HREF, "").startswith("#"):
        element.set("href", f"#{prefix}{old[_XLINK_HREF][1:]}")
    if "id" in old and tag in _REFERRED_TO:
        element.set("id", prefix + old["id"])
    line = re.fullmatch(LINE_ID, old.get("id", ""))
    if line is not None:
        element.set("data-at", "".join(lines[int(line[1]) :][:1]))
