"""An extension is removed by its folder and its lines in pyproject.toml: the core works as before, without a warning.

The whole suite of the core runs in a copy of the tree whose entry points are those that are left. So the core needs no
extension, and its tests name none. It runs without all extensions, and without each of a few groups. Those are chosen
so that of any two extensions each is gone at least once while the other is there: no three of seven groups are the same
for two of them. Alone, an extension is removed for the commands, and for the collection of the core's suite.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from itertools import combinations, permutations
from pathlib import Path

import pytest

from roambus.bridge.system.code import EXECUTORS, JOB_ARRAYS, RECORDERS
from roambus.bridge.system.process import cores
from tests.support.places import ROOT
from tests.support.removed import BROUGHT, PLUGIN, is_there

EXTENSIONS = sorted(path.name for path in (ROOT / "extensions").iterdir() if is_there(path.name))
LEFT_OUT = (".git", ".venv", "*.pyc", "build", ".*_cache")
ENTRY_POINTS = re.compile(r'\n\[project\.entry-points\."?[\w.]+"?\]\n(?=\n)')
COMMANDS = (
    ["list"],
    ["--help"],
    ["sweep", "field", "--agents", "beacon,flooding", "--backend", "ideal", "--set", "nodes=3,4", "--set",
     "time_limit=4", "--seeds", "2", "--workers", "1", "--out", "out"],
    ["aggregate", "out"],
    ["figures", "out", "--metric", "messages_per_node"],
    ["compare", "out", "--metric", "messages_per_node"],
)  # fmt: skip
SUITE = ("-q", "-p", "no:cacheprovider", "-n", str(cores()), "-m", "not slow and not castalia", "tests")


def test_extensions_are_folders_of_their_own() -> None:
    """Nothing else of them lies in `extensions/`."""
    files = [path for path in (ROOT / "extensions").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    others = {path.relative_to(ROOT / "extensions").parts[0] for path in files} - {*EXTENSIONS}
    assert others == {"__init__.py"}


def test_what_extensions_bring_is_known_after_they_are_deleted() -> None:
    """For the tests that follow pages of the core; pyproject.toml and the studies' folders say it before."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    brought = {extension: " ".join(sorted(set(names_of([extension], text)))) for extension in EXTENSIONS}
    assert brought == {extension: names for extension, names in BROUGHT.items() if extension in EXTENSIONS}


def test_no_test_of_the_core_names_an_extension() -> None:
    """Those of benchmarks may: they are skipped where it is gone."""
    files = [path for path in (ROOT / "tests").rglob("*.py") if "benchmarks" not in path.parts]
    named = re.compile(rf"roambus\.extensions\.({'|'.join({*EXTENSIONS, *BROUGHT})})\b")
    assert {path.name for path in files if named.search(path.read_text(encoding="utf-8"))} == set()


GROUPS = [
    [name for name, groups in zip(EXTENSIONS, combinations(range(7), 3), strict=False) if number in groups]
    for number in range(7)
]
"""Each extension is in three of the seven, and no two are in the same three."""


def test_of_any_two_extensions_each_is_gone_while_the_other_is_there() -> None:
    """Thirty-five can be told apart so; one more needs an eighth group."""
    for gone, there in permutations(EXTENSIONS, 2):
        assert any(gone in group and there not in group for group in GROUPS)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXTENSIONS)
def test_commands_work_without(name: str, tmp_path: Path) -> None:
    """The core lists, sweeps, aggregates, draws and compares, and its tests import nothing that is gone."""
    tree = tree_without([name], tmp_path / "tree")
    assert_commands_work(tree, tmp_path)
    done = python(tree, "-m", "pytest", *SUITE, "--collect-only", folder=tree)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("gone", [*GROUPS, EXTENSIONS], ids="+".join)
def test_the_suite_of_the_core_passes_without(gone: Sequence[str], tmp_path: Path) -> None:
    """As a whole, and so do the commands."""
    tree = tree_without(gone, tmp_path / "tree")
    assert_commands_work(tree, tmp_path)
    done = python(tree, "-m", "pytest", *SUITE, folder=tree)
    assert done.returncode == 0, done.stdout


def assert_commands_work(tree: Path, folder: Path) -> None:
    """None prints a warning, and what is listed has a summary."""
    listed = ""
    for words in COMMANDS:
        done = python(tree, "-W", "error", "-m", "roambus", *words, folder=folder)
        assert done.returncode == 0, done.stderr
        listed += done.stdout if words == ["list"] else ""
    assert not [line for line in listed.splitlines() if "Its source has no summary" in line]


def tree_without(names: Sequence[str], tree: Path) -> Path:
    """A copy of the checkout without these extensions and their lines, installed in an environment of its own."""
    shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for name in names:
        shutil.rmtree(tree / "extensions" / name)
    project = tree / "pyproject.toml"
    project.write_text(without_lines(project.read_text(encoding="utf-8"), names), encoding="utf-8")
    install(tree)
    return tree


def without_lines(text: str, names: Sequence[str]) -> str:
    """pyproject.toml without the lines that name one of these extensions, and without tables left empty by that."""
    named = re.compile(rf"\broambus\.extensions\.(?:{'|'.join(names)})\b|\bextensions/(?:{'|'.join(names)})\b")
    lines = [line for line in text.splitlines(keepends=True) if not named.search(line)]
    return ENTRY_POINTS.sub("", "".join(lines))


OPTIONS = {RECORDERS: "--record", EXECUTORS: "--spark", JOB_ARRAYS: "--slurm", "pytest11": PLUGIN}
"""The options and fixtures by which pages name groups of entry points."""


def names_of(gone: Sequence[str], text: str) -> list[str]:
    """The agents, commands, options, back-ends, studies and sweeps of these extensions, as pages name them."""
    points = tomllib.loads(text)["project"]["entry-points"]
    places = tuple(f"roambus.extensions.{name}{end}" for name in gone for end in (".", ":"))
    brought = [(group, name) for group in points for name, at in points[group].items() if at.startswith(places)]
    files = [path for name in gone for path in (ROOT / "extensions" / name / "study").glob("*.*")]
    stems = [path.name.partition(".")[0] for path in files if path.name.endswith((".toml", ".ini.j2"))]
    return [*(OPTIONS.get(group, name) for group, name in brought), *stems]


def install(tree: Path) -> None:
    """Write the metadata of the tree into an environment that has this one's packages, and make it a repository.

    Some tests ask git for the files of the checkout.
    """
    environment = tree / ".venv"
    run(tree, sys.executable, "-m", "venv", "--without-pip", str(environment))
    (packages,) = environment.glob("lib/python*/site-packages")
    for place in (Path(path) for path in sys.path if Path(path).name == "site-packages"):
        for found in place.iterdir():
            # Not roambus as it is installed here: pytest reads the entry points of every distribution that it finds.
            if "roambus" not in found.name and found.suffix != ".pth" and not (packages / found.name).exists():
                place_at(found, packages / found.name)
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--editable", str(tree))
    run(tree, sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "install", *options)
    run(tree, "git", "init", "--quiet")
    run(tree, "git", "add", "--all")


def place_at(source: Path, target: Path) -> None:
    """A package or module, as links to its files."""
    if source.is_dir():
        shutil.copytree(source, target, copy_function=link)
    else:
        link(source, target)


def link(source: Path | str, target: Path | str) -> None:
    """The same file at another place, or a copy on another disk. A symbolic link would lead out of the environment."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def run(folder: Path, *command: str) -> None:
    """A command that succeeds."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def python(tree: Path, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The tree's Python, which finds roambus and its entry points there."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["PATH"] = f"{tree / '.venv' / 'bin'}{os.pathsep}{environment['PATH']}"
    command = [str(tree / ".venv" / "bin" / "python"), *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
