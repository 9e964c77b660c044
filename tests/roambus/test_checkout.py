"""In a checkout, modules are loaded from the files that the tree shows, and each has one name."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT

PARTS = ("bridge", "experiments", "python_protocol", "spark")
SCENARIO = "agent flooding\nlinks n1-n2\n\n> n1 publishes e1\n"
TRACE = (
    "from pathlib import Path; from roambus.bridge.transcript.transcript import transcribe; transcribe(Path('s.txt'))"
)


def python(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Python in that folder, which finds the checkout by its path alone."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def first_line(file: Path, function: str) -> int:
    """The first line of a method's body, below its docstring."""
    found = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)]
    (method,) = [node for node in found if node.name == function]
    return method.body[1].lineno


def test_a_breakpoint_in_a_file_of_the_tree_fires(tmp_path: Path) -> None:
    """The debugger stops in the host where a node's event is handled."""
    (tmp_path / "s.txt").write_text(SCENARIO)
    (tmp_path / "trace.py").write_text(TRACE)
    file = ROOT / "bridge" / "host" / "event_loop.py"
    line = first_line(file, "_handle")
    commands = (f"break {file}:{line}", "continue", "p ('stopped', __file__, event)", "quit")
    done = python("-m", "pdb", *(word for command in commands for word in ("-c", command)), "trace.py", folder=tmp_path)
    assert f"('stopped', '{file}', Started())" in done.stdout


@pytest.mark.parametrize("part", PARTS)
def test_a_part_has_one_name(part: str) -> None:
    """From the root of the checkout the folder looks like a package of its own, which says how it is imported."""
    done = python("-c", f"import {part}", folder=ROOT)
    assert done.stderr.splitlines()[-1] == f"ImportError: {part} is a part of roambus: import roambus.{part}"


def test_an_error_has_one_class() -> None:
    """It is found in the real file, also where the link is on the way."""
    program = "import roambus.bridge.system.errors as e, roambus; print(e.__file__, e.UserError is roambus.UserError)"
    assert python("-c", program, folder=ROOT).stdout.split() == [str(ROOT / "bridge" / "system" / "errors.py"), "True"]


@pytest.mark.parametrize("part", [*PARTS, "extensions"])
def test_the_links_are_there_for_type_checkers(part: str) -> None:
    """They lead to the real folders."""
    assert (ROOT / "roambus" / part).resolve() == ROOT / part
