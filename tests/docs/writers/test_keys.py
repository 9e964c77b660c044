"""A page's record tells which of its runs today's code would make differently, without making any."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.site_hook import _marked
from docs.writers.keys import RESULTS, check, main, read_record, renewal, stale_line, stale_runs
from roambus.bridge.backends.radio.backend import RadioFactory
from roambus.bridge.runs.run import execute
from roambus.experiments.sweeps.request_file import opened_results
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.selection import override
from roambus.experiments.sweeps.sweep_file import read_sweep
from tests.support.places import ROOT
from tests.support.removed import skip_if_removed

SETTINGS = {"agent": "mft,aodv", "config": "C2", "speed": "2", "time_limit": "2", "publish_until": "1"}
COMMAND = (
    "roambus sweep thesis --set agent=mft,aodv --set config=C2 --set speed=2 --set time_limit=2 --set publish_until=1 "
    "--seeds 1"
)
NEEDED = ("bridge", "docs/__init__.py", "docs/writers", "experiments", "python_protocol", "roambus", "spark")
DEFAULT = "heartbeat_interval: SimTime = parameter(\n        SECOND"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of results beside the record of one run of each of two agents."""
    folder = tmp_path_factory.mktemp("recorded")
    results, page = folder / "thesis", folder / "docs" / "results" / "small.md"
    sweep = override(read_sweep("thesis"), SETTINGS, seeds=1)
    with opened_results(sweep, results):
        for plan in plan_runs(sweep, results):
            execute(plan, RadioFactory())
    page.parent.mkdir(parents=True)
    page.write_text("# Small\n\nText.\n")
    assert main(["record", str(page), str(results), "--then", "python -m some.writer"]) == 0
    return page


def test_runs_of_today_are_not_stale(page: Path) -> None:
    """The record names code, date and command, and the page gets no line."""
    known = read_record(page)
    assert known is not None
    assert known["code"].startswith("roambus ")
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", known["date"])
    assert [(sweep["command"], list(sweep["agents"])) for sweep in known["sweeps"]] == [(COMMAND, ["aodv", "mft"])]
    assert stale_runs(known) == {}
    assert _marked("# Small\n\nText.\n", page) == "# Small\n\nText.\n"
    assert check(page.parents[1]) == (f"{page}: as today's code makes it", False)


def test_runs_of_a_range_of_seeds_are_recorded_with_it(tmp_path: Path) -> None:
    """The key is that of the first of them, also where the number of seeds is the sweep's own."""
    page, sweep = tmp_path / "fresh.md", override(read_sweep("beacon"), {"nodes": "3", "time_limit": "1"}, "4..6")
    with opened_results(sweep, tmp_path / "results"):
        for plan in plan_runs(sweep, tmp_path / "results"):
            execute(plan, RadioFactory())
    assert main(["record", str(page), str(tmp_path / "results")]) == 0
    known = read_record(page)
    assert known is not None
    (made,) = known["sweeps"]
    assert made["command"].endswith(" --seeds 4..6")
    assert stale_runs(known) == {}
    assert stale_runs({**known, "sweeps": [{**made, "command": made["command"].removesuffix(" --seeds 4..6")}]}) != {}


def test_a_sweep_of_the_pages_own_is_kept_as_its_text(tmp_path: Path) -> None:
    """Its runs are rendered from the text; another default would be noticed as in a sweep of ours."""
    text = 'template = "field"\nseeds = 1\n[set]\ntime_limit = 1\nnodes = 3\n[agents]\nbeacon = {}\n'
    file, page = tmp_path / "own.toml", tmp_path / "own.md"
    file.write_text(text)
    sweep = read_sweep(str(file))
    with opened_results(sweep, tmp_path / "results"):
        for plan in plan_runs(sweep, tmp_path / "results"):
            execute(plan, RadioFactory())
    assert main(["record", str(page), str(tmp_path / "results"), "--file", str(file)]) == 0
    assert main(["record", str(page), str(tmp_path / "results"), "--file", str(file.rename(tmp_path / "x.toml"))]) == 2
    known = read_record(page)
    assert known is not None
    assert stale_runs(known) == {}
    altered = {**known, "sweeps": [{**known["sweeps"][0], "text": text.replace("nodes = 3", "nodes = 4")}]}
    assert stale_runs(altered) == {"roambus sweep own.toml": ["beacon (1 runs)"]}


def test_other_seeds_than_those_of_the_text_are_in_the_command(tmp_path: Path) -> None:
    """Else today's keys would be those of the text's first seed, and the page stale as soon as it is written."""
    file, page = tmp_path / "own.toml", tmp_path / "own.md"
    file.write_text('template = "field"\nseeds = 2\n[set]\ntime_limit = 1\nnodes = 3\n[agents]\nbeacon = {}\n')
    sweep = override(read_sweep(str(file)), {}, "4..5")
    with opened_results(sweep, tmp_path / "results"):
        for plan in plan_runs(sweep, tmp_path / "results"):
            execute(plan, RadioFactory())
    assert main(["record", str(page), str(tmp_path / "results"), "--file", str(file)]) == 0
    known = read_record(page)
    assert known is not None
    assert [made["command"] for made in known["sweeps"]] == ["roambus sweep own.toml --seeds 4..5"]
    assert stale_runs(known) == {}


def test_a_changed_default_makes_a_page_stale(page: Path, tmp_path: Path) -> None:
    """In a copy of the code: the agent is named with its runs, and the commands that renew the page."""
    for name in NEEDED:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, symlinks=True)
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    module = tmp_path / "python_protocol" / "parts" / "election" / "heartbeat.py"
    text = module.read_text(encoding="utf-8")
    assert DEFAULT in text
    module.write_text(text.replace(DEFAULT, DEFAULT.replace("SECOND", "2 * SECOND")), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "docs.writers.keys", "check", str(page.parents[1])],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"  {COMMAND}: mft (1 runs)\n" in done.stdout
    assert f"  $ {COMMAND} --out results/thesis && roambus aggregate results/thesis\n" in done.stdout
    assert "  $ python -m some.writer\n" in done.stdout


def test_the_site_says_that_a_page_is_stale(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below its title, with the code that measured it; a page without a record is told from a fresh one."""
    monkeypatch.setattr("docs.writers.keys.keys_today", lambda *_: {"mft": "other"})
    line = stale_line(page)
    assert re.fullmatch(r"Measured at roambus .*; the code has changed since\.", line)
    assert _marked("# Small\n\nText.\n", page) == f"# Small\n\n*{line}*\n\nText.\n"
    unknown = page.with_name("unknown.md")
    unknown.write_text("# Unknown\n")
    assert f"{unknown}: no keys" in check(page.parents[1])[0]
    unknown.unlink()


RECORDS = [file for folder in ("docs", "extensions") for file in (ROOT / folder).rglob("*.keys")]
PICTURES = sorted(file for file in RECORDS if RESULTS not in file.parts)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda file: file.stem)
def test_pictures_of_the_guide_are_as_todays_code_makes_them(picture: Path) -> None:
    """They may not be stale: the message has the commands that renew them."""
    known = read_record(picture)
    assert known is not None
    for sweep in known["sweeps"]:
        skip_if_removed(sweep["command"])
    assert stale_runs(known) == {}, "\n".join(renewal(known))


def test_the_guide_has_such_pictures() -> None:
    """The record of each lies beside it."""
    assert PICTURES
    assert all(file.with_suffix(".png").is_file() for file in PICTURES)
