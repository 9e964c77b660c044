"""Every command of the documents works as it stands there."""

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import filterfalse
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from pyspark.sql import SparkSession

from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.system import code
from roambus.experiments.inventory import summaries
from tests.support.commands import call, environment
from tests.support.documents import BLOCK, documents, listings, page
from tests.support.removed import BROUGHT, PLUGIN, REMOVED, skip_if_removed

ROOT = Path(__file__).parents[1]
TUTORIAL = page("tutorial")  # tests/test_tutorial.py follows it
DOCUMENTS = [ROOT / "README.md", *(path for path in documents() if path != TUTORIAL)]
BY_MAKE = {"make reproduce", "make test", ". .venv/bin/activate"}
"""Run by the tests of the whole, and by whatever runs these tests."""

NEEDS_SPARK = ("roambus aggregate", "roambus reproduce")

LONG = {"cluster", "precision", "provenance", "sweeps", "testing", "tuned", "vetting", "your-own-mesh"}
"""Pages and extensions whose commands take ten seconds and more."""

STARTS_S = 100.0
"""How long a program that goes on may take to start."""


def commands(text: str, kind: str = "sh") -> list[str]:
    blocks = [content for language, content in BLOCK.findall(text) if language == kind]
    lines = (line for block in blocks for line in block.splitlines())
    return [line for line in lines if line and line not in BY_MAKE]


def needs_spark(document: Path) -> bool:
    return any(command.startswith(NEEDS_SPARK) for command in commands(document.read_text()))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty one, in which commands are called."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _with_marks(documents: Iterable[Path]) -> list[ParameterSet]:
    """Pages that make whole sweeps, or start a cluster, are left to `make test-slow`."""
    return [
        pytest.param(document, marks=[pytest.mark.slow] if name_of(document) in LONG else []) for document in documents
    ]


def name_of(document: Path) -> str:
    """A page's name, or that of the extension whose page it is."""
    return document.parent.name if document.stem == "page" else document.stem


@pytest.mark.parametrize("document", _with_marks(filterfalse(needs_spark, DOCUMENTS)), ids=name_of)
def test_commands_work(document: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder, one after the other, with the listings saved under their names.

    Blocks marked as `shell` hold commands that go on until they are ended, each in a terminal of its own.
    """
    assert_commands_work(document, folder, monkeypatch)


def assert_commands_work(document: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ends with exit code 0."""
    text = document.read_text()
    skip_if_removed(
        " ".join([*commands(text), *listings(text).values(), *(word for word in (PLUGIN,) if word in text)])
    )
    save_listings(text, folder)
    with going_on(commands(text, "shell"), folder):
        for command in commands(text):
            assert call(command, monkeypatch) == 0, command


@pytest.mark.slow
def test_the_first_agent_passes_a_strict_type_check(folder: Path) -> None:
    """As a user's file: no method of its base class has the name of a handler."""
    save_listings((ROOT / "README.md").read_text(), folder)
    assert "def hear(" in (folder / "gossip.py").read_text()
    command = [sys.executable, "-m", "mypy", "--strict", "gossip.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("document", [*filter(needs_spark, DOCUMENTS)], ids=name_of)
def test_commands_that_need_spark_work(
    document: Path, session: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Likewise; they find a Spark that has started. tests/test_reproduce.py and the tutorial start their own."""
    assert_commands_work(document, folder, monkeypatch)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
@pytest.mark.castalia
def test_commands_for_castalia_work(
    document: Path, castalia: Program, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks marked as `bash` need OMNeT++ and Castalia, and perhaps what the others have made."""
    text = document.read_text()
    own = commands(text, "bash")
    before = commands(text) if own and not needs_spark(document) else []
    save_listings(text, folder)
    for command in (*before, *own):
        assert call(command, monkeypatch) == 0, command


def save_listings(text: str, folder: Path) -> None:
    for name, content in listings(text).items():
        (folder / name).write_text(content)


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


README = (ROOT / "README.md").read_text()


def test_the_readme_starts_with_an_agent_and_its_command() -> None:
    """Both within the first screen, and the whole within 900 words."""
    (language, agent), (_, first) = BLOCK.findall(README)[:2]
    assert language == "python"
    assert len([line for line in agent.splitlines() if line]) <= 12
    assert first.startswith("roambus run thesis --agent gossip.py")
    assert README[: README.index(first)].count("\n") < 40
    assert len(README.split()) <= 900


def test_the_readme_counts_the_agents() -> None:
    """As many as `roambus list agents` lists."""
    assert REMOVED or re.findall(r"(\d+) agents", README) == [str(len(summaries("agents")))]


def test_the_readme_names_every_extension() -> None:
    """By the name of its folder, and nothing else of that form."""
    section = README.partition("## Core and extensions")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", section.partition("\n- ")[2])) - {"play", "verify"}
    assert named == BROUGHT.keys()


def test_contributing_names_every_group_of_entry_points() -> None:
    """Others can bring all that an extension can."""
    groups = {value for value in vars(code).values() if re.fullmatch(r"roambus\.\w+", str(value))}
    registered = set(re.findall(r"^\| .* \| `(roambus\.\w+)` \|$", page("contributing").read_text(), re.MULTILINE))
    assert registered == groups


def test_contributing_declines_what_roambus_is_not() -> None:
    """It quotes each item of the README's section."""
    section = README.partition("## What roambus is not")[2].partition("\n## ")[0]
    items = re.findall(r"^- (.+?): ", section, re.MULTILINE)
    quoted = " ".join(re.findall(r"^> (.+)$", page("contributing").read_text(), re.MULTILINE))
    assert len(items) > 5
    assert [item for item in items if item not in quoted] == []


def test_the_readme_has_the_two_commands() -> None:
    """They do everything on a fresh machine, and the Makefile has them."""
    assert ("sh", "make reproduce\nmake test\n") in BLOCK.findall(README)
    for target in ("install", "reproduce", "test"):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
