"""Runs the tests of broken modules, in a copy of the tree: the working tree itself is only read.

A worker imports the libraries once, and runs each trial in a child that it forks: to start Python and import them again
would take longer than most tests that notice something. No module of the project is imported before the fork.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from collections.abc import Sequence
from compileall import compile_dir
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import NamedTuple

import pytest

from benchmarks.mutations.child import FOLDERS, LEAST_LIMIT_S, PATIENCE, PROFILE, conclude, enter, limit_time, run_tests
from benchmarks.mutations.in_memory import InMemory
from benchmarks.mutations.targets import PROTOCOLS, Mutant, Protocol, stages

FILES = ("pyproject.toml",)
_LIBRARIES = ("hypothesis.strategies", "numpy", "pyarrow.parquet", "google.protobuf.message", "click", "rich.console")


class Verdict(NamedTuple):
    """What became of a mutant: the first test that failed, or None if all passed."""

    mutant: Mutant
    noticed_by: str | None


class Workshop:
    """A copy of the tree, in which modules are broken one at a time."""

    def __init__(self, root: Path, copy: Path) -> None:
        """Copies what tests need of `root`."""
        self.copy = copy
        for folder in FOLDERS:
            ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
            shutil.copytree(root / folder, copy / folder, ignore=ignored, symlinks=True)  # roambus/ links to the others
        for file in FILES:
            shutil.copy2(root / file, copy / file)
        self._in_memory: dict[str, InMemory] = {}
        """Those that have been asked for a first look, by protocol."""
        # By their contents: a module broken twice within a second may have the same size and time.
        compile_dir(copy, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)

    def check_unbroken(self, protocol: Protocol) -> list[int]:
        """How many seconds of computing each stage of a protocol's tests may take; raises UnsoundError if one fails."""
        tests = self._tests_in_memory(protocol)
        return [LEAST_LIMIT_S + round(PATIENCE * tests.took_s(stage)) for stage in stages(self.copy, protocol)]

    def look(self, mutant: Mutant, limits_s: Sequence[int]) -> Verdict:
        """Looks at a mutant in memory first, and tries it out only if nothing has noticed it there."""
        protocol = next(one for one in PROTOCOLS if one.name == mutant.protocol)
        noticed = self._tests_in_memory(protocol).first_failure(mutant)
        return Verdict(mutant, noticed) if noticed is not None else self.try_out(mutant, limits_s)

    def _tests_in_memory(self, protocol: Protocol) -> InMemory:
        if protocol.name not in self._in_memory:
            files = [file for stage in stages(self.copy, protocol) for file in stage]
            self._in_memory[protocol.name] = InMemory(self.copy, files)
        return self._in_memory[protocol.name]

    def try_out(self, mutant: Mutant, limits_s: Sequence[int]) -> Verdict:
        """Runs the tests that belong to a mutant until one fails, or a stage has taken its limit."""
        protocol = next(one for one in PROTOCOLS if one.name == mutant.protocol)
        path = self.copy / mutant.module
        sound = path.read_bytes()
        path.write_text(mutant.source)
        try:
            todo = zip(stages(self.copy, protocol, mutant.module), limits_s, strict=True)
            results = (self._run(stage, limit_s) for stage, limit_s in todo)
            return Verdict(mutant, next((noticed for noticed in results if noticed is not None), None))
        finally:
            path.write_bytes(sound)

    def _run(self, stage: Sequence[str], limit_s: int) -> str | None:
        """Runs test files in a child; the first test that fails, if any."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _be_child(self.copy, stage, writer, limit_s)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            first = pipe.read()
        _, status = os.waitpid(child, 0)
        return conclude(os.waitstatus_to_exitcode(status), first)


def load_libraries() -> None:
    """Imports what the tests would import, but nothing of the project."""
    for name in _LIBRARIES:
        importlib.import_module(name)
    from hypothesis import Phase, settings  # noqa: PLC0415  # only workers need it

    # Repeatable, and a failure is enough: nobody reads the smallest example.
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile(PROFILE, derandomize=True, deadline=None, database=None, phases=phases)


def _be_child(copy: Path, stage: Sequence[str], writer: int, limit_s: int) -> None:
    """Runs pytest and ends the process with its exit code; the name of the first failure goes to `writer`."""
    code = pytest.ExitCode.INTERNAL_ERROR
    try:
        enter(copy)
        limit_time(limit_s)
        sys.dont_write_bytecode = True
        code, first = run_tests(stage)
        os.write(writer, first.encode())
    finally:
        os._exit(code)
