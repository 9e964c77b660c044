"""A sweep as a job array of SLURM: its tasks make all runs, each once, and submitted again what is missing."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from roambus.bridge.runs.layout import SWEEP_FILE, TRACE_FILE
from roambus.bridge.system.errors import UserError
from roambus.experiments.sweeps.runner import SweepPart
from roambus.extensions.cluster.job_array import script, without_options
from roambus.extensions.cluster.tests.slurm import slurm, submitted
from tests.support.commands import call

SWEEP = "roambus sweep beacon --backend ideal --set time_limit=2 --set nodes=10,20 --seeds 2 --out r"


@pytest.fixture
def array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The script of a sweep of four runs in two tasks, in a folder whose name has a blank."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert call(f"{SWEEP} --slurm job.sh --tasks 2", monkeypatch) == 0
    assert [path.name for path in Path("r").iterdir()] == [SWEEP_FILE]
    return folder / "job.sh"


def traces() -> dict[str, int]:
    """The traces that are there, with the time of each."""
    return {str(path): path.stat().st_mtime_ns for path in Path("r").rglob(TRACE_FILE)}


@pytest.mark.slow
def test_the_tasks_of_an_array_make_all_runs(array: Path) -> None:
    """Each its part; a task that is called again makes what is missing of that, and nothing else."""
    run_task(array, 0)
    first = traces()
    assert len(first) == 2
    run_task(array, 1)
    whole = traces()
    assert len(whole) == 4
    gone = next(iter(first))
    Path(gone).unlink()
    run_task(array, 0)
    assert {name: time for name, time in traces().items() if name != gone} == {
        name: time for name, time in whole.items() if name != gone
    }
    assert traces().keys() == whole.keys()


def run_task(array: Path, number: int) -> None:
    """As SLURM would call it."""
    environment = {**os.environ, "SLURM_ARRAY_TASK_ID": str(number), "SLURM_CPUS_PER_TASK": "1"}
    subprocess.run(["sh", str(array)], env=environment, cwd="/", check=True, capture_output=True)


@pytest.mark.slow
def test_slurm_makes_the_runs(array: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's own, on this machine: the whole sweep, and after a loss what is missing."""
    with slurm(tmp_path, monkeypatch):
        submitted(array)
        assert len(traces()) == 4
        before = traces()
        lost = next(iter(before))
        Path(lost).unlink()
        submitted(array)
    assert traces().keys() == before.keys()
    assert {name for name, time in traces().items() if time != before[name]} == {lost}


@pytest.mark.parametrize(
    "name", ["two words", "a\ntouch made", "$(touch made)", "`touch made`", "it's", 'a"b;touch made']
)
def test_whatever_a_sweep_is_called_the_script_has_no_other_command(tmp_path: Path, name: str) -> None:
    """Under bash it calls the command with each of its words as it is, and its job's name is one word."""
    folder, said = tmp_path / name, tmp_path / "said"
    folder.mkdir()
    words = ["sh", "-c", f'printf "%s\\0" "$@" > {shlex.quote(str(said))}', "sh", "sweep", f"{name}.toml"]
    text = script(name, words, 4, 2, folder)
    (job := tmp_path / "job.sh").write_text(text)
    environment = {**os.environ, "SLURM_ARRAY_TASK_ID": "1"}
    subprocess.run(["bash", str(job)], env=environment, cwd=tmp_path, check=True)
    assert said.read_text().split("\0")[:-1] == ["sweep", f"{name}.toml", "--workers", "1", "--part", "1/2"]
    assert not list(tmp_path.rglob("made"))
    (option,) = [line for line in text.splitlines() if "--job-name" in line]
    assert re.fullmatch(r"#SBATCH --job-name=roambus-[\w.+-]+", option)
    assert len([line for line in text.splitlines() if not line.startswith("#")]) == 2 + 2 * name.count("\n")


@pytest.mark.parametrize("text", ["", "1", "1/1", "2/1", "-1/2", "a/b", "1/2/3"])
def test_a_part_that_is_none_is_refused(text: str) -> None:
    """With what to write."""
    with pytest.raises(UserError, match="NUMBER/PARTS"):
        SweepPart.read(text)


def test_parts_are_all_runs_and_each_once() -> None:
    """However many there are."""
    runs = list(range(10))
    for of in (1, 3, 10, 20):
        parts = [run for number in range(of) for run in SweepPart(number, of).of_all(runs)]
        assert sorted(parts) == runs


def test_an_array_that_slurm_would_not_take_is_refused(tmp_path: Path) -> None:
    """Before it is written; many runs share tasks unless they are told how many there are to be."""
    with pytest.raises(UserError, match="at most 1000"):
        script("x", ["roambus"], 5000, 2000, tmp_path)
    assert "--array=0-999\n" in script("x", ["roambus"], 5000, None, tmp_path)


def test_what_only_the_script_needs_is_not_in_its_command() -> None:
    """In either way of writing it."""
    words = ["sweep", "x", "--slurm", "f", "--tasks=3", "--set", "a=b", "--workers", "2"]
    assert without_options(words, "--slurm", "--tasks", "--workers") == ["sweep", "x", "--set", "a=b"]
