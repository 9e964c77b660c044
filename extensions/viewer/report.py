"""Writes the report of results: one self-contained HTML file with verdicts, figures, and all points to choose from.

The page is a Jinja template in `report_page`, and its policy runs only its own script. The script draws the points
that a reader chooses, from the numbers of `explorer`. Each claim stands beside the figure that shows it.

The first screen names the conditions that are not the study's.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from roambus.bridge.runs.layout import (
    AGENT,
    LOG_FILE,
    PRECISION,
    REPORT_FILE,
    SEED,
    TITLES,
    files_of_runs,
    writing,
)
from roambus.bridge.runs.log import cpu_seconds, maker_of
from roambus.experiments.claims import SIGNIFICANCE, Claim, Part, Side, Verdict
from roambus.experiments.figures.drawing import draw
from roambus.experiments.figures.figure import Drawn
from roambus.experiments.figures.style import USUAL
from roambus.experiments.inventory import shipped_studies
from roambus.experiments.measurements import Measurements
from roambus.experiments.page_policy import page_template, source_hash
from roambus.experiments.reporting.figure_files import all_figures
from roambus.experiments.studies.conditions import OTHER, QUICK, WHOLE, differences, heads, scope
from roambus.experiments.studies.study import Study, StudyResults, SweepResults, read_results
from roambus.experiments.sweeps.request_file import command_of
from roambus.extensions.viewer.explorer import explorer_data
from roambus.extensions.viewer.inline_figure import inline_figure
from roambus.spark.aggregation.aggregate import replace_file

_SECONDS = ("time_limit", "publish_until")
"""Settings shown with their unit: sweeps have bare numbers."""


def facts(measured: Measurements) -> list[tuple[str, str]]:
    """Pairs of texts that say what was run."""
    sweep = measured.sweep
    return [
        ("agents", "; ".join(_agent_fact(measured, agent) for agent in measured.agents)),
        *((measured.axis_heading(axis), ", ".join(measured.values(axis))) for axis in measured.axes),
        ("seeds a point", _seeds(measured)),
        ("runs", measured.runs_there()),
        *(
            (name.replace("_", " "), f"{value} s" if name in _SECONDS else str(value))
            for name, value in sweep.get("set", {}).items()
        ),
    ]


def _seeds(measured: Measurements) -> str:
    counts = measured.runs.groupby([AGENT, *measured.axes])[SEED].size().value_counts().sort_index()
    if len(counts) == 1:
        return str(measured.seeds)
    spread = ", ".join(f"{seeds} at {points} points" for seeds, points in counts.items())
    options = str(measured.sweep.get(PRECISION, ""))
    return f"{spread} ({options})" if options else spread


def _agent_fact(measured: Measurements, agent: str) -> str:
    use, parameters = measured.sweep.get("agents", {}).get(agent) or (agent, {})
    words = [f"is {use}"] * (use != agent) + [f"{name} = {value}" for name, value in parameters.items()]
    name = measured.agent_name(agent)
    return f"{name} ({', '.join(words)})" if words else name


FEW_SEEDS = 5
"""With fewer seeds a point, intervals show large differences only."""
_MOST_NAMED = 3


def reproduction(found: StudyResults) -> str:
    """The command that makes these results, if one does."""
    name = found.study.name if found.study else ""
    return {WHOLE: f"roambus reproduce {name}", QUICK: f"roambus reproduce {name} --quick"}.get(scope(found), "")


def making(found: StudyResults) -> list[tuple[str, str]]:
    """Code, dates, machines and run time from the logs, as text pairs."""
    logs = (log for sweep in found.sweeps if sweep.folder for log in files_of_runs(sweep.folder, LOG_FILE))
    made = [(maker, cpu_seconds(log)) for log in logs if (maker := maker_of(log))]
    if not made:
        return []
    makers = {maker for maker, _ in made}
    dates = sorted({maker.date for maker in makers})
    return [
        ("made with", _named({maker.code for maker in makers})),
        ("made on", dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"),
        ("machine", _named({maker.machine for maker in makers})),
        ("run time", f"{sum(seconds for _, seconds in made):,.0f} s of CPU in all"),
    ]


def _named(texts: set[str]) -> str:
    more = len(texts) - _MOST_NAMED
    return "; ".join(sorted(texts)[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


# Verdicts

_MARKS = {
    Verdict.HOLDS: "✓",
    Verdict.DOES_NOT_HOLD: "✗",
    Verdict.NOT_SIGNIFICANT: "≈",
    Verdict.NOT_MEASURED: "·",
}
"""Verdicts have mark and word, not colour alone."""


def decisive(claim: Claim) -> Part | None:
    """The part to show first: the clearest of those against the claim, or else the least clear."""
    contrary = [part for part in claim.parts if not part.supports]
    return min(contrary, key=_doubt) if contrary else max(claim.parts, key=_doubt, default=None)


def _doubt(part: Part) -> float:
    return 1.0 if math.isnan(part.p) else part.p


def reason(claim: Claim) -> str:
    """One sentence that says why a claim does not hold, or not clearly; empty for one that holds."""
    part = decisive(claim)
    if part is None:
        return " ".join(claim.evidence)
    needed = f"the claim needs {'more' if part.bound.side is Side.ABOVE else 'less'} than {part.bound.number:,g}"
    match claim.verdict:
        case Verdict.DOES_NOT_HOLD:
            return f"{part.label}: {part.number}; {needed}."
        case Verdict.NOT_SIGNIFICANT if part.p < SIGNIFICANCE and not part.supports:
            return (
                f"{part.label}: {part.number}; {needed}. Holm's correction for {len(claim.parts)} parts leaves it open."
            )
        case Verdict.NOT_SIGNIFICANT:
            return f"{part.label}: {part.number} cannot be told from {part.bound.number:,g}; {needed}."
    return ""


def dial(part: Part) -> dict[str, float]:
    """Places from 0 to 100 of a part's mean and interval; its bound is at 50, and the claimed side to its right."""
    half = 0.0 if math.isnan(part.half_width) else part.half_width
    sign, distance = (1 if part.bound.side is Side.ABOVE else -1), part.mean - part.bound.number
    scale = 46 * sign / (abs(distance) + half or 1.0)
    return {
        "mean": 50 + distance * scale,
        "low": 50 + (distance - half) * scale,
        "high": 50 + (distance + half) * scale,
    }


# The page

_PAGE = Path(__file__).with_name("report_page")


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure as a page element, and its caption."""

    name: str
    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """One sweep's section; `name` is empty for the only one."""

    name: str
    facts: list[tuple[str, str]]
    commands: list[str]


def write_report(results: Path, own: Study | None = None) -> Path:
    """Write report.html with figures from the metrics below `results`; return it. Raises UserError."""
    page, report = report_page(results, own), results / REPORT_FILE
    with writing(report):
        replace_file(report, lambda path: path.write_text(page, encoding="utf-8"))
    return report


def report_page(results: Path, own: Study | None = None) -> str:
    """The report's HTML, with figures drawn from the metrics. Raises UserError."""
    content = _content(read_results(results, own), results)
    style, script = ((_PAGE / name).read_text(encoding="utf-8") for name in ("style.css", "explorer.js"))
    page = page_template(_PAGE / "page.html.j2")
    return page.render(content, style=style, script=script, script_hash=source_hash(script))


def _content(found: StudyResults, results: Path) -> dict[str, Any]:
    claims = [claim for sweep in found.sweeps for claim in sweep.claims()]
    counts = Counter(claim.verdict for claim in claims)
    sweeps = [sweep.measured for sweep in found.sweeps]
    pictures = _pictures(found)
    names = [picture.name for picture in pictures]
    return {
        "title": (found.study and found.study.title) or _title(sweeps),
        "sections": [_section(sweep, alone=len(sweeps) == 1) for sweep in found.sweeps],
        "claims": claims,
        "groups": list(claims[0].others) if claims else [],
        "marks": _MARKS,
        "tally": [(verdict, counts[verdict]) for verdict in Verdict if counts[verdict]],
        "decisive": decisive,
        "dial": dial,
        "reason": reason,
        "pictures": [(picture, [claim for claim in claims if claim.figure == picture.name]) for picture in pictures],
        "unpictured": [claim for claim in claims if claim.figure not in names],
        "names": names,
        "data": explorer_data(found, results),
        "metrics": list({metric.column: metric for measured in sweeps for metric in measured.comparable()}.values()),
        "study": found.study,
        "scope": scope(found),
        "is_other": scope(found) == OTHER,
        "conditions": heads(found),
        "differences": [row for sweep in found.sweeps for row in differences(sweep)],
        "making": making(found),
        "few_seeds": fewest if (fewest := min(measured.seeds for measured in sweeps)) < FEW_SEEDS else 0,
        "reproduction": reproduction(found),
        "notes": found.study.notes if found.study else (),
        "is_ours": found.study is not None and found.study.name in shipped_studies(),
    }


def _section(found: SweepResults, *, alone: bool) -> Section:
    name = "" if alone or found.origin is None else found.origin.sweep.name
    commands = [command_of(found.measured.sweep, "DIR"), "roambus aggregate DIR", "roambus figures DIR"]
    return Section(name, facts(found.measured), commands)


def _title(sweeps: Sequence[Measurements]) -> str:
    titles = [measured.sweep.get(TITLES, {}).get(agent, agent) for measured in sweeps for agent in measured.agents]
    names = list(dict.fromkeys(titles))
    return f"{' and '.join(names)}, side by side" if len(names) > 1 else names[0]


def _pictures(found: StudyResults) -> list[Picture]:
    """The figures, drawn from the numbers: files in the results can be older, or a stranger's."""
    figures = [figure for sweep in found.sweeps for figure in all_figures(sweep)]
    agents = dict.fromkeys(agent for sweep in found.sweeps for agent in sweep.measured.agents)
    look = replace(USUAL, formats=("svg",), agents=tuple(agents))
    with TemporaryDirectory() as folder:
        return [_picture(figure, draw(figure, Path(folder), look)[0], f"f{at}-") for at, figure in enumerate(figures)]


def _picture(figure: Drawn, file: Path, prefix: str) -> Picture:
    caption = figure.caption + (" Logarithmic vertical axis." if figure.logarithmic else "")
    labels = ", ".join(series.label for series in figure.series if series.label)
    alternative = f"{caption} {figure.y_title} over {figure.x_title}{labels and f': {labels}'}"
    return Picture(figure.name, inline_figure(file, prefix, alternative), caption)
