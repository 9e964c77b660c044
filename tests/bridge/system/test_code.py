"""What is about to be run is said before it is run, with its place and a hash, and nothing is imported to say it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from roambus.bridge.agents import (
    UntrustedAgentError,
    agent_names,
    agent_sources,
    find_code,
    load_agent,
    load_agent_of_results,
)
from roambus.bridge.system.code import AGENTS, PARTS, is_installed, is_own_file
from roambus.bridge.system.errors import UserError
from roambus.bridge.transcript.transcript import Overrides, transcribe
from tests.support.agents import write_agent

CANARY = "import pathlib; pathlib.Path({canary!r}).touch()\n"


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that is there once any code of the working folder has run: modules, a package, an agent's file."""
    file = tmp_path / "canary"
    code = CANARY.format(canary=str(file))
    for name in ("mine.py", "module_of_mine.py", "package_of_mine/__init__.py", "package_of_mine/core.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield file
    assert not file.exists()


@pytest.mark.parametrize("name", agent_names())
def test_installed_agents_are_found_with_their_package_and_files(name: str) -> None:
    """Those that the class turns out to be written in are among the files; its module names it as well."""
    code = find_code(name)
    assert code.package.startswith("roambus ")
    assert {*agent_sources(load_agent(name))} <= {*code.files}
    assert load_agent_of_results(name, trusted=False) is load_agent(name)
    (point,) = entry_points(group=AGENTS, name=name)
    assert load_agent_of_results(point.value, trusted=False) is load_agent(name)


@pytest.mark.parametrize(
    ("reference", "files"),
    [
        ("mine.py", ["mine.py"]),
        ("mine.py:Mine", ["mine.py"]),
        ("module_of_mine:Mine", ["module_of_mine.py"]),
        ("package_of_mine.core:Core", ["__init__.py", "core.py"]),
        ("package_of_mine:Core", ["__init__.py", "core.py"]),
        ("absent.py", []),
        ("no_such_module:Mine", []),
        ("package_of_mine.absent:Mine", []),
        ("", []),
        ("a..b:C", []),
        (".relative:C", []),
    ],
)
def test_other_agents_are_found_without_running_anything(canary: Path, reference: str, files: list[str]) -> None:
    """Their files, or none; results that name them do not have them run."""
    code = find_code(reference)
    assert ([file.name for file in code.files], code.package) == (files, "")
    with pytest.raises(UntrustedAgentError, match="is not installed, and code that results name is not run unasked"):
        load_agent_of_results(reference, trusted=False)


def test_an_agent_in_a_file_is_that_file_alone_whatever_its_name(tmp_path: Path) -> None:
    """A dot in the name makes no package of it: other files beside it do not belong to the agent."""
    file = write_agent(tmp_path, "mine", "pass").rename(tmp_path / "mine.second.py")
    (tmp_path / "other.py").mkdir()
    (tmp_path / "another.py").touch()
    assert agent_sources(load_agent(str(file))) == [file]


def test_trace_says_what_it_runs(tmp_path: Path) -> None:
    """A scenario names its agent as results do; what is installed needs no word."""
    scenario, said = tmp_path / "line.txt", list[str]()
    mine = write_agent(tmp_path, "mine", "pass")
    for agent in ("flooding", mine):
        scenario.write_text(f"agent {agent}\nlinks n1-n2\n\n> n1 publishes e1\n")
        transcribe(scenario, Overrides(announce=said.append))
    assert len(said) == 1
    assert said[0].startswith(f"runs agent {mine} at {mine} (sha256 ")


@pytest.mark.parametrize("part", PARTS)
def test_a_parts_files_are_roambus_and_an_extensions_tests_stand_for_users(part: str) -> None:
    """So agents that its tests write are watched, and their code is in a run's key, as if they were a user's."""
    file = PARTS[part] / "any" / "agent.py"
    assert (is_own_file(file), is_installed(file)) == (True, True)
    tests = PARTS[part] / "any" / "tests" / "agent.py"
    assert (is_own_file(tests), is_installed(tests)) == (False, False)


def test_a_users_file_in_a_folder_of_tests_is_the_users(tmp_path: Path) -> None:
    """Wherever it lies."""
    for file in (tmp_path / "agent.py", tmp_path / "tests" / "agent.py"):
        assert (is_own_file(file), is_installed(file)) == (False, False)


@pytest.mark.parametrize(
    "text", ["X = " + "+".join(["1"] * 6000), "X = " + "lambda: " * 2000 + "1", "X = " + "[" * 3000]
)
def test_code_that_is_nested_too_deeply_ends_in_one_message(tmp_path: Path, text: str) -> None:
    """Python may well run it, but its imports cannot be followed."""
    file = write_agent(tmp_path, "deep", "pass")
    file.write_text(f"{file.read_text()}\nX = {text}\n")
    with pytest.raises(UserError, match=rf"{file}:(\d+: too many nested| its code is nested too deeply)"):
        load_agent(str(file))
