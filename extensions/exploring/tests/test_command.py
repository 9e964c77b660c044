"""`roambus explore` on the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from roambus.bridge.system.errors import UserError
from roambus.command_line import commands
from roambus.console.output import CommandOutput
from roambus.extensions.exploring.tests.exploring import AGENTS

QUESTION = (
    "agent flooding\nlinks n1-n2 n2-n3\nsetup\n  n3 subscribes f1\nmay n1 publishes e1\nmust everything delivered\n"
)
LOSSY = QUESTION.replace("must", "may 1 loss\nmust")


def test_it_says_what_was_explored_and_that_it_holds(tmp_path: Path) -> None:
    """All states were: one way of a flood on a line of three nodes, each of which waits a moment of chance."""
    (tmp_path / "line.txt").write_text(QUESTION)
    result = CliRunner().invoke(commands, ["explore", str(tmp_path / "line.txt")], catch_exceptions=False)
    assert result.exit_code == 6
    assert "everything delivered: holds within: chance at the least value of each range\n" in result.output


def test_it_writes_a_transcript_of_what_is_wrong(tmp_path: Path) -> None:
    """`roambus trace` repeats it: a flood over a line stands no loss."""
    (tmp_path / "line.txt").write_text(LOSSY)
    arguments = ["explore", str(tmp_path / "line.txt"), "--out", str(tmp_path / "wrong")]
    result = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert result.exit_code == 1
    (found,) = (tmp_path / "wrong").iterdir()
    assert "> n1 -> n2 is lost\n" in found.read_text()
    again = CliRunner().invoke(commands, ["trace", str(found)], catch_exceptions=False)
    assert again.output == found.read_text()


def test_each_network_of_a_family_is_explored(tmp_path: Path) -> None:
    """Programs get the figures and verdicts of each."""
    (tmp_path / "all.txt").write_text(QUESTION.replace("links n1-n2 n2-n3", "graphs 3"))
    output = CommandOutput(as_json=True)
    arguments = ["explore", str(tmp_path / "all.txt")]
    CliRunner().invoke(commands, arguments, catch_exceptions=False, obj=output)
    networks = output.document["networks"]
    assert sorted(network.name for network in networks) == ["1-2 1-3", "1-2 1-3 2-3", "1-2 2-3", "1-3 2-3"]
    assert all(network.verdicts["everything delivered"].startswith("holds within: ") for network in networks)


@pytest.mark.parametrize(
    ("option", "verdict", "code"),
    [
        (["--depth", "2"], "not decided: no quiet state was reached but the first", 5),
        (["--states", "1"], "not decided: the search was cut at the bound of 1 states: give a greater --states", 5),
    ],
)
def test_a_bound_is_named(tmp_path: Path, option: list[str], verdict: str, code: int) -> None:
    """Nothing holds then, and the exit code says so, too."""
    (tmp_path / "line.txt").write_text(QUESTION)
    result = CliRunner().invoke(commands, ["explore", str(tmp_path / "line.txt"), *option], catch_exceptions=False)
    assert f"everything delivered: {verdict}" in result.output
    assert "holds" not in result.output
    assert result.exit_code == code


def test_what_is_never_quiet_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    """Messages that go on for ever: no state was there in which to ask what a probe does."""
    question = QUESTION.replace("agent flooding", f"agent {AGENTS}:Restless\nrelative time\nmessages fast").replace(
        "everything delivered", "probes arrive"
    )
    (tmp_path / "line.txt").write_text(question)
    result = CliRunner().invoke(commands, ["explore", str(tmp_path / "line.txt")], catch_exceptions=False)
    assert result.exit_code == 5
    assert "probes arrive: not decided: no quiet state was reached\n" in result.output
    assert "everything was explored" not in result.output


def test_a_wrong_line_is_a_users_mistake(tmp_path: Path) -> None:
    """It is named with its file and number."""
    (tmp_path / "line.txt").write_text(QUESTION + "must be\n")
    with pytest.raises(UserError, match=r"line.txt:7: unknown property 'be'"):
        CliRunner().invoke(commands, ["explore", str(tmp_path / "line.txt")], catch_exceptions=False)


def test_a_file_is_announced_before_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents with parameters, and properties: a scenario that somebody hands over may name either."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loud.py").write_text("raise RuntimeError('it ran')\n")
    (tmp_path / "mine.py").write_text("raise RuntimeError('it ran')\n")
    agent = QUESTION.replace("agent flooding", "agent loud.py volume=2")
    for what, question in (
        ("agent loud.py", agent),
        ("property mine.py:holds", QUESTION.replace("must everything delivered", "must mine.py:holds")),
    ):
        (tmp_path / "line.txt").write_text(question)
        result = CliRunner().invoke(commands, ["explore", "line.txt"])
        assert result.stderr.startswith(f"runs {what} at {tmp_path}")
        assert isinstance(result.exception, UserError)
        assert "it ran" in str(result.exception)


HASHING = """from roambus import Agent, Publish, on


class A(Agent):
    @on(Publish)
    def publish(self, event, now):
        raise ValueError(hash("a text"))
"""


@pytest.mark.parametrize("arguments", [(), ("--hunt", "20")])
def test_texts_have_the_same_hashes_in_each_start(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """So that sets of them have the same order; a hash seed that is given stays."""
    (tmp_path / "hashing.py").write_text(HASHING)
    (tmp_path / "line.txt").write_text("agent hashing.py\nlinks n1-n2\nmay n1 publishes e1\nmust nothing twice\n")
    command = [sys.executable, "-m", "roambus", "explore", "line.txt", *arguments]
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    said = [
        subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=120).stdout
        for env in (bare, bare, {**bare, "PYTHONHASHSEED": "5"})
    ]
    hashes = [text.partition("ValueError: ")[2].partition(" at ")[0] for text in said]
    assert hashes[0] == hashes[1] != hashes[2]
    assert hashes[0].lstrip("-").isdecimal()
