"""Draws the figures of results, and writes their files.

They are the study's plans. A study without plans has one for each main metric and each of its own, or all if none of
these was measured; options choose more. Captions name the conditions that differ from the study's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from roambus.bridge.runs.layout import FIGURES_FOLDER, unlinked, writing
from roambus.bridge.system.errors import UserError
from roambus.experiments.figures.drawing import draw
from roambus.experiments.figures.figure import Drawn, Figure, Plan, beside, look_up, plans_of_any_sweep
from roambus.experiments.figures.style import USUAL, FigureStyle
from roambus.experiments.measurements import Measurements
from roambus.experiments.studies.conditions import conditions
from roambus.experiments.studies.study import Study, SweepResults, read_results
from roambus.spark.aggregation.aggregate import METRIC, replace_file
from roambus.spark.metrics.catalogue import METRICS

EVERY = "all"
"""Stands for every measured metric."""


def draw_figures(
    results: Path,
    own: Study | None = None,
    style: FigureStyle = USUAL,
    metrics: Sequence[str] = (),
    out: Path | None = None,
) -> list[Path]:
    """Draw the figures that the metrics below `results` allow; return all files.

    `own` is a user's study; `metrics` chooses figures, `EVERY` all. Raises UserError.
    """
    folder = out or unlinked(results / FIGURES_FOLDER)
    sweeps = read_results(results, own).sweeps
    style = replace(style, agents=tuple(dict.fromkeys(agent for found in sweeps for agent in found.measured.agents)))
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        chosen = [figure for found in sweeps for figure in _chosen(found, metrics)]
        files = [path for figure in chosen for path in draw(figure, folder, style)]
        for found in sweeps:
            for name, text in _tables(found).items() if not metrics else ():
                replace_file(folder / name, partial(Path.write_text, data=text, encoding="utf-8"))
                files.append(folder / name)
        if not files:
            study = " --study FILE" if own else ""
            raise UserError(
                f"{results}: no figure has a value: roambus aggregate {results}{study} computes the metrics"
            )
        return files


def _tables(found: SweepResults) -> dict[str, str]:
    """The study's Markdown files by name, with the conditions that differ above the tables."""
    tables = found.origin.sweep.tables(found.measured) if found.origin else {}
    head = f"{text}\n\n" if (text := conditions(found)) else ""
    return {name: head + table for name, table in tables.items()}


def _chosen(found: SweepResults, metrics: Sequence[str]) -> list[Drawn]:
    if not metrics:
        return all_figures(found)
    present = set(found.measured.points[METRIC])
    every = [metric.column for metric in found.measured.metrics if metric.column in present]
    asked = every if list(metrics) == [EVERY] else metrics
    figures = metric_figures(found, asked)
    if not figures:
        meant = "; nor ".join(f"{metric}: {found.measured.metric(metric).meaning.rstrip('.')}" for metric in asked)
        raise UserError(f"none of these runs has {meant}")
    return [*figures]


def _plans_of(found: SweepResults, metric: str) -> list[Plan]:
    found.measured.metric(metric)  # refuses an unknown one
    own = [plan for plan in _planned(found) if all((line.metric or plan.metric) == metric for line in plan.lines)]
    return own or [plan for plan in plans_of_any_sweep(found.measured) if plan.metric == metric]


def _planned(found: SweepResults) -> Iterable[Plan]:
    planned = [*found.origin.sweep.plans(found.measured)] if found.origin else []
    every, present = [*plans_of_any_sweep(found.measured)], set(found.measured.points[METRIC])
    main = {metric.column for metric in found.measured.metrics if metric.is_main or metric not in METRICS}
    return planned or [plan for plan in every if plan.metric in main & present] or every


def all_figures(found: SweepResults) -> list[Drawn]:
    """A sweep's figures in the report's order, without empty ones."""
    own = found.origin.sweep.drawings(found.measured) if found.origin else ()
    text = conditions(found)
    return [*(figure.with_remark(text) for figure in own), *metric_figures(found)]


def metric_figures(found: SweepResults, metrics: Sequence[str] = (), part: Measurements | None = None) -> list[Figure]:
    """The figures of a sweep's metrics, the usual ones or all of the named, without empty ones; raises UserError.

    With a `part` of its measurements they show that alone; captions are about the whole.
    """
    shown = replace(found, measured=part) if part is not None else found
    plans = [plan for metric in metrics for plan in _plans_of(shown, metric)] if metrics else _planned(shown)
    text = conditions(found)
    figures = (look_up(shown.measured, plan) for plan in {plan.name: plan for plan in plans}.values())
    return beside([figure.with_remark(text) for figure in figures if figure.series])
