"""The page's benchmark runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.page_speed import main
from roambus.extensions.viewer.document import page_of
from roambus.extensions.viewer.tests.films import row, write_rows
from tests.support.browser import chromium


@pytest.mark.slow
def test_it_tells_size_time_and_rates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line each."""
    with chromium():
        pass  # skips where there is none
    film = tmp_path / "film.html"
    film.write_text(
        page_of([write_rows(tmp_path, [row(0.0, 0, "publish"), row(9.0, 0, "publish")])], print, again=False)
    )
    main([str(film), "--at", "1", "--seconds", "0.2"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["size", "opens", "x", "x", "x"]
    assert all(float(line.split()[2]) > 0 for line in lines[2:])
