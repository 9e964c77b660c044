"""The report of a study of several sweeps."""

from __future__ import annotations

from pathlib import Path

from roambus.experiments.reporting.figure_files import draw_figures
from roambus.experiments.studies.study import Study
from roambus.extensions.viewer.report import write_report
from tests.experiments.studies.test_studies import SIZE, results  # noqa: F401  # a fixture


def test_a_study_of_several_sweeps_has_one_report(results: tuple[Study, Path]) -> None:  # noqa: F811  # the fixture
    """With the figures of all, each sweep's facts and numbers under its name, and what the study says of itself."""
    study, folder = results
    files = {path.name for path in draw_figures(folder, study)}
    assert files == {f"{name}.{kind}" for name in ("first", "second") for kind in ("png", "svg", "txt")}
    page = write_report(folder, study).read_text(encoding="utf-8")
    for words in (
        "Sweep thesis",
        "Sweep flooding",
        "Claims of nobody",
        "Sizes are &lt;made up&gt;.",
        SIZE.meaning,
    ):
        assert words in page
    assert page.count("<figure") == 2
    assert "roambus reproduce" not in page
