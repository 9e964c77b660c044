"""Writes the report of a sweep or study: one self-contained HTML file with figures, claims and numbers.

The page is a Jinja template in `page`. Figures are SVG elements, so the page can hide lines; its policy runs only its
own script. The page refers to values by number, never by name: results can be a stranger's.

Results are the whole study only with all its agents, values, seeds and fixed settings (`scope`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roambus.bridge.runs.layout import (
    AGENT,
    FIGURES_FOLDER,
    LOG_FILE,
    PRECISION,
    REPORT_FILE,
    SEED,
    TITLES,
    files_of_runs,
    writing,
)
from roambus.bridge.runs.log import maker_of
from roambus.experiments.claims import Claim, Verdict
from roambus.experiments.figures.figure import Drawn
from roambus.experiments.measurements import Measurements, Table, metrics_table, sent_table
from roambus.experiments.page_policy import page_template, source_hash
from roambus.experiments.reporting.figure_files import all_figures, draw_figures, inline_figure
from roambus.experiments.shipped import shipped_studies
from roambus.experiments.studies.study import Study, StudyResults, SweepResults, read_results
from roambus.experiments.sweeps.narrowing import override
from roambus.experiments.sweeps.request import command_of
from roambus.experiments.sweeps.sweep import Sweep
from roambus.python_protocol.settings import plain
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


def _levels(measured: Measurements) -> dict[str, list[str]]:
    return {AGENT: measured.agents, **{axis: measured.values(axis) for axis in measured.axes}}


FEW_SEEDS = 5
"""With fewer seeds a point, intervals show large differences only."""
_MOST_NAMED = 3
WHOLE, QUICK, PART = "The whole study.", "The study in small (--quick).", "A part of the study."


def scope(found: StudyResults) -> str:
    """Whether the results are the whole study, the quick one, or something else."""
    if found.study is None:
        return "One sweep."
    kinds = {_kind(sweep) for sweep in found.sweeps}
    if len(found.sweeps) < len(found.study.sweeps) or len(kinds) > 1:
        return PART
    return kinds.pop()


def _kind(found: SweepResults) -> str:
    """Whether results cover the whole or the quick sweep; the whole covers both, so it is first."""
    if found.origin is None:
        return PART
    own = found.origin.sweep
    asked = found.origin.study.asked(own)
    wanted = {WHOLE: asked, QUICK: override(asked, own.quick, own.quick_seeds)}
    return next((kind for kind, sweep in wanted.items() if _is_covered(found.measured, sweep)), PART)


def _is_covered(measured: Measurements, sweep: Sweep) -> bool:
    fixed = {name: plain(value) for name, value in measured.sweep.get("set", {}).items()}
    return (
        fixed == {name: plain(value) for name, value in sweep.fixed.items()}
        and all(set(axis.values) <= set(measured.values(axis.name)) for axis in sweep.axes)
        and {choice.label for choice in sweep.agents} <= set(measured.agents)
        and len(sweep.seeds) <= measured.seeds
    )


def reproduction(found: StudyResults) -> str:
    """The command that makes these results, if one does."""
    name = found.study.name if found.study else ""
    return {WHOLE: f"roambus reproduce {name}", QUICK: f"roambus reproduce {name} --quick"}.get(scope(found), "")


def making(found: StudyResults) -> list[tuple[str, str]]:
    """Code, dates and machines from the logs, as text pairs."""
    logs = (log for sweep in found.sweeps if sweep.folder for log in files_of_runs(sweep.folder, LOG_FILE))
    makers = {maker for log in logs if (maker := maker_of(log))}
    if not makers:
        return []
    dates = sorted({maker.date for maker in makers})
    return [
        ("made with", _named({maker.code for maker in makers})),
        ("made on", dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"),
        ("machine", _named({maker.machine for maker in makers})),
    ]


def _named(texts: set[str]) -> str:
    more = len(texts) - _MOST_NAMED
    return "; ".join(sorted(texts)[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


VERDICT = "claims-that"
"""No axis can have this name: template variables have no hyphens."""


@dataclass(frozen=True, slots=True)
class Option:
    """A choosable value: `name` stands in a filtered view's address, `label` on the page."""

    number: int
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """Values to choose one or more from; `key` stands in the address."""

    key: str
    title: str
    options: tuple[Option, ...]


class Filters:
    """The choices of a report, shared by all sweeps of a study."""

    def __init__(self, sweeps: Sequence[Measurements], claims: Sequence[Claim]) -> None:
        verdicts = {claim.verdict for claim in claims}
        self._titles = _agent_titles(sweeps)
        found = {AGENT: _united(measured.agents for measured in sweeps)}
        found[VERDICT] = [verdict.value for verdict in Verdict if verdict in verdicts]
        for axis in _united(measured.axes for measured in sweeps):
            found[axis] = _united(measured.values(axis) for measured in sweeps if axis in measured.axes)
        chosen = {key: names for key, names in found.items() if len(names) > 1}
        having = {axis: measured for measured in sweeps for axis in (AGENT, *measured.axes)}
        self._numbers = {
            place: number for number, place in enumerate((key, one) for key in chosen for one in chosen[key])
        }
        self.choices = [
            FilterChoice(key, "verdict" if key == VERDICT else having[key].axis_heading(key), self._options(key, names))
            for key, names in chosen.items()
        ]

    def at(self, place: Mapping[str, str]) -> str:
        """The numbers of a place's values, separated by blanks, without those that cannot be chosen."""
        return " ".join(str(self._numbers[one]) for one in place.items() if one in self._numbers)

    def _options(self, key: str, names: Sequence[str]) -> tuple[Option, ...]:
        titles = self._titles if key == AGENT else {}
        return tuple(Option(self._numbers[key, name], name, titles.get(name, name)) for name in names)


def common_place(measured: Measurements) -> dict[str, str]:
    """The only agent and axis values that all points share."""
    return {axis: found[0] for axis, found in _levels(measured).items() if len(found) == 1}


def _united(lists: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(text for texts in lists for text in texts))


_PAGE = Path(__file__).with_name("page")
_METRICS = "Metrics of every point"
_MARKS = {
    Verdict.HOLDS: "✓",
    Verdict.DOES_NOT_HOLD: "✗",
    Verdict.NOT_SIGNIFICANT: "≈",
    Verdict.NOT_MEASURED: "·",
}
"""Verdicts have mark and word, not colour alone."""


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
    tables: dict[str, Table]
    commands: list[str]


def write_report(results: Path, own: Study | None = None) -> Path:
    """Write report.html with figures from the metrics below `results`; return it. Raises UserError."""
    content, report = _content(read_results(results, own), results), results / REPORT_FILE
    style, script = ((_PAGE / name).read_text(encoding="utf-8") for name in ("style.css", "filters.js"))
    page = page_template(_PAGE / "page.html.j2").render(
        content, style=style, script=script, script_hash=source_hash(script)
    )
    with writing(report):
        replace_file(report, lambda path: path.write_text(page, encoding="utf-8"))
    return report


def _content(found: StudyResults, results: Path) -> dict[str, Any]:
    claims = [claim for sweep in found.sweeps for claim in sweep.claims()]
    counts = Counter(claim.verdict for claim in claims)
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
        "tally": [(verdict, counts[verdict]) for verdict in Verdict if counts[verdict]],
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
    tables = {_METRICS: metrics_table(measured), "Packets by message type": sent_table(measured)}
    name = "" if alone or found.origin is None else found.origin.sweep.name
    commands = [command_of(measured.sweep, "DIR"), "roambus aggregate DIR", "roambus figures DIR"]
    return Section(name, facts(measured), tables, commands)


def _agent_titles(sweeps: Sequence[Measurements]) -> dict[str, str]:
    return {label: title for measured in sweeps for label, title in measured.sweep.get(TITLES, {}).items()}


def _title(sweeps: Sequence[Measurements]) -> str:
    titles = _agent_titles(sweeps)
    names = [titles.get(agent, agent) for agent in _united(measured.agents for measured in sweeps)]
    return f"{' and '.join(names)}, side by side" if len(names) > 1 else names[0]


def _pictures(found: StudyResults, results: Path, filters: Filters) -> list[Picture]:
    """The figures in the results; draw all if any is missing."""
    figures = [(figure, common_place(sweep.measured)) for sweep in found.sweeps for figure in all_figures(sweep)]
    files = [results / FIGURES_FOLDER / f"{figure.name}.svg" for figure, _ in figures]
    if not all(file.is_file() for file in files):
        draw_figures(results, found.study)
    return [
        _picture(figure, file, f"f{number}-", [filters.at({**common, **series.place}) for series in figure.series])
        for number, ((figure, common), file) in enumerate(zip(figures, files, strict=True))
    ]


def _picture(figure: Drawn, file: Path, prefix: str, lines: Sequence[str]) -> Picture:
    caption = figure.caption + (" Logarithmic vertical axis." if figure.logarithmic else "")
    labels = ", ".join(series.label for series in figure.series if series.label)
    alternative = f"{caption} {figure.y_title} over {figure.x_title}{labels and f': {labels}'}"
    return Picture(figure.name, inline_figure(file, prefix, lines, alternative), caption)
