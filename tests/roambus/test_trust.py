"""Commands that look at results run nothing that the results name, as docs/reference/trust.md promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import ROOT
from tests.support.removed import REMOVED, skip_if_removed
from tests.support.trap import CANARY, lay

LOOKING = {
    "aggregate": ["aggregate", "."],
    "compare": ["compare", ".", "--metric", "messages_per_node"],
    "figures": ["figures", "."],
    "export": ["export", ".", "--format", "sca,vec"],
    "replay": ["replay", "RUN", "--export", "film.html"],
    "replay --again": ["replay", "RUN", "--again", "--export", "again.html"],
    "replay --with": ["replay", "RUN", "--with", "RUN", "--export", "both.html"],
}
LOOKING = {name: words for name, words in LOOKING.items() if words[0] not in REMOVED}
TRUSTING = ["replay", "RUN", "--trust", "--export", "trusted.html"]
"""Comes last: what it runs is the canary."""
WRITTEN = ("aggregated", "metrics", "figures", "export", "film.html", "again.html", "both.html")
"""What may be written below the results."""
READ = ("sweep.json", "run.ini", "trace.parquet", "frames.roambus", ".ini", ".parquet", ".txt", ".csv", ".svg")
"""What may be read there, by the ends of the names."""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, Any]]]:
    """The stranger's folder, and what each command did in it."""
    folder = tmp_path_factory.mktemp("stranger")
    before = Path.cwd()
    path = sys.path[:]
    os.chdir(folder)
    try:
        run = lay(folder)
    finally:
        os.chdir(before)
        sys.path[:] = path
    lines = [
        [str(run.relative_to(folder)) if word == "RUN" else word for word in line]
        for line in (*LOOKING.values(), *([] if "replay" in REMOVED else [TRUSTING]))
    ]
    report = tmp_path_factory.mktemp("report") / "report.json"
    command = [sys.executable, "-P", "-c", _PROGRAM.format(root=str(ROOT)), str(report)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, cwd=folder, env=environment, input=json.dumps(lines), text=True, check=True, timeout=240)
    return folder, dict(zip([*LOOKING, "replay --trust"], json.loads(report.read_text()), strict=False))


_PROGRAM = """
import sys
sys.path.append({root!r})  # for the watch alone: the command finds roambus where it is installed
from tests.support.watched import watch_all
sys.path.remove({root!r})
import json, pathlib
watch_all(pathlib.Path(sys.argv[1]), json.load(sys.stdin))
"""


@pytest.mark.parametrize("command", LOOKING)
def test_nothing_of_a_strangers_folder_is_run(watched: tuple[Path, dict[str, dict[str, Any]]], command: str) -> None:
    """No module, no settings, no template, no pickle: only data is read there, and only results are written."""
    folder, found = watched
    done = found[command]
    assert done["code"] == 0, done["printed"]
    for event, text in done["events"]:
        mode, _, path = text.partition(" ") if event == "open" else ("", "", text)
        if event in {"subprocess.Popen", "os.posix_spawn", "os.exec"}:
            assert "java" in text or "spark" in text, text
        elif Path(path).is_relative_to(folder):
            assert event == "open", (event, text)
            below = Path(path).relative_to(folder).as_posix()
            assert below.startswith(WRITTEN) or below.startswith(".") or (mode == "r" and below.endswith(READ)), text
        # Rows that our own JVM hands over come as pickles of one class, which PySpark itself writes.
        assert event != "pickle.find_class" or text.startswith("pyspark.sql.types "), text
        assert event != "os.system", text


def test_trust_runs_the_agents_file_and_says_so_first(watched: tuple[Path, dict[str, dict[str, Any]]]) -> None:
    """So the watch would have seen it run; the file has changed since the run, which is said."""
    skip_if_removed("replay --record")
    folder, found = watched
    done = found["replay --trust"]
    assert ["exec", str(folder / "stranger.py")] in done["events"]
    assert (folder / CANARY).exists()
    assert f"runs agent stranger.py at {folder / 'stranger.py'} (sha256 " in done["printed"]
    assert "CHANGED since the run" in done["printed"]


@pytest.mark.parametrize("command", ["replay", "replay --again", "replay --with"])
def test_what_is_not_shown_is_said_in_one_line(watched: tuple[Path, dict[str, dict[str, Any]]], command: str) -> None:
    """It names the agent, says why, and how."""
    skip_if_removed("replay --record")
    printed = watched[1][command]["printed"].splitlines()
    why = "its agent 'stranger.py' is not installed, and code that results name is not run unasked"
    lines = [line for line in printed if why in line]
    assert len(lines) == (2 if "--with" in command else 1)
    assert all("add --trust" in line for line in lines)
