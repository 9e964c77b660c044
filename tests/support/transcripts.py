"""Transcripts as tests: every `scenarios/*.txt` runs, and what follows each command is what the file says.

No list is kept: the root conftest.py has pytest collect the files. Two files X_off.txt and X_on.txt are twins, one
network and its commands under two values of a parameter. `pytest -k transcript --rewrite` writes what follows into the
files; the difference is then for a person to read, who sees what is different, and after which command.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from itertools import zip_longest
from pathlib import Path

import pytest

from roambus.bridge.transcript.transcript import Overrides, transcribe

FOLDER = "scenarios"
_ON, _OFF = "_on", "_off"


class TranscriptFile(pytest.File):
    """A transcript's tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield its run, and for the second twin their comparison."""
        yield Transcript.from_parent(self, name="transcript")
        if self.path.stem.endswith(_ON):
            yield Twins.from_parent(self, name="twins")


class Transcript(pytest.Item):
    """Message for message, with contents."""

    def runtest(self) -> None:
        """Run the transcript; with --rewrite, write it first."""
        run = transcribe(self.path)
        if self.config.getoption("rewrite"):
            self.path.write_text(run, encoding="utf-8")
        name = self.path.relative_to(self.config.rootpath).as_posix()
        found = difference(name, self.path.read_text(encoding="utf-8"), run)
        if found:
            pytest.fail(found, pytrace=False)


class Twins(pytest.Item):
    """The same network and commands, so what differs in their outputs comes from the parameter."""

    def runtest(self) -> None:
        """Compare the file with its twin."""
        check_twins(self.path.with_stem(self.path.stem.removesuffix(_ON) + _OFF), self.path)


def check_twins(first: Path, other: Path) -> None:
    """Fail unless two transcripts differ by their agent only: run by one agent, they are equal."""
    texts = [transcribe(path, Overrides(agent="mft")) for path in (first, other)]
    bare, others = ([line for line in text.splitlines() if not line.startswith(("#", "agent"))] for text in texts)
    found = difference(other.name, "\n".join(bare), "\n".join(others))
    if found:
        pytest.fail(f"{first.name} and {other.name} are no twins: {found}", pytrace=False)


def difference(name: str, written: str, run: str) -> str:
    """Empty if there is none; else file, line and command of the first, and all of them as a unified diff."""
    if written == run:
        return ""
    before, after = written.splitlines(), run.splitlines()
    pairs = enumerate(zip_longest(before, after))
    first = next((index for index, (old, new) in pairs if old != new), len(before))
    command = next((line for line in reversed(before[:first]) if line.startswith(">")), "the head")
    diff = unified_diff(before, after, f"{name} (as written)", f"{name} (as it runs)", lineterm="", n=3)
    return "\n".join([f"{name}:{first + 1}: below {command!r} something else happens:", *diff])
