"""Draws the figures of results: those that their study plans, or else one for each metric, and writes their files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from roambus.bridge.runs.layout import FIGURES_FOLDER
from roambus.bridge.runs.writing import unlinked, writing
from roambus.experiments.figures.any_sweep import plans_of_any_sweep
from roambus.experiments.figures.drawing import draw
from roambus.experiments.figures.figure import Drawn, Figure
from roambus.experiments.figures.look_up import look_up, look_up_dots
from roambus.experiments.studies.reading import SweepResults, read_results
from roambus.experiments.studies.study import Study
from roambus.spark.aggregation.tables import replace_file


def draw_figures(results: Path, own: Study | None = None) -> list[Path]:
    """Draws every figure that the metrics below `results` allow, as PNG and SVG; returns the files, tables among them.

    `own` is the study that the results are of, if it is none of ours. Raises UserError if there are no metrics, or
    nowhere to write.
    """
    folder = results / FIGURES_FOLDER
    sweeps = read_results(results, own).sweeps
    with writing(folder):
        unlinked(folder).mkdir(parents=True, exist_ok=True)
        drawn = [path for found in sweeps for figure in all_figures(found) for path in draw(figure, folder)]
        return [*drawn, *(path for found in sweeps for path in _write_tables(found, folder))]


def all_figures(found: SweepResults) -> list[Drawn]:
    """Everything that is drawn of a sweep, in the order of the report; a figure without any value is left out."""
    plans = found.origin.sweep.dots(found.measured) if found.origin else ()
    dotted = [look_up_dots(found.measured, plan) for plan in plans]
    return [*metric_figures(found), *(figure for figure in dotted if figure.series)]


def metric_figures(found: SweepResults) -> list[Figure]:
    """The figures of a sweep's metrics; a figure without any value is left out."""
    plans = found.origin.sweep.plans(found.measured) if found.origin else plans_of_any_sweep(found.measured)
    figures = [look_up(found.measured, plan) for plan in plans]
    return [figure for figure in figures if figure.series]


def _write_tables(found: SweepResults, folder: Path) -> Iterator[Path]:
    tables = found.origin.sweep.tables(found.measured) if found.origin else {}
    for name, text in tables.items():
        file = folder / name
        replace_file(file, partial(Path.write_text, data=text, encoding="utf-8"))
        yield file
