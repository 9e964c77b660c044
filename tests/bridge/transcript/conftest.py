"""Transcripts in a user's folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from roambus.bridge.transcript.transcript import Overrides, transcribe

HEAD = """\
agent mft
tree
  b1
    b2/s2
    b3
clients s3@b3 p1@b1 s9
"""
"""Lines 1 to 6 of every file that `run` writes."""

AS_WRITTEN = Overrides()

Run = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a file as it is given."""

    def write_text(text: str) -> Path:
        path = tmp_path / "mine.txt"
        path.write_text(text, encoding="utf-8")
        return path

    return write_text


@pytest.fixture
def run(write: Callable[[str], Path]) -> Run:
    """The transcript of HEAD and some commands, without HEAD."""

    def run_commands(commands: str, overrides: Overrides = AS_WRITTEN, head: str = HEAD) -> str:
        text = transcribe(write(head + dedent(commands)), overrides)
        assert text.startswith(head)
        return text.removeprefix(head)

    return run_commands
