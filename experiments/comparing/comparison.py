"""Compares a metric among agents: the picture, the file of its numbers and the text all come from the same tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from roambus.bridge.runs.writing import writing
from roambus.experiments.comparing.choice import check_metric, find_axis, main_metrics, narrow
from roambus.experiments.comparing.pairs import all_pairs, paired_tests
from roambus.experiments.comparing.pictures import draw_picture, panels
from roambus.experiments.comparing.tables import points_table, whole_table
from roambus.experiments.comparing.text import text_of_comparison
from roambus.experiments.figures.look import USUAL, Look
from roambus.experiments.figures.plans import slug
from roambus.experiments.measurements.measurements import Measurements
from roambus.spark.aggregation.tables import replace_file

COMPARE_FOLDER = "compare"
"""The folder below the results, unless another one is asked for."""
_LONGEST_STEM = 150
"""In characters: file systems take names of 255 bytes, and the suffix needs some."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What to compare.

    What is empty stands for all agents, the main metrics, the first axis with more than one value, and all values.
    """

    agents: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    against: str | None = None
    where: Mapping[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """What became of a metric: the text for the terminal, the files, and the tables of points and of differences."""

    metric: str
    text: str
    files: tuple[Path, ...]
    points: pd.DataFrame
    tests: pd.DataFrame

    def document(self) -> dict[str, Any]:
        """The same for programs: the rows of both tables, and the files."""
        tables = {"points": self.points.to_dict("records"), "differences": self.tests.to_dict("records")}
        return {"metric": self.metric, **tables, "files": list(self.files)}


def compare_agents(measured: Measurements, asked: Asked, folder: Path, look: Look = USUAL) -> Iterator[Compared]:
    """Writes `folder`/STEM in the formats of the look, and STEM.csv, for each metric; raises UserError."""
    where = asked.where or {}
    chosen = narrow(measured, asked.agents, where)
    against = find_axis(chosen, asked.against)
    for metric in asked.metrics:
        check_metric(chosen, metric)
    metrics = list(dict.fromkeys(asked.metrics)) or main_metrics(chosen)
    ends = [f"against-{against}", *(f"{axis}-{'-'.join(values)}" for axis, values in where.items())]
    with writing(folder):
        for metric, stem in zip(metrics, file_stems(metrics, ends), strict=True):
            yield _compare(chosen, metric, against, folder / stem, look)


def file_stems(metrics: Sequence[str], ends: Sequence[str]) -> list[str]:
    """Names of files, all of them different.

    Names from a results folder may differ in special characters only, which files do not have.
    """
    stems: list[str] = []
    for metric in metrics:
        stem = slug("-".join([metric, *ends]))[:_LONGEST_STEM]
        stems.append(f"{stem}-{len(stems)}" if stem in stems else stem)
    return stems


def _compare(measured: Measurements, metric: str, against: str, stem: Path, look: Look) -> Compared:
    figures = panels(measured, metric, against)
    points, tests = points_table(measured, metric), paired_tests(measured, metric, all_pairs(measured.agents))
    stem.parent.mkdir(parents=True, exist_ok=True)
    table = stem.with_name(f"{stem.name}.csv")
    replace_file(table, partial(whole_table(points, tests).to_csv, index=False, lineterminator="\n"))
    text = text_of_comparison(measured, metric, points, tests)
    return Compared(metric, text, (*draw_picture(figures, stem, look), table), points, tests)
