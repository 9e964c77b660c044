"""Shows the results of many runs: their report, which leads to the film of each."""

from __future__ import annotations

from pathlib import Path

from roambus.bridge.runs.layout import SWEEP_FILE, find_traces
from roambus.experiments.studies.study import sweep_folders
from roambus.extensions.viewer.document import Say, page_of
from roambus.extensions.viewer.report import report_page
from roambus.extensions.viewer.server import Films


def is_of_many(place: Path) -> bool:
    """Return whether a folder has the results of a sweep or study with several runs."""
    folders = [folder for folder in sweep_folders(place) if (folder / SWEEP_FILE).is_file()]
    return sum(len(find_traces(folder)) for folder in folders) > 1


def page_of_results(results: Path, say: Say, *, again: bool, trust: bool) -> tuple[str, Films]:
    """Return the report, and the films of its runs, made when they are asked for; raise UserError."""
    runs = {trace.parent.as_posix(): trace.parent for folder in sweep_folders(results) for trace in find_traces(folder)}

    def film(name: str) -> str | None:
        return page_of([runs[name]], say, again=again, trust=trust) if name in runs else None

    return report_page(results), film
