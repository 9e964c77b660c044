"""docs/guide/compare.md and its notebook, on the runs that the page makes: what is shown is what comes out."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient
from pyspark.sql import SparkSession

from roambus.command_line import main
from tests.support.commands import Shown, shown_commands
from tests.support.documents import listings

ROOT = Path(__file__).parents[3]
PAGE, NOTEBOOK, PICTURE = (ROOT / "docs" / "guide" / f"compare.{kind}" for kind in ("md", "ipynb", "png"))
STEM = "bytes-per-migration-against-brokers"
WITHOUT_SPARK = """\
import sys
from roambus.spark.engine import session
session._start = None  # to start it would fail
sys.argv[0] = "roambus"
from roambus.command_line import main
main()
"""


pytestmark = pytest.mark.slow


class Done(NamedTuple):
    """A command of the page, and what became of it."""

    shown: Shown
    code: int
    printed: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder with the page's listings."""
    place = tmp_path_factory.mktemp("compare")
    for name, content in listings(PAGE.read_text(encoding="utf-8")).items():
        (place / name).write_text(content)
    return place


@pytest.fixture(scope="module")
def done(folder: Path, session: SparkSession) -> list[Done]:
    """All commands of the page, one after the other, in this process with its Spark session."""
    found = []
    for shown in shown_commands(PAGE.read_text(encoding="utf-8")):
        output = StringIO()
        with chdir(folder), redirect_stdout(output), redirect_stderr(output), pytest.MonkeyPatch.context() as patch:
            code = call(shown.command.split(), patch)
        found.append(Done(shown, code, output.getvalue()))
    return found


def call(command: Sequence[str], patch: pytest.MonkeyPatch) -> int:
    """The exit code of roambus; scripts have none."""
    if command[0] == "python":
        runpy.run_path(command[1])
        return 0
    one_worker = ["--workers", "1"] if command[1] == "sweep" else []
    patch.setattr(sys, "argv", [*command, *one_worker])
    with pytest.raises(SystemExit) as exit_:
        main()
    return int(exit_.value.code or 0)


def test_the_page_shows_what_comes_out(done: list[Done]) -> None:
    """Every command works, but for the one that shows an error."""
    assert len(done) >= 5
    for example in done:
        assert example.shown.is_printed_by(example.printed), f"{example.shown.command}\n{example.printed}"
        assert example.code == (2 if "error: " in example.printed else 0)


def test_the_picture_of_the_page_comes_from_its_command(done: list[Done], folder: Path) -> None:
    """Byte for byte, with the matplotlib that it was drawn with; the SVG and the caption lie beside it."""
    drawn = folder / "results" / "cost" / "figures" / f"{STEM}.png"
    if mpl.__version__.encode() in PICTURE.read_bytes() or drawn.read_bytes() == PICTURE.read_bytes():
        assert drawn.read_bytes() == PICTURE.read_bytes()
    assert {file.suffix for file in drawn.parent.glob(f"{STEM}.*")} == {".png", ".svg", ".txt"}


def test_a_process_needs_no_spark_for_what_is_aggregated(done: list[Done], folder: Path) -> None:
    """It draws, and writes the numbers of the same runs."""
    environment, printed = {**os.environ, "PYTHONPATH": str(ROOT)}, ""
    for command in ("compare", "figures"):
        words = [command, "results/cost", "--metric", "messages", "--against", "brokers", "--out", "out"]
        program = [sys.executable, "-c", WITHOUT_SPARK, *words]
        ended = subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")
        printed += ended.stdout
    files = {file.suffix: file for file in (folder / "out").iterdir()}
    assert files[".png"].read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in files[".svg"].read_text()
    table = pd.read_csv(files[".csv"])
    assert list(table["minus"].isna()) == [True] * 12 + [False] * 6
    assert set(table["n"]) == {4}
    for kind in ("png", "svg", "csv"):
        assert f"out/messages-against-brokers.{kind}\n" in printed


def read_notebook() -> nbformat.NotebookNode:
    """As it is kept."""
    found: nbformat.NotebookNode = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]  # it has no types
    return found


def test_the_notebook_runs(done: list[Done], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From its first cell to its last, in a kernel of its own: runs that are there, figures, a test, a cell's agent."""
    notebook = read_notebook()
    for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(folder / name))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    printed = "".join(output.get("text", "") for output in outputs)
    assert "results/cost: runs done 0, already there 48, failed 0" in printed
    assert "results/relay: runs done 1, already there 0, failed 0" in printed
    assert (folder / "results" / "relay" / "agents" / "Relay.py").is_file()
    shown = [output["data"] for output in outputs if "data" in output]
    assert sum("image/png" in data for data in shown) == 2
    texts = [data.get("text/plain", "") for data in shown]
    assert any("48 runs" in text for text in texts)
    assert any("p_holm" in text for text in texts)


def test_the_notebook_is_kept_without_outputs() -> None:
    """Nor anything else that a run leaves in it: no counts, no places of a machine."""
    notebook = read_notebook()
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert str(Path.home()) not in NOTEBOOK.read_text()
