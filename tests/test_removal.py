"""An extension can be deleted: without its folders and its tests the core works as before, and nothing warns of it.

The tests of an extension lie in its folder of the tests, or name one of its modules.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from roambus.bridge.system.process import cores
from tests.support.places import ROOT

EXTENSIONS = {
    "exploring": ["extensions/exploring"],
    "vetting": ["extensions/vetting"],
    "viewer": ["extensions/viewer"],
    "export": ["extensions/export"],
    "provenance": ["extensions/provenance"],
    "live": ["extensions/live", "roambus/commands/live"],
    "object store": ["extensions/object_store"],
    "lean": ["extensions/lean", "extensions/lean/study"],
    "opportunistic": ["extensions/opportunistic"],
    "routing": ["extensions/routing", "extensions/routing/study"],
    "papers": [
        "python_protocol/papers",
        *(f"experiments/studies/{removed}" for removed in ("caching", "migration_cost", "replicated", "skip_ring")),
    ],
}
"""The folders of each extension; those of papers share brokers and a folder."""
USERS = ("tests", "benchmarks")
"""The folders whose modules use extensions, as a user would."""
LEFT_OUT = (".git", ".venv", "__pycache__", "results", "build", ".mypy_cache", ".ruff_cache", ".pytest_cache")
UNIT_TESTS = ("bridge", "experiments", "python_protocol", "spark", "roambus/test_face.py", "test_arrows.py")
COMMANDS = (
    ["list"],
    ["--help"],
    ["sweep", "field", "--agents", "beacon,flooding", "--backend", "ideal", "--set", "nodes=3,4", "--set",
     "time_limit=4", "--seeds", "2", "--workers", "1", "--out", "out"],
    ["aggregate", "out"],
    ["figures", "out", "--metric", "messages_per_node"],
    ["compare", "out", "--metric", "messages_per_node"],
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_the_core_works_without(extension: str, tmp_path: Path) -> None:
    """It lists, sweeps, aggregates, draws and compares, and the core's unit tests pass."""
    tree = tmp_path / "tree"
    shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
    remove_users(tree, [folder for folders in EXTENSIONS.values() for folder in folders])
    for folder in EXTENSIONS[extension]:
        shutil.rmtree(tree / folder)
    listed = ""
    for words in COMMANDS:
        done = python(tree, "-W", "error", "-m", "roambus", *words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        listed += done.stdout if words == ["list"] else ""
    assert not [line for line in listed.splitlines() if "Its source has no summary" in line]
    tests = [str(path) for name in UNIT_TESTS if (path := tree / "tests" / name).exists()]
    done = python(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(cores()), *tests, folder=tree)
    assert done.returncode == 0, done.stdout


def remove_users(tree: Path, folders: list[str]) -> None:
    """Delete tests and benchmarks that name modules of these folders, and again what imports those: the core's stay."""
    for folder in folders:
        shutil.rmtree(tree / "tests" / folder, ignore_errors=True)
    names = {f"roambus.{folder.removeprefix('roambus/').replace('/', '.')}" for folder in folders}
    texts = {file: file.read_text(encoding="utf-8") for part in USERS for file in (tree / part).rglob("*.py")}
    del texts[tree / "tests" / Path(__file__).name]
    while names:
        named = re.compile("|".join(map(imported, names)))
        gone = [file for file, text in texts.items() if named.search(text)]
        names = {".".join(file.relative_to(tree).with_suffix("").parts) for file in gone}
        for file in gone:
            file.unlink()
            del texts[file]


def imported(name: str) -> str:
    """A pattern of a module's name, whole or as `from PACKAGE import MODULE`."""
    package, _, module = name.rpartition(".")
    return rf"\b{re.escape(name)}\b|from {re.escape(package)} import [^\n]*\b{module}\b"


def python(tree: Path, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Python, which finds roambus in the copied tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
