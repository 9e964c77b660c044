"""Writes a sweep's report: one HTML file that needs nothing else, with figures, claims and numbers."""

from __future__ import annotations

import base64
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from bridge.errors import UserError
from experiments.claim import Claim
from experiments.claims import check_claims
from experiments.evidence import Verdict
from experiments.figure_plan import agent_name
from experiments.figures import draw_figures, plan_figures
from experiments.measurements import Measurements, read_measurements
from experiments.plot import Figure
from experiments.summary import commands, facts, metrics_table, sent_table
from spark import catalogue
from spark.layout import FIGURES_FOLDER, REPORT_FILE
from spark.tables import replace_file

_TEMPLATE = Path(__file__).with_name("report.html.j2")
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


def write_report(results: Path) -> Path:
    """Writes report.html from the metrics below `results`, drawing the figures if they are not there; returns it.

    Raises UserError if there are no metrics, or nowhere to write.
    """
    measured = read_measurements(results)
    page = _render(_content(measured, _pictures(measured, results)))
    report = results / REPORT_FILE
    try:
        replace_file(report, lambda path: path.write_text(page, encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{report}: {error.strerror or error}: make room or give a folder you can write to") from None
    return report


def _render(content: dict[str, Any]) -> str:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(content)


def _content(measured: Measurements, pictures: list[Picture]) -> dict[str, Any]:
    claims = check_claims(measured)
    present = metrics_table(measured)
    return {
        "title": _title(measured),
        "facts": facts(measured),
        "claims": claims,
        "marks": _MARKS,
        "tally": _tally(claims),
        "pictures": pictures,
        "metrics": [metric for metric in catalogue.METRICS if metric.title in present.headings],
        "tables": {"Metrics of every point": present, "Packets by message type": sent_table(measured)},
        "commands": commands(measured),
        "thesis": measured.is_thesis(),
    }


def _title(measured: Measurements) -> str:
    names = " and ".join(agent_name(agent) for agent in measured.agents)
    return f"{names}, side by side" if len(measured.agents) > 1 else names


def _tally(claims: list[Claim]) -> list[tuple[Verdict, int]]:
    """How many claims have each verdict; verdicts without any are left out."""
    counts = Counter(claim.verdict for claim in claims)
    return [(verdict, counts[verdict]) for verdict in Verdict if counts[verdict]]


def _pictures(measured: Measurements, results: Path) -> list[Picture]:
    figures = plan_figures(measured)
    if not all(_file(figure, results).is_file() for figure in figures):
        draw_figures(results)
    return [_picture(figure, _file(figure, results)) for figure in figures]


def _file(figure: Figure, results: Path) -> Path:
    return results / FIGURES_FOLDER / f"{figure.name}.svg"


def _picture(figure: Figure, file: Path) -> Picture:
    data = base64.b64encode(file.read_bytes()).decode("ascii")
    scale = " Logarithmic vertical axis." if figure.logarithmic else ""
    caption = f"{figure.title}; {figure.intervals}.{scale}"
    return Picture(figure.name, f"data:image/svg+xml;base64,{data}", caption)
