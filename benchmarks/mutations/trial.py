"""Runs the tests of broken modules, in a copy of the tree: the working tree itself is only read.

A worker imports the libraries once, and runs each trial in a child that it forks: to start Python and import them anew
would take longer than most tests that notice something. No module of the project is imported before the fork.
"""

from __future__ import annotations

import importlib
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from compileall import compile_dir
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import NamedTuple

import pytest

from benchmarks.mutations.targets import PROTOCOLS, Mutant, Protocol, stages

FOLDERS = ("bridge", "python_protocol", "tests", "experiments", "spark", "roambus", "benchmarks")
FILES = ("pyproject.toml",)
TIME_LIMIT = "time limit"
UNBROKEN_LIMIT_S = 600
LEAST_LIMIT_S = 10
PATIENCE = 3
"""What is broken may take so many times as long as what is not."""
_LIBRARIES = ("hypothesis.strategies", "numpy", "pyarrow.parquet", "google.protobuf.message", "click", "rich.console")
_PROFILE = "mutations"
_QUIET = ("-x", "-q", "-p", "no:cacheprovider", f"--hypothesis-profile={_PROFILE}")
_EARLY = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Libraries imported before pytest begins are no mistake here."""
_MEMORY = 4 << 30
"""Bytes that a child may take: what is broken may loop, and grow."""


class Verdict(NamedTuple):
    """What became of a mutant: the first test that failed, or None if all passed."""

    mutant: Mutant
    noticed_by: str | None


class UnsoundError(Exception):
    """The tests fail although nothing is broken, or cannot be run: nothing can be concluded from them."""


class Workshop:
    """A copy of the tree, in which modules are broken one at a time."""

    def __init__(self, root: Path, copy: Path) -> None:
        """Copies what tests need of `root`."""
        self._copy = copy
        for folder in FOLDERS:
            ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
            shutil.copytree(root / folder, copy / folder, ignore=ignored, symlinks=True)  # roambus/ links to the others
        for file in FILES:
            shutil.copy2(root / file, copy / file)
        # By their contents: a module broken twice within a second may have the same size and time.
        compile_dir(copy, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)

    def check_unbroken(self, protocol: Protocol) -> list[int]:
        """How many seconds each stage of a protocol's tests may take; raises UnsoundError unless all tests pass."""
        limits = []
        for stage in stages(self._copy, protocol):
            start = time.monotonic()
            noticed = self._run(stage, UNBROKEN_LIMIT_S, keep_bytecode=True)
            if noticed is not None:
                raise UnsoundError(f"{protocol.name}: with nothing broken: {noticed}")
            limits.append(LEAST_LIMIT_S + round(PATIENCE * (time.monotonic() - start)))
        return limits

    def try_out(self, mutant: Mutant, limits_s: Sequence[int]) -> Verdict:
        """Runs the tests that belong to a mutant until one fails, or a stage has taken its limit."""
        protocol = next(one for one in PROTOCOLS if one.name == mutant.protocol)
        path = self._copy / mutant.module
        sound = path.read_bytes()
        path.write_text(mutant.source)
        try:
            todo = zip(stages(self._copy, protocol, mutant.module), limits_s, strict=True)
            results = (self._run(stage, limit_s) for stage, limit_s in todo)
            return Verdict(mutant, next((noticed for noticed in results if noticed is not None), None))
        finally:
            path.write_bytes(sound)

    def _run(self, stage: Sequence[str], limit_s: int, *, keep_bytecode: bool = False) -> str | None:
        """Runs test files in a child; the first test that fails, if any."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _be_child(self._copy, stage, writer, limit_s, keep_bytecode=keep_bytecode)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            first = pipe.read()
        _, status = os.waitpid(child, 0)
        return _conclude(os.waitstatus_to_exitcode(status), first)


class _FirstFailure:
    """A plugin of pytest."""

    def __init__(self) -> None:
        self.name = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test has run, or its fixtures have."""
        self._take(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file has been read."""
        self._take(report)

    def _take(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed and not self.name:
            self.name = report.nodeid


def load_libraries() -> None:
    """Imports what the tests would import, but nothing of the project."""
    for name in _LIBRARIES:
        importlib.import_module(name)
    from hypothesis import Phase, settings  # noqa: PLC0415  # only workers need it

    # Repeatable, and a failure is enough: nobody reads the smallest example.
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile(_PROFILE, derandomize=True, deadline=None, database=None, phases=phases)


def _be_child(copy: Path, stage: Sequence[str], writer: int, limit_s: int, *, keep_bytecode: bool) -> None:
    """Runs pytest and ends the process with its exit code; the name of the first failure goes to `writer`."""
    first, code = _FirstFailure(), pytest.ExitCode.INTERNAL_ERROR
    try:
        _enter(copy, limit_s)
        sys.dont_write_bytecode = not keep_bytecode
        code = pytest.ExitCode(pytest.main([*_QUIET, *_EARLY, *stage], plugins=[first]))
        os.write(writer, first.name.encode())
    finally:
        os._exit(code)


def _enter(copy: Path, limit_s: int) -> None:
    """The child imports the project from the copy, says nothing, and is killed when its time is up."""
    os.chdir(copy)
    sys.path.insert(0, str(copy))
    for name in [name for name in sys.modules if name.partition(".")[0] in FOLDERS]:
        del sys.modules[name]
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(limit_s)


def _conclude(code: int, first: str) -> str | None:
    if code == -signal.SIGALRM:
        return TIME_LIMIT
    if code < 0:
        return f"death by {signal.Signals(-code).name}"
    if code == pytest.ExitCode.OK:
        return None
    if code in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
        return first or "no test can be collected"
    raise UnsoundError(f"pytest ended with {pytest.ExitCode(code).name}")
