"""What a child does that runs tests: it enters the copy, runs pytest silently, and tells the first failure."""

from __future__ import annotations

import math
import os
import resource
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

FOLDERS = ("bridge", "python_protocol", "tests", "experiments", "spark", "roambus", "benchmarks")
TIME_LIMIT = "time limit"
LEAST_LIMIT_S = 10
LEAST_FOR_A_TEST_S = 5
PATIENCE = 3
"""What is broken may take so many times as long as what is not."""
PROFILE = "mutations"
_BUSY = 30
"""A busy machine may take so many times as long."""
_QUIET = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:roambus", f"--hypothesis-profile={PROFILE}")
_EARLY = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Libraries imported before pytest begins are no mistake here."""
_MEMORY = 4 << 30
"""Bytes that a child may take: what is broken may loop, and grow."""


class UnsoundError(Exception):
    """The tests fail although nothing is broken, or cannot be run: nothing can be concluded from them."""


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


class LimitsOfTests:
    """A plugin of pytest: each test has a limit of its own, so one that does not end costs no more."""

    def __init__(self, took_s: Mapping[str, float]) -> None:
        """How long each test computes with nothing broken."""
        self._took_s = took_s

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Remembers the test that begins, in case it kills the process."""
        limit_s = LEAST_FOR_A_TEST_S + round(PATIENCE * self._took_s[nodeid])
        limit_time(limit_s, math.ceil(time.process_time()) + limit_s)


def run_tests(tests: Sequence[str], *plugins: object) -> tuple[pytest.ExitCode, str]:
    """Runs files or tests until one fails; pytest's exit code, and the first test that failed."""
    first = _FirstFailure()
    code = pytest.ExitCode(pytest.main([*_QUIET, *_EARLY, *tests], plugins=[first, *plugins]))
    return code, first.name


def enter(copy: Path) -> None:
    """The child imports the project from the copy, and says nothing."""
    os.chdir(copy)
    sys.path.insert(0, str(copy))
    for name in [name for name in sys.modules if name.partition(".")[0] in FOLDERS]:
        del sys.modules[name]
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def limit_time(limit_s: int, until_s: int | None = None) -> None:
    """The child is killed when it has computed for so long, or when even a busy machine must have let it do so.

    `until_s` is what it may have computed by then in all, if it has computed something before.
    """
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s if until_s is None else until_s, resource.RLIM_INFINITY))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_BUSY * limit_s)


def conclude(code: int, first: str) -> str | None:
    """What became of a child with this exit code: who noticed, or None if all tests passed; raises UnsoundError."""
    if code in (-signal.SIGALRM, -signal.SIGXCPU):
        return TIME_LIMIT
    if code < 0:
        return f"death by {signal.Signals(-code).name}"
    if code == pytest.ExitCode.OK:
        return None
    if code in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
        return first or "no test can be collected"
    raise UnsoundError(f"pytest ended with {pytest.ExitCode(code).name}")
