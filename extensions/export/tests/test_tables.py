"""The line that the documents have for each library reads a whole folder of results, ini and logs beside the traces."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from roambus.bridge.runs.layout import INI_FILE, LOG_FILE
from tests.spark.synthetic import random_trace, write_trace
from tests.support.documents import BLOCK, section

PAGE = Path(__file__).parents[1] / "page.md"
LINES = {
    content.split()[1].partition(".")[0]: content.split("\n\n", 1)[1].strip()
    for language, content in BLOCK.findall(section(PAGE, "Results in pandas"))
    if language == "py"
}
SPEEDS, SEEDS = (2, 4), (0, 1)


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Results in the folder that the documents name, as a sweep leaves them; the number of all rows."""
    monkeypatch.chdir(tmp_path)
    total = 0
    for speed in SPEEDS:
        for seed in SEEDS:
            trace = random_trace(seed)
            total += len(trace)
            file = write_trace(Path("results/walk"), f"agent=mft/speed={speed}/seed={seed}", trace)
            for name in (INI_FILE, LOG_FILE, "CC2420.txt"):
                file.with_name(name).write_text("no data")
    return total


@pytest.mark.parametrize("library", ["pyarrow", "duckdb"])
def test_a_line_reads_all_runs(library: str, rows: int) -> None:
    """With agent, axes and seed of each row."""
    module = pytest.importorskip(library, reason=f"{library} is not installed (see the group dev)")
    if library == "pyarrow":
        importlib.import_module("pyarrow.dataset")
    table: Any = eval(LINES[library], {library: module})  # noqa: S307  # a line of our own documents
    columns = list(table) if library == "pyarrow" else table.columns
    assert {"agent", "speed", "seed", "time_s", "node", "event"} <= set(columns)
    assert len(table) == rows
