"""`roambus replay`: a file, or a server until it is interrupted."""

from __future__ import annotations

import gzip
import html
import json
import re
import shutil
import signal
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from roambus.bridge.runs.layout import TRACE_FILE
from roambus.bridge.system.errors import UserError
from roambus.command_line import commands
from roambus.extensions.viewer.results import page_of_results
from roambus.notebook import FinishedRun

COMMAND = [sys.executable, "-c", "import sys; sys.argv[0] = 'roambus'; from roambus.command_line import main; main()"]


def replay(*arguments: str | Path) -> None:
    commands(["replay", *map(str, arguments)], standalone_mode=False)


def test_a_trace_without_the_folder_of_its_run_says_what_it_is(
    tmp_path: Path, moving_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its agent, template, settings, seed and version, which stand in its metadata."""
    alone = tmp_path / "alone.parquet"
    alone.write_bytes((moving_run / TRACE_FILE).read_bytes())
    replay(alone, "--export", tmp_path / "film.html")
    assert "\ntemplate " in capsys.readouterr().err


def test_an_export_is_one_page_with_all_runs(
    tmp_path: Path, moving_run: Path, other_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same each time; it refers to nothing outside, and its policy allows nothing."""
    file = tmp_path / "film.html"
    replay(moving_run, "--with", other_run, "--export", file)
    output = capsys.readouterr()
    assert output.out == f"{file}\n"
    assert "\ntemplate " not in output.err
    page = file.read_text()
    assert page.count('class="film">') == 2
    assert not re.findall(r"(?:src|href)=", page)
    assert "default-src 'none'; script-src 'sha256-" in page
    assert "{{" not in page.partition("<body>")[0]
    replay(moving_run, "--with", other_run, "--export", file)
    assert file.read_text() == page


def test_the_results_of_many_runs_are_shown_as_their_report(tmp_path: Path, quick_results: Path) -> None:
    """With the films of its runs, and of nothing else; names are for one run."""
    results, file = tmp_path / "quick", tmp_path / "page.html"
    shutil.copytree(quick_results, results)
    for seed in (0, 1):
        run = results / "traces" / "agent=mft" / "config=C2" / "speed=2" / f"seed={seed}"
        run.mkdir(parents=True)
        (run / TRACE_FILE).touch()
    replay(results, "--export", file)
    assert "Claims of the thesis" in file.read_text()
    (tmp_path / "names.txt").write_text("Mill\n")
    with pytest.raises(UserError, match="has many runs: give the folder of one"):
        replay(results, "--names", tmp_path / "names.txt", "--export", file)
    _, film = page_of_results(results, print, again=False, trust=False)
    with pytest.raises(UserError, match="seed=1/trace"):
        film(run.as_posix())
    assert film("/etc") is None


def test_a_notebook_shows_a_film_in_a_frame(moving_run: Path) -> None:
    """The page that the command writes, whole."""
    shown = FinishedRun(moving_run, moving_run).film()._repr_html_()
    page = html.unescape(shown.partition('srcdoc="')[2].partition('"')[0])
    assert page.count('class="film">') == 1
    assert page.rstrip().endswith("</html>")


def test_a_run_is_served_until_it_is_interrupted(moving_run: Path) -> None:
    """The command says where; Ctrl-C ends it without an error."""
    with subprocess.Popen([*COMMAND, "replay", str(moving_run)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            with urlopen(url) as answer:  # noqa: S310  # the address that the command gave
                assert b'class="film">' in answer.read()
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
        finally:
            process.kill()


def test_mistakes_are_reported_in_one_message(tmp_path: Path, moving_run: Path) -> None:
    """What is damaged is named; nothing is written."""
    file = tmp_path / "film.html"
    with pytest.raises(UserError, match=r"nowhere: there is no such run"):
        replay(tmp_path / "nowhere", "--export", file)
    with pytest.raises(FileNotFoundError):
        replay(moving_run, "--export", tmp_path / "no" / "such" / "film.html")
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(moving_run / "trace.parquet", alone)
    with pytest.raises(UserError, match=r"there is no run\.ini beside it, so the run cannot be made again"):
        replay(alone, "--again", "--export", file)
    assert not file.exists()


def test_nodes_have_the_names_of_a_file(tmp_path: Path, moving_run: Path) -> None:
    """A line for each node; another number of lines is refused, and so are names for many runs."""
    names, file = tmp_path / "names.txt", tmp_path / "film.html"
    nodes = [f"Mill {number}" for number in range(12)]
    names.write_text("\n".join([*nodes[:-1], ""]) + "\n", encoding="utf-8")
    replay(moving_run, "--names", names, "--export", file)
    assert header_of(file.read_text())["names"] == [*nodes[:-1], "n11"]
    names.write_text("Mill\n")
    with pytest.raises(UserError, match=r"names.txt: 1 names, but the run has 12 nodes"):
        replay(moving_run, "--names", names, "--export", file)
    names.write_text("Mill\n" + "M" * 61)
    with pytest.raises(UserError, match=r"names.txt:2: a name has at most 60 printable characters"):
        replay(moving_run, "--names", names, "--export", file)


def header_of(page: str) -> dict[str, Any]:
    """The header of the first film of a page."""
    packed = re.findall(r'class="film">([^<]*)<', page)[0]
    content = gzip.decompress(b64decode(packed))
    header: dict[str, Any] = json.loads(content[4 : 4 + int.from_bytes(content[:4], "little")])
    return header
