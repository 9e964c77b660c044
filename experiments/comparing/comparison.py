"""Compares a metric among agents: numbers, text and picture come from the same tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from roambus.bridge.runs.layout import AGENT, writing
from roambus.bridge.system.errors import UserError
from roambus.experiments.comparing.selection import (
    check_known,
    check_metric,
    check_places,
    find_axis,
    main_metrics,
    narrow,
)
from roambus.experiments.comparing.tables import paired_tests, points_table, spread, text_of_comparison, whole_table
from roambus.experiments.figures.drawing import draw, draw_panels, write_caption
from roambus.experiments.figures.figure import Figure, Line, Plan, agent_lines, look_up, slug
from roambus.experiments.figures.style import USUAL, FigureStyle
from roambus.experiments.measurements import Measurements
from roambus.spark.aggregation.aggregate import replace_file
from roambus.spark.metrics.catalogue import SENT_PREFIX

_LONGEST_STEM = 150
"""In characters: file names have 255 bytes, suffix included."""


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """The requested comparison; empty fields mean all agents, main metrics, the first varying axis, all values."""

    agents: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    against: str | None = None
    where: Mapping[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """A metric's comparison: text, files, and tables of points and differences."""

    metric: str
    text: str
    files: tuple[Path, ...]
    points: pd.DataFrame
    tests: pd.DataFrame

    def document(self) -> dict[str, Any]:
        """The rows of both tables and the files, for programs."""
        tables = {"points": self.points.to_dict("records"), "differences": self.tests.to_dict("records")}
        return {"metric": self.metric, **tables, "files": list(self.files)}


def compare_agents(measured: Measurements, asked: CompareOptions, folder: Path | None = None) -> Iterator[Compared]:
    """Compare each metric; with a folder write `folder`/STEM.csv. Raises UserError."""
    chosen = _chosen(measured, asked)
    with writing(folder) if folder else nullcontext():
        for metric, stem in _stems(chosen, asked).items():
            yield _compare(chosen, metric, folder and folder / f"{stem}.csv")


def draw_compared(
    measured: Measurements, asked: CompareOptions, folder: Path, style: FigureStyle = USUAL, conditions: str = ""
) -> Iterator[Path]:
    """Write each metric's `folder`/STEM in the style's formats; raises UserError.

    Its caption ends with the `conditions` that are not the study's.
    """
    chosen = _chosen(measured, asked)
    against, own = find_axis(chosen, asked.against), replace(style, agents=tuple(measured.agents))
    with writing(folder):
        for metric, stem in _stems(chosen, asked).items():
            figures = [figure.with_remark(conditions) for figure in panels(chosen, metric, against)]
            folder.mkdir(parents=True, exist_ok=True)
            yield from draw_picture(figures, folder / stem, own)


def check_names(places: Measurements, asked: CompareOptions) -> None:
    """Raises UserError for a name that runs at these places cannot have; message types are known from runs alone."""
    check_places(places, asked.agents, asked.against, asked.where or {})
    for metric in asked.metrics:
        if not metric.startswith(SENT_PREFIX):
            check_known(places, metric)


def _chosen(measured: Measurements, asked: CompareOptions) -> Measurements:
    """Narrow the results; raises UserError for an unknown name before any file is written."""
    chosen = narrow(measured, asked.agents, asked.where or {})
    for metric in asked.metrics:
        check_metric(chosen, metric)
    return chosen


def _stems(chosen: Measurements, asked: CompareOptions) -> dict[str, str]:
    metrics = list(dict.fromkeys(asked.metrics)) or main_metrics(chosen)
    values = (f"{axis}-{'-'.join(values)}" for axis, values in (asked.where or {}).items())
    ends = [f"against-{find_axis(chosen, asked.against)}", *values]
    return dict(zip(metrics, file_stems(metrics, ends), strict=True))


def file_stems(metrics: Sequence[str], ends: Sequence[str]) -> list[str]:
    """Distinct file names for these metrics, without special characters."""
    stems: list[str] = []
    for metric in metrics:
        stem = slug("-".join([metric, *ends]))[:_LONGEST_STEM]
        stems.append(f"{stem}-{len(stems)}" if stem in stems else stem)
    return stems


def _compare(measured: Measurements, metric: str, table: Path | None) -> Compared:
    pairs = list(itertools.combinations(measured.agents, 2))
    points, tests = points_table(measured, metric), paired_tests(measured, metric, pairs)
    files = () if table is None else (table,)
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, partial(whole_table(points, tests).to_csv, index=False, lineterminator="\n"))
    return Compared(metric, text_of_comparison(measured, metric, points, tests), files, points, tests)


# The picture: a panel for each combination of the other axes' values, all of one scale


MOST_PANELS = 12
"""The most legible panels of one picture."""


def panels(measured: Measurements, metric: str, against: str) -> list[Figure]:
    """A figure for each combination of the other axes' values; raises UserError for too many."""
    others = [axis for axis in measured.axes if axis != against]
    measured = replace(measured, points=spread(measured.points, others))
    places = [dict(zip(others, place, strict=True)) for place in itertools.product(*map(measured.values, others))]
    figures = (look_up(measured, _plan(measured, metric, against, place)) for place in places)
    found = [figure for figure in figures if figure.series]
    if len(found) > MOST_PANELS:
        varying = [axis for axis in others if len(measured.values(axis)) > 1]
        raise UserError(f"{len(found)} panels are too many for a picture: narrow {' or '.join(varying)} (--where)")
    return [replace(figure, beside=tuple(series for other in found for series in other.series)) for figure in found]


def _plan(measured: Measurements, metric: str, against: str, place: dict[str, str]) -> Plan:
    title = measured.title(metric)
    at = "".join(f", {measured.at(axis, value)}" for axis, value in place.items())
    lines = [Line("", place)] if against == AGENT else agent_lines(measured, place)
    return Plan("", title + at, metric, against, lines)


def draw_picture(figures: Sequence[Figure], stem: Path, style: FigureStyle = USUAL) -> list[Path]:
    """Write STEM in the style's formats, and the caption as STEM.txt; raises OSError."""
    if len(figures) == 1:
        return draw(replace(figures[0], name=stem.name), stem.parent, style)
    files = [stem.with_name(f"{stem.name}.{kind}") for kind in style.formats]
    for file in files:
        draw_panels(figures, file, style)
    return [*files, write_caption(stem, figures)]
