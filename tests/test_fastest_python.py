"""`make install` takes the fastest Python 3.11 on the PATH that can make a virtual environment."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "fastest_python.sh"


def make_python(folder: Path, does: str) -> str:
    """A stand-in for an interpreter, in a folder of its own; returns the folder."""
    folder.mkdir()
    python = folder / "python3.11"
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
    tools = [folder for folder in os.environ["PATH"].split(":") if not (Path(folder) / "python3.11").exists()]
    assert run([*folders, *tools, make_tools(tmp_path / "tools")]) == f"{tmp_path / chosen}/python3.11"


def test_without_any_the_usual_name_is_printed(tmp_path: Path) -> None:
    """Then make's own error names what is missing."""
    assert run([make_tools(tmp_path / "tools")]) == "python3.11"


def make_tools(folder: Path) -> str:
    """What the script calls, where there is no Python."""
    folder.mkdir()
    for tool in ("sh", "sort", "head", "cut"):
        found = subprocess.run(["which", tool], capture_output=True, text=True, check=True).stdout.strip()
        (folder / tool).symlink_to(found)
    return str(folder)


def run(path: list[str]) -> str:
    environment = {"PATH": ":".join(path)}
    done = subprocess.run([SCRIPT], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()
