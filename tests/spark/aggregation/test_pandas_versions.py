"""The tables of results are the same bytes under each pandas that is supported."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.spark.synthetic import deliver, publish, write_trace

TABLES = ("runs.csv", "points.csv")


@pytest.mark.slow
def test_tables_are_equal_under_two_pandas(tmp_path: Path) -> None:
    """The locked pandas, and the newest of the other major version, which pip installs beside it."""
    other = tmp_path / "other"
    wanted = "pandas>=3,<4" if version("pandas") < "3" else "pandas>=2.3,<3"
    install = [sys.executable, "-m", "pip", "--quiet", "install", "--no-deps", "--target", str(other), wanted]
    subprocess.run(install, check=True)
    written: list[tuple[str, list[bytes], str]] = []
    for places in ("", str(other)):
        results = tmp_path / f"results-{len(written)}"
        for seed in range(3):
            rows = [publish(1.0, 0, "0.0", [1, 2]), deliver(1.5, 1, "0.0", 1), deliver(1.75 + seed / 7, 2, "0.0", 2)]
            write_trace(results, f"agent=a/seed={seed}", rows)
        command = [sys.executable, "-W", "error", "-c", "import pandas; print(pandas.__version__)"]
        aggregate = [sys.executable, "-m", "roambus", "-q", "aggregate", str(results)]
        environment = {**os.environ, "PYTHONPATH": places}
        shown = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
        done = subprocess.run(aggregate, env=environment, check=True, capture_output=True, text=True)
        written.append(
            (shown.partition(".")[0], [next(results.rglob(name)).read_bytes() for name in TABLES], done.stderr)
        )
    (first, ours, _), (second, theirs, said) = written
    assert first != second
    assert ours == theirs
    assert said == ""
