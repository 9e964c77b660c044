"""What every command has: `--json`, `-q` and `-v`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from roambus.command_line import commands
from roambus.console.output import plain
from tests.roambus.conftest import Roambus

BROKEN = ("--out", "out", "--set", "nodes=2", "--set", "time_limit=3")


def every_command(group: click.Group = commands, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from every_command(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


def test_every_command_has_the_three_options() -> None:
    """Each of them once, so that no command spells them otherwise."""
    for name, command in every_command():
        words = [word for parameter in command.params for word in parameter.opts]
        assert [words.count(word) for word in ("--json", "-q", "--quiet", "-v", "--verbose")] == [1] * 5, name


@pytest.mark.parametrize("place", [("--json", "list", "agents"), ("list", "agents", "--json")])
def test_the_options_stand_before_or_after_the_command(roambus: Roambus, place: tuple[str, ...]) -> None:
    """Either way there is one document."""
    assert "mft" in {study["name"] for study in json.loads(roambus(*place).out)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "nowhere", "--json"), "unknown template 'nowhere'"),
        (("run", "--nonsense", "--json"), "No such option"),
        (("show", "thesys", "--json"), "did you mean template 'thesis', sweep 'thesis', study 'thesis'?"),
        (("aggregate", "nowhere", "--json"), "nowhere"),
    ],
)
def test_an_error_is_a_document_too(roambus: Roambus, arguments: tuple[str, ...], message: str) -> None:
    """It says what the line on stderr says, which is not there, and the exit code."""
    done = roambus(*arguments)
    document = json.loads(done.out)
    assert (document["exit_code"], done.code, done.err) == (2, 2, "")
    assert message in document["error"]


def test_a_run_tells_a_program_where_its_trace_is(folder: Path, roambus: Roambus) -> None:
    """The document has the paths, and stdout nothing else."""
    document = json.loads(roambus("run", "field", "--agent", "mine.py", *BROKEN, "--json").out)
    assert (folder / document["trace"]).is_file()
    assert Path(document["trace"]).parent == Path(document["folder"])


@pytest.mark.slow
def test_a_failing_sweep_tells_each_failure_once(folder: Path, roambus: Roambus) -> None:
    """People read it when it happens, or with -q at the end; a program reads it in the document."""
    arguments = ("sweep", "mine.toml", "--set", "nodes=2", "--seeds", "1", "--workers", "1")
    (folder / "mine.py").write_text(BREAKS)
    loud = roambus(*arguments, "--out", "loud")
    assert (loud.code, loud.err.count("ValueError: no")) == (1, 1)
    again = roambus(*arguments, "--out", "loud")
    assert again.err.count("failed earlier") == 1
    quiet = roambus(*arguments, "--out", "quiet", "-q")
    assert (quiet.code, quiet.out, quiet.err.count("ValueError: no"), quiet.err.count("\n")) == (1, "", 1, 1)
    document = json.loads(roambus(*arguments, "--out", "json", "--json").out)
    assert document["sweeps"] == [{"results": "json", "done": 0, "already_there": 0, "failed": 1}]
    assert ["ValueError: no" in problem for problem in document["problems"]] == [True]


BREAKS = """
from roambus import Agent, Started, on


class Breaks(Agent):
    @on(Started)
    def start(self, event, now):
        raise ValueError("no")
"""


def test_runs_that_publish_nothing_are_noted(folder: Path, roambus: Roambus) -> None:
    """A delivery rate of nothing looks like a bad protocol: the log, `run` and `sweep` say so, these with a count."""
    words, note = ("--backend", "ideal", "--set", "nodes=2", "--set", "time_limit=3"), "note: nothing was published"
    silent, loud = ("--set", "publish_interval=0s"), ("--set", "publish_interval=1s")
    done = roambus("run", "field", "--agent", "flooding", "--out", "one", *words, *silent)
    assert (done.code, note in done.err.splitlines()) == (0, True)
    assert any("nothing was published" in log.read_text() for log in folder.glob("one/**/run.log"))
    assert note not in roambus("run", "field", "--agent", "flooding", "--out", "two", *words, *loud).err
    both = ("--set", "publish_interval=0s,1s", "--agents", "flooding", "--seeds", "2", "--workers", "1")
    place = "traces/agent=flooding/nodes=2/publish_interval=0s/time_limit=3/seed=0"
    done = roambus("sweep", "field", "--out", "three", *words, *both)
    assert f"{note} in 2 of 4 runs, such as {place}" in done.err
    assert note not in roambus("sweep", "field", "--out", "three", *words, *both, "-q").err


def test_more_is_printed_with_v(roambus: Roambus) -> None:
    """Steps with their times, and where an error comes from."""
    assert " s] the back-end is ready\n" in roambus("run", "field", "--agent", "mine.py", *BROKEN, "-v").err
    assert "find_template" in roambus("run", "nowhere", "-v").err


def test_what_json_cannot_hold_becomes_what_it_can() -> None:
    """No number is null, paths are texts, and whatever holds others is looked into."""
    assert plain({"a": math.nan, "b": [Path("c"), (1, 2.5)], "d": None, "e": True}) == {
        "a": None,
        "b": ["c", [1, 2.5]],
        "d": None,
        "e": True,
    }


@pytest.mark.parametrize(
    ("known", "word"),
    [(False, "the radio is compiled, once after each installation"), (None, "let NUMBA_CACHE_DIR name a folder")],
)
def test_a_word_is_said_before_the_radio_is_compiled(
    roambus: Roambus, monkeypatch: pytest.MonkeyPatch, known: bool | None, word: str
) -> None:
    """For nothing else is seen for a while; unless nobody wants to hear. Without a cache each run does it again."""
    monkeypatch.setattr("roambus.bridge.backends.radio.kernel.is_compiled", lambda _: known)
    assert word in roambus("run", "field", "--agent", "mine.py", *BROKEN).err
    assert word not in roambus("run", "field", "--agent", "mine.py", *BROKEN, "-q").err
