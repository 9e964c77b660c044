"""`make install` takes the fastest Python on the PATH that is tested and can make a virtual environment."""

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "fastest_python.sh"
TESTED = ("3.11", "3.12", "3.13", "3.14")


def make_python(folder: Path, does: str, name: str = "python3.11") -> str:
    """A stand-in for an interpreter, in a folder of its own unless there is one; returns the folder."""
    folder.mkdir(exist_ok=True)
    python = folder / name
    python.write_text(f"#!/bin/sh\n{does}\n")
    python.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("first", "second", "chosen"),
    [
        ("echo 0.0300", "echo 0.0200", "second"),
        ("echo 0.0200", "echo 0.0300", "first"),
        ("exit 1", "echo 0.0300", "second"),
    ],
)
def test_the_fastest_that_works_is_printed(tmp_path: Path, first: str, second: str, chosen: str) -> None:
    """Whatever the order on the PATH; one that cannot make an environment does not count."""
    folders = [make_python(tmp_path / "first", first), make_python(tmp_path / "second", second)]
    assert run([*folders, make_tools(tmp_path / "tools")]) == f"{tmp_path / chosen}/python3.11"


@pytest.mark.parametrize("fastest", TESTED)
def test_versions_compete(tmp_path: Path, fastest: str) -> None:
    """Those that roambus is tested with, in one folder; another one is not taken, however fast it is."""
    for version in (*TESTED, "3.10", "3.99"):
        took = {fastest: "0.0100", "3.10": "0.0001", "3.99": "0.0001"}.get(version, "0.0200")
        make_python(tmp_path / "bin", f"echo {took}", f"python{version}")
    assert run([str(tmp_path / "bin"), make_tools(tmp_path / "tools")]) == f"{tmp_path}/bin/python{fastest}"


def test_the_versions_are_those_that_the_package_names() -> None:
    """What an index shows is what `make` takes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={TESTED[0]}"
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if line.startswith("Programming Language ::")]
    assert named == list(TESTED)
    assert f"tested={':'.join(TESTED)}\n" in SCRIPT.read_text()


def test_without_any_it_says_what_there_is(tmp_path: Path) -> None:
    """A version that is not tested, and one without venv, as Debian's; make then ends with that."""
    make_python(tmp_path / "bin", "echo Python 3.10.4", "python3.10")
    make_python(tmp_path / "bin", "exit 1", "python3.12")
    done = execute([str(tmp_path / "bin"), make_tools(tmp_path / "tools")])
    assert done.stdout == "false\n"
    assert done.stderr.splitlines()[1:3] == [
        f"  {tmp_path}/bin/python3.12 has no venv (on Debian and Ubuntu, as root: apt-get install python3.12-venv)",
        f"  {tmp_path}/bin/python3.10 is Python 3.10.4",
    ]


@pytest.mark.parametrize(("does", "chosen"), [("exit 0", "{}"), ("echo Python 3.10.4; exit 1", "false")])
def test_the_one_that_is_named_is_taken_if_it_will_do(tmp_path: Path, does: str, chosen: str) -> None:
    """Else pip would complain about hashes."""
    python = f"{make_python(tmp_path / 'bin', does)}/python3.11"
    done = execute([make_tools(tmp_path / "tools")], python)
    assert done.stdout.strip() == chosen.format(python)
    assert ("Python 3.10.4" in done.stderr) == (chosen == "false")


def test_make_ends_where_there_is_none(tmp_path: Path) -> None:
    """With the reason, and nothing of what a shell says about a missing program."""
    tools = Path(make_tools(tmp_path / "tools"))
    make = shutil.which("make")
    assert make
    command = [make, "--no-print-directory", "-C", str(ROOT), "-s", f"VENV={tmp_path / 'venv'}", "install"]
    done = subprocess.run(command, env={"PATH": str(tools)}, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    first, second, last = done.stderr.splitlines()
    assert first == "roambus needs Python 3.11 to 3.14 with venv, and found none on the PATH:"
    assert second.startswith("Install one, or name it: make PYTHON=")
    assert last.endswith("Error 1")
    assert not (tmp_path / "venv").exists()


def make_tools(folder: Path) -> str:
    """What the script calls, where there is no Python."""
    folder.mkdir()
    for tool in ("sh", "sort", "head", "cut", "false"):
        found = subprocess.run(["which", tool], capture_output=True, text=True, check=True).stdout.strip()
        (folder / tool).symlink_to(found)
    return str(folder)


def run(path: list[str]) -> str:
    return execute(path).stdout.strip()


def execute(path: list[str], *named: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": ":".join(path)}
    return subprocess.run([SCRIPT, *named], env=environment, capture_output=True, text=True, check=True)
