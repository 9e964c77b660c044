"""Writes the report of a sweep or study: one HTML file that needs nothing else, with figures, claims and numbers."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from bridge.errors import UserError
from experiments.claim import Claim
from experiments.claims import check_claims
from experiments.evidence import Verdict
from experiments.figure_plan import agent_name
from experiments.figures import all_figures, draw_figures
from experiments.measurements import Measurements
from experiments.plot import Drawn
from experiments.studies import MODULES
from experiments.study import Study
from experiments.study_results import StudyResults, read_results
from experiments.summary import Table, commands, facts, metrics_table, sent_table
from spark.layout import FIGURES_FOLDER, REPORT_FILE
from spark.tables import replace_file

_TEMPLATE = Path(__file__).with_name("report.html.j2")
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
    """A figure with its file as a data URI, and what stands below it."""

    name: str
    source: str
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
    page = _render(_content(found, _pictures(found, results)))
    report = results / REPORT_FILE
    try:
        replace_file(report, lambda path: path.write_text(page, encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{report}: {error.strerror or error}: make room or give a folder you can write to") from None
    return report


def _render(content: dict[str, Any]) -> str:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(content)


def _content(found: StudyResults, pictures: list[Picture]) -> dict[str, Any]:
    claims = [claim for measured in found.sweeps for claim in check_claims(measured)]
    sections = [_section(measured, alone=len(found.sweeps) == 1) for measured in found.sweeps]
    headings = {heading for section in sections for heading in section.tables[_METRICS].headings}
    metrics = {metric.column: metric for measured in found.sweeps for metric in measured.metrics}
    return {
        "title": (found.study and found.study.title) or _title(found.sweeps),
        "sections": sections,
        "claims": claims,
        "marks": _MARKS,
        "tally": _tally(claims),
        "pictures": pictures,
        "metrics": [metric for metric in metrics.values() if metric.title in headings],
        "study": found.study,
        "notes": found.study.notes if found.study else (),
        "is_ours": found.study is not None and found.study.name in MODULES,
    }


def _section(measured: Measurements, *, alone: bool) -> Section:
    name = "" if alone or measured.study is None else measured.study[1].name
    tables = {_METRICS: metrics_table(measured), "Packets by message type": sent_table(measured)}
    return Section(name, facts(measured), tables, commands(measured))


def _title(sweeps: Sequence[Measurements]) -> str:
    agents = dict.fromkeys(agent for measured in sweeps for agent in measured.agents)
    names = [agent_name(agent) for agent in agents]
    return f"{' and '.join(names)}, side by side" if len(names) > 1 else names[0]


def _tally(claims: list[Claim]) -> list[tuple[Verdict, int]]:
    """How many claims have each verdict; verdicts without any are left out."""
    counts = Counter(claim.verdict for claim in claims)
    return [(verdict, counts[verdict]) for verdict in Verdict if counts[verdict]]


def _pictures(found: StudyResults, results: Path) -> list[Picture]:
    figures = [figure for measured in found.sweeps for figure in all_figures(measured)]
    if not all(_file(figure, results).is_file() for figure in figures):
        draw_figures(results, found.study)
    return [_picture(figure, _file(figure, results)) for figure in figures]


def _file(figure: Drawn, results: Path) -> Path:
    return results / FIGURES_FOLDER / f"{figure.name}.svg"


def _picture(figure: Drawn, file: Path) -> Picture:
    data = base64.b64encode(file.read_bytes()).decode("ascii")
    scale = " Logarithmic vertical axis." if figure.logarithmic else ""
    caption = f"{figure.title}; {figure.intervals}.{scale}"
    return Picture(figure.name, f"data:image/svg+xml;base64,{data}", caption)
