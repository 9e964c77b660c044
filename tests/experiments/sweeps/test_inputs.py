"""Results hold the user's own templates, sweep files and metrics: all that their runs were made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.experiments.studies.study import load_study
from roambus.experiments.sweeps.request_file import opened_results
from roambus.experiments.sweeps.sweep_file import read_sweep
from tests.support.commands import call

TEMPLATE = '{% include "field.ini.j2" %}\n{% include "part.ini.j2" %}\n'
SWEEP = 'template = "mine.ini.j2"\nmeasure = ["own.py"]\n[set]\ntime_limit = 2\nnodes = 3\n[agents]\nflooding = {}\n'
METRIC = '''\
from helper_of_metrics import ONE
from roambus import metric


@metric("rows")
def rows(run):
    """How many."""
    return ONE * len(run.events)
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's, with a sweep of a template and a metric of its own, each with a part."""
    monkeypatch.chdir(tmp_path)
    files = {"mine.ini.j2": TEMPLATE, "part.ini.j2": "# 1\n", "s.toml": SWEEP, "own.py": METRIC}
    for name, text in {**files, "helper_of_metrics.py": "ONE = 1\n"}.items():
        Path(name).write_text(text)
    return tmp_path


def sweep(monkeypatch: pytest.MonkeyPatch, options: str = "") -> int:
    return call(f"roambus sweep s.toml --backend ideal --workers 1 --out r {options}", monkeypatch)


def kept() -> list[set[str]]:
    found = sorted(Path("r/inputs").iterdir())
    return [{str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()} for folder in found]


def test_everything_of_the_users_own_is_kept_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same command again adds nothing; what roambus brings is not there."""
    for _ in range(2):
        assert sweep(monkeypatch) == 0
        assert kept() == [{"mine.ini.j2", "part.ini.j2", "s.toml", "own.py", "helper_of_metrics.py"}]


def test_a_changed_part_is_kept_beside_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of both may be there; a command that is refused keeps nothing."""
    assert sweep(monkeypatch) == 0
    Path("part.ini.j2").write_text("# 2\n")
    assert sweep(monkeypatch) == 2
    assert len(kept()) == 1
    assert sweep(monkeypatch, "--replace") == 0
    assert {file.read_text() for file in Path("r/inputs").glob("*/part.ini.j2")} == {"# 1\n", "# 2\n"}


def test_a_run_keeps_its_template(monkeypatch: pytest.MonkeyPatch) -> None:
    """A template of roambus leaves no folder."""
    run = "roambus run TEMPLATE --agent flooding --backend ideal --set nodes=3 --set time_limit=2 --out r"
    assert call(run.replace("TEMPLATE", "field"), monkeypatch) == 0
    assert not Path("r/inputs").exists()
    assert call(run.replace("TEMPLATE", "mine.ini.j2").replace("--out r", "--out own"), monkeypatch) == 0
    assert {file.name for file in Path("own/inputs").glob("*/*")} == {"mine.ini.j2", "part.ini.j2"}


def test_a_first_command_without_runs_leaves_nothing() -> None:
    """As with the request."""
    opened = opened_results(read_sweep("s.toml"), Path("r"))
    opened.__enter__()
    assert Path("r/inputs").is_dir()
    opened.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert not Path("r").exists()


def test_links_in_results_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's could lead to any folder of the user's."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "inputs").symlink_to(tmp_path / "elsewhere")
    assert sweep(monkeypatch) == 2
    assert list((tmp_path / "elsewhere").iterdir()) == []


STUDY = """\
from helper_of_metrics import ONE
from roambus.experiments.studies.study import Study, StudySweep

STUDY = Study("own", "nobody", (StudySweep("s.toml", lambda _: ()),))
"""


def test_the_file_of_a_study_is_kept_with_what_it_imports() -> None:
    """A crate then holds all from which the report follows."""
    Path("study.py").write_text(STUDY)
    study = load_study("study.py")
    with opened_results(study.asked(study.sweeps[0]), Path("r")):
        pass
    assert kept() == [{"mine.ini.j2", "part.ini.j2", "s.toml", "own.py", "helper_of_metrics.py", "study.py"}]
