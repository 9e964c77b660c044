"""A browser, and runs and results to look at, made once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from roambus.bridge.runs.layout import SWEEP_FILE
from roambus.extensions.viewer.report import write_report
from roambus.extensions.viewer.tests.films import run_moving, run_tree
from tests.experiments.measured import HOSTILE, QUICK, hostile, write_measurements
from tests.support.browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def tree_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree's scenario with its record."""
    return run_tree(tmp_path_factory.mktemp("tree"), "--record")


@pytest.fixture(scope="session")
def moving_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MFT-PubSub on moving nodes, no record."""
    return run_moving(tmp_path_factory.mktemp("moving"), "mft")


@pytest.fixture(scope="session")
def other_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """AODV on the same moves."""
    return run_moving(tmp_path_factory.mktemp("other"), "aodv")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One for all tests."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def quick_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results `QUICK` with their report."""
    folder = tmp_path_factory.mktemp("quick")
    write_measurements(QUICK, folder)
    write_report(folder)
    return folder


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of results in which whatever can have a name is called `HOSTILE`."""
    folder = tmp_path_factory.mktemp("hostile")
    measured = hostile()
    write_measurements(measured, folder)
    sweep = json.loads((folder / SWEEP_FILE).read_text())
    sweep["agents"][HOSTILE] = ["x.py", {HOSTILE: HOSTILE}]
    sweep["set"][HOSTILE] = HOSTILE
    (folder / SWEEP_FILE).write_text(json.dumps(sweep))
    return write_report(folder)
