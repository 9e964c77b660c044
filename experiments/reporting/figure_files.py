"""Draws the figures of results: those that their study plans, or else one for each metric, and writes their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import FIGURES_FOLDER
from roambus.bridge.runs.writing import unlinked, writing
from roambus.experiments.figures.any_sweep import plans_of_any_sweep
from roambus.experiments.figures.drawing import draw
from roambus.experiments.figures.figure import Drawn, Figure
from roambus.experiments.figures.look import USUAL, Look
from roambus.experiments.figures.look_up import look_up, look_up_dots
from roambus.experiments.studies.reading import SweepResults, read_results
from roambus.experiments.studies.study import Study
from roambus.spark.aggregation.tables import replace_file


def draw_figures(
    results: Path, own: Study | None = None, look: Look = USUAL, metrics: Sequence[str] = (), out: Path | None = None
) -> list[Path]:
    """Draws every figure that the metrics below `results` allow; returns the files, captions and tables among them.

    `own` is the study that the results are of, if it is none of ours. With `metrics` only figures of these are drawn.
    They go to `out`, or else to the folder of the results for them.
    Raises UserError if there are no metrics, or not these, or nowhere to write.
    """
    folder = out or unlinked(results / FIGURES_FOLDER)
    sweeps = read_results(results, own).sweeps
    look = replace(look, agents=tuple(dict.fromkeys(agent for found in sweeps for agent in found.measured.agents)))
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        chosen = [figure for found in sweeps for figure in _chosen(found, metrics)]
        drawn = [path for figure in chosen for path in draw(figure, folder, look)]
        return [*drawn, *(path for found in sweeps for path in _write_tables(found, folder) if not metrics)]


def _chosen(found: SweepResults, metrics: Sequence[str]) -> list[Drawn]:
    """All figures, or those of some metrics; raises UserError for a metric that there is not, or not in these runs."""
    if not metrics:
        return all_figures(found)
    figures = {figure.name: figure for metric in metrics for figure in _figures_of(found, metric)}
    if not figures:
        raise UserError(f"none of these runs has {' or '.join(metrics)}")
    return [*figures.values()]


def _figures_of(found: SweepResults, metric: str) -> list[Figure]:
    """The figures of a metric as the study plans them, or else the one over the first axis."""
    found.measured.metric(metric)  # refuses an unknown one
    planned = found.origin.sweep.plans(found.measured) if found.origin else ()
    own = [plan for plan in planned if all((line.metric or plan.metric) == metric for line in plan.lines)]
    plans = own or [plan for plan in plans_of_any_sweep(found.measured) if plan.metric == metric]
    return [figure for plan in plans if (figure := look_up(found.measured, plan)).series]


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
