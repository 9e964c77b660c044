"""Completion of the shell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from roambus.command_line import commands

VARIABLE = "_ROAMBUS_COMPLETE"
"""The environment variable by which the script of a shell asks; click makes it of the program's name."""


def completed(*words: str) -> list[str]:
    """What is offered for the last word; files are the shell's own matter."""
    *before, last = words
    found = ShellComplete(commands, {}, "roambus", VARIABLE).get_completions(before, last)
    return [item.value for item in found if item.type == "plain"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("repro",), ["reproduce"]),
        (("run", "th"), ["thesis"]),
        (("run", "thesis", "--agent", "floo"), ["flooding"]),
        (("run", "thesis", "--set", "brok"), ["brokers="]),
        (("run", "thesis", "--set", "config=C1"), ["config=C16"]),
        (("run", "thesis", "--agent", "gossip", "--param", "cou"), ["counter_threshold="]),
        (("sweep", "bea"), ["beacon"]),
        (("sweep", "thesis", "--set", "config=C3"), ["config=C32"]),
        (("reproduce", "thesis-a"), ["thesis-acknowledged"]),
        (("show", "hops_me"), ["hops_mean"]),
        (("show", "thesis-b"), ["thesis-bare"]),
        (("list", "st"), ["studies"]),
        (("doctor", "--build", "c"), ["castalia"]),
        (("run", "nowhere", "--set", "brok"), []),
    ],
)
def test_names_are_completed_where_they_stand(words: tuple[str, ...], offered: list[str]) -> None:
    """Commands, agents, templates, sweeps, studies, metrics, variables and parameters; nothing where there is none."""
    assert completed(*words) == offered


def test_metrics_are_those_of_the_results(tmp_path: Path) -> None:
    """A message type that the runs sent is one of them."""
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "runs.csv").write_text("agent,speed,seed,messages,sent_SUB\n")
    assert completed("compare", str(tmp_path), "--metric", "s") == ["sent_SUB"]


def test_an_agent_in_a_file_is_not_run_by_pressing_a_key(tmp_path: Path) -> None:
    """Its parameters are not offered."""
    (tmp_path / "mine.py").write_text("raise SystemExit('ran')\n")
    assert completed("run", "thesis", "--agent", str(tmp_path / "mine.py"), "--param", "") == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_scripts_too(shell: str) -> None:
    """The script asks by the variable that the command looks for."""
    script = subprocess.run(
        [sys.executable, "-m", "roambus"],
        env={**os.environ, VARIABLE: f"{shell}_source"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"{VARIABLE}={shell}_complete" in script


def test_bash_completes_with_the_script() -> None:
    """A real bash, which asks the installed command."""
    ask = (
        'eval "$(_ROAMBUS_COMPLETE=bash_source roambus)"; '
        "COMP_WORDS=(roambus run thes); COMP_CWORD=2; _roambus_completion roambus; "
    )
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", f'compopt() {{ :; }}; {ask} echo "${{COMPREPLY[@]}}"'],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("thesis\n", "")
