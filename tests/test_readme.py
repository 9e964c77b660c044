"""Every command of the documents works as it stands there."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from bridge.backends.castalia.installation import Program
from tests.support.documents import BLOCK, listings

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs" / "tutorial.md"  # tests/test_tutorial.py follows it
DOCUMENTS = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").glob("*.md") if path != TUTORIAL)]
BY_MAKE = {"make reproduce", "make test", ". .venv/bin/activate"}
"""Run by the tests of the whole, and by whatever runs these tests."""

STARTS_S = 100.0
"""How long a program that goes on may take to start."""


def commands(text: str, kind: str = "sh") -> list[str]:
    blocks = [content for language, content in BLOCK.findall(text) if language == kind]
    return [line for block in blocks for line in block.splitlines() if line and line not in BY_MAKE]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_work(document: Path, tmp_path: Path) -> None:
    """In an empty folder, one after the other, with the listings saved under their names.

    Blocks marked as `shell` hold commands that go on until they are ended, each in a terminal of its own.
    """
    text = document.read_text()
    for name, content in listings(text).items():
        (tmp_path / name).write_text(content)
    with going_on(commands(text, "shell"), tmp_path):
        run_all(commands(text), tmp_path)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
@pytest.mark.castalia
def test_commands_for_castalia_work(document: Path, castalia: Program, tmp_path: Path) -> None:
    """Blocks marked as `bash` need OMNeT++ and Castalia."""
    run_all(commands(document.read_text(), "bash"), tmp_path)


@contextmanager
def going_on(lines: list[str], folder: Path) -> Iterator[None]:
    with ExitStack() as started:
        for command in lines:
            process = started.enter_context(subprocess.Popen(command.split(), cwd=folder, env=environment()))
            started.callback(process.terminate)
        for host, port in set(re.findall(r"spark://([\d.]+):(\d+)", "\n".join(lines))):
            wait_for_answer(host, int(port))
        yield


def wait_for_answer(host: str, port: int) -> None:
    deadline = time.monotonic() + STARTS_S
    while True:
        try:
            socket.create_connection((host, port)).close()
        except ConnectionRefusedError:
            assert time.monotonic() < deadline, f"nobody answers at {host}:{port}"
            time.sleep(0.1)
        else:
            return


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def run_all(lines: list[str], folder: Path) -> None:
    for command in lines:
        done = subprocess.run(
            command.split(), cwd=folder, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def test_the_readme_starts_with_the_two_commands() -> None:
    """What a newcomer types first is what the Makefile has."""
    first = BLOCK.findall((ROOT / "README.md").read_text())[0]
    assert first == ("sh", "make reproduce\nmake test\n")
    for target in ("install", "reproduce", "test"):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
