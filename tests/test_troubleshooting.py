"""docs/guide/troubleshooting.md is true: every message on it comes from the command above it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.commands import call, shown_commands
from tests.support.documents import listings, page

DOCUMENT = page("troubleshooting")
TEXT = DOCUMENT.read_text(encoding="utf-8")
HEADING = re.compile(r"^### (.+)$", re.MULTILINE)
_, *HALVES = HEADING.split(TEXT)
SECTIONS = dict(zip(HALVES[::2], HALVES[1::2], strict=True))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the page's files, on a machine that knows no Castalia."""
    for name, content in listings(TEXT).items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    for variable in ("OMNETPP_ROOT", "CASTALIA_ROOT"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


NEEDS_SPARK = ["a trace is damaged"]


@pytest.mark.parametrize("section", [section for section in SECTIONS if section not in NEEDS_SPARK])
def test_every_message_comes_from_its_command(
    section: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A command with a message below it fails with that; one without prepares the ground, and works."""
    assert_messages_come_from_commands(section, monkeypatch, capfd)


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("section", NEEDS_SPARK)
def test_every_message_after_spark_comes_from_its_command(
    section: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Likewise, with a Spark that has started."""
    assert_messages_come_from_commands(section, monkeypatch, capfd)


def assert_messages_come_from_commands(
    section: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each of the section, in turn."""
    shown = list(shown_commands(SECTIONS[section]))
    assert any(example.output for example in shown)
    for example in shown:
        code = call(example.command, monkeypatch)
        captured = capfd.readouterr()
        printed = captured.out + captured.err
        assert bool(code) == bool(example.output), f"{example.command}: exit code {code}\n{printed}"
        assert example.is_printed_by(printed), f"{example.command}\n{printed}"
        assert "Traceback" not in printed


@pytest.mark.parametrize(
    ("section", "code"), [("unknown agent", 2), ("no simulator said hello", 3), ("an agent raised", 4)]
)
def test_the_exit_code_says_whose_the_error_is(
    section: str, code: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the table at the top of the page has it."""
    assert f"\n| {code} |" in TEXT
    assert call(next(shown_commands(SECTIONS[section])).command, monkeypatch) == code
