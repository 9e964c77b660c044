"""Benchmarks may use extensions, as a user would; the tests of those are skipped where the extension is gone."""

from __future__ import annotations

import re
from collections.abc import Generator

import pytest

GONE = re.compile(r"No module named '(roambus\.extensions\.\w+)'")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn the import error of an extension that is not there into a skip with that reason."""
    report = yield
    gone = GONE.search(str(report.longrepr)) if report.failed else None
    if gone is not None:
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, f"Skipped: {gone[1]} is not there")
    return report
