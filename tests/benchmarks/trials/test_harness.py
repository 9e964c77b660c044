"""The harness of the trials counts what came of them, tells what broke a promise, and repeats what a seed drew."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks.trials.__main__ import CHAPTERS
from benchmarks.trials.__main__ import main as command
from benchmarks.trials.harness import Chapter, Outcome, TooLongError, TrialOptions, main, patience


def tried(*outcomes: Outcome) -> int:
    """The exit code of a chapter with these."""

    def run(asked: TrialOptions) -> Iterator[Outcome]:
        (asked.folder / "left").touch()
        yield from outcomes

    chapter = Chapter(run, ("file", "disk"), ("cut",), trials=1)
    return main(chapter, trials=1, seed=0, subjects=chapter.subjects, harms=chapter.harms)


def rows(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The table of the report, without its line below the head."""
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in (lines[0], *lines[2:])]


def test_outcomes_are_counted_by_their_end(capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each subject and harm, with what took longest."""
    ended = [Outcome("file", "cut", "worked", took_s=2.0), Outcome("file", "cut", "refused", times=3)]
    assert tried(*ended, Outcome("disk", "cut", "refused")) == 0
    assert rows(capsys) == [
        ["subject", "harm", "trials", "worked", "refused", "broken", "slowest"],
        ["file", "cut", "4", "1", "3", "0", "2.00 s"],
        ["disk", "cut", "1", "0", "1", "0", "0.00 s"],
    ]


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        (Outcome("file", "cut", complaints=["it hangs", "a traceback"]), "file, cut: it hangs; a traceback"),
        (Outcome("file", "cut", "finished before", felt=False), "cut: nothing has felt it"),
    ],
)
def test_a_broken_promise_is_reported_and_is_the_exit_code(
    outcome: Outcome, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And so is a harm that came too late each time, for it says nothing."""
    assert tried(outcome) == 1
    assert line in capsys.readouterr().out.splitlines()


def test_a_subject_that_is_not_there_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """Castalia, for instance."""
    assert tried(Outcome("file", "cut")) == 0
    assert "disk: not tried" in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("things", [range(100), []])
def test_a_seed_draws_the_same(things: Sequence[int]) -> None:
    """Of a list so many as were asked for, in their order; all of them if no number was."""
    some = [TrialOptions(Path(), trials, 3, (), ()).some(things, "lines") for trials in (5, 5, 0)]
    assert some[0] == some[1] == sorted(some[0])
    assert len(some[0]) == min(5, len(things))
    assert some[2] == list(things)
    assert not things or TrialOptions(Path(), 5, 4, (), ()).some(things, "lines") != some[0]


@pytest.mark.slow
def test_patience_ends() -> None:
    """With an error in the block, whatever it waits for; a block that ends in time is left alone."""
    with patience(20):
        pass
    with pytest.raises(TooLongError), patience(1):
        time.sleep(20)


@pytest.mark.parametrize("kind", CHAPTERS)
def test_each_kind_says_what_it_promises(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With the command to try it, its subjects and its harms."""
    with pytest.raises(SystemExit, match="0"):
        command([kind, "--help"])
    said = " ".join(capsys.readouterr().out.split())
    chapter, _ = CHAPTERS[kind]
    assert f"python -m benchmarks.trials {kind}" in said
    assert [name for name in (*chapter.subjects, *chapter.harms) if name not in said] == []
