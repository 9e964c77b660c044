"""Writes the report of a sweep or study: one HTML file that needs nothing else, with figures, claims and numbers.

The page is a Jinja template in `page`, with its style and script put in. Figures are put in as SVG elements, so that
the page can filter them; the page's policy lets run only its own script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from roambus.bridge.runs.layout import FIGURES_FOLDER, REPORT_FILE
from roambus.bridge.runs.writing import writing
from roambus.experiments.evidence.claim import Claim
from roambus.experiments.evidence.rule import Verdict
from roambus.experiments.figures.figure import Drawn
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.measurements.names import agent_name
from roambus.experiments.measurements.tables import Table, metrics_table, sent_table
from roambus.experiments.page_policy import source_hash
from roambus.experiments.reporting.facts import commands, facts
from roambus.experiments.reporting.figure_files import all_figures, draw_figures
from roambus.experiments.reporting.filters import VERDICT, Filters, common_place
from roambus.experiments.reporting.inline_figure import inline_figure
from roambus.experiments.reporting.making import FEW_SEEDS, making, reproduction, scope
from roambus.experiments.shipped import shipped_studies
from roambus.experiments.studies.reading import StudyResults, SweepResults, read_results
from roambus.experiments.studies.study import Study
from roambus.spark.aggregation.tables import replace_file

_PAGE = Path(__file__).with_name("page")
_METRICS = "Metrics of every point"
_MARKS = {
    Verdict.HOLDS: "✓",
    Verdict.DOES_NOT_HOLD: "✗",
    Verdict.NOT_SIGNIFICANT: "≈",
    Verdict.NOT_MEASURED: "·",
}
"""Verdicts are told apart by mark and word, not by colour alone."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure as an element of the page, and what stands below it."""

    name: str
    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """What a report says of one sweep; `name` is empty if it is the only one."""

    name: str
    facts: list[tuple[str, str]]
    tables: dict[str, Table]
    commands: list[str]


def write_report(results: Path, own: Study | None = None) -> Path:
    """Writes report.html from the metrics below `results`, drawing the figures if they are not there; returns it.

    `own` is the study that the results are of, if it is none of ours. Raises UserError if there are no metrics, or
    nowhere to write.
    """
    found = read_results(results, own)
    page = _render(_content(found, results))
    report = results / REPORT_FILE
    with writing(report):
        replace_file(report, lambda path: path.write_text(page, encoding="utf-8"))
    return report


def _render(content: dict[str, Any]) -> str:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    page, style, script = (_read(name) for name in ("page.html.j2", "style.css", "filters.js"))
    inlined = {"style": style, "script": script, "script_hash": source_hash(script)}
    return environment.from_string(page).render(content, **inlined)


def _read(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")


def _content(found: StudyResults, results: Path) -> dict[str, Any]:
    claims = [claim for sweep in found.sweeps for claim in sweep.claims()]
    sweeps = [sweep.measured for sweep in found.sweeps]
    filters = Filters(sweeps, claims)
    sections = [_section(sweep, alone=len(sweeps) == 1) for sweep in found.sweeps]
    headings = {heading for section in sections for heading in section.tables[_METRICS].headings}
    metrics = {metric.column: metric for measured in sweeps for metric in measured.metrics}
    return {
        "title": (found.study and found.study.title) or _title(sweeps),
        "sections": sections,
        "claims": [(claim, filters.at({VERDICT: claim.verdict.value})) for claim in claims],
        "marks": _MARKS,
        "tally": _tally(claims),
        "pictures": _pictures(found, results, filters),
        "filters": filters,
        "metrics": [metric for metric in metrics.values() if metric.axis_title in headings],
        "study": found.study,
        "scope": scope(found),
        "making": making(found),
        "few_seeds": fewest if (fewest := min(measured.seeds for measured in sweeps)) < FEW_SEEDS else 0,
        "reproduction": reproduction(found),
        "notes": found.study.notes if found.study else (),
        "is_ours": found.study is not None and found.study.name in shipped_studies(),
    }


def _section(found: SweepResults, *, alone: bool) -> Section:
    measured = found.measured
    name = "" if alone or found.origin is None else found.origin.sweep.name
    tables = {_METRICS: metrics_table(measured), "Packets by message type": sent_table(measured)}
    return Section(name, facts(measured), tables, commands(found))


def _title(sweeps: Sequence[Measurements]) -> str:
    agents = dict.fromkeys(agent for measured in sweeps for agent in measured.agents)
    names = [agent_name(agent) for agent in agents]
    return f"{' and '.join(names)}, side by side" if len(names) > 1 else names[0]


def _tally(claims: list[Claim]) -> list[tuple[Verdict, int]]:
    """How many claims have each verdict; verdicts without any are left out."""
    counts = Counter(claim.verdict for claim in claims)
    return [(verdict, counts[verdict]) for verdict in Verdict if counts[verdict]]


def _pictures(found: StudyResults, results: Path, filters: Filters) -> list[Picture]:
    figures = [(figure, common_place(sweep.measured)) for sweep in found.sweeps for figure in all_figures(sweep)]
    files = [results / FIGURES_FOLDER / f"{figure.name}.svg" for figure, _ in figures]
    if not all(file.is_file() for file in files):
        draw_figures(results, found.study)
    drawn = enumerate(zip(figures, files, strict=True))
    return [
        _picture(figure, file, f"f{number}-", [filters.at({**common, **series.place}) for series in figure.series])
        for number, ((figure, common), file) in drawn
    ]


def _picture(figure: Drawn, file: Path, prefix: str, lines: Sequence[str]) -> Picture:
    scale = " Logarithmic vertical axis." if figure.logarithmic else ""
    caption = f"{figure.caption}{scale}"
    labels = ", ".join(series.label for series in figure.series if series.label)
    alternative = f"{caption} {figure.y_title} over {figure.x_title}{labels and f': {labels}'}"
    return Picture(figure.name, inline_figure(file, prefix, lines, alternative), caption)
