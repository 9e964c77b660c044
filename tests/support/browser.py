"""A real browser, for the tests of pages: Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""No sandbox: root has none. The rest keeps the browser from talking to anybody."""


_running: list[Browser] = []
"""The one of this process: Playwright starts no second one beside it."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """The machine's own, or the one that runs in this process already; skips where there is none."""
    if _running:
        yield _running[0]
        return
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("there is no Chromium here; on Debian: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make install-dev")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, headless=True, args=QUIET)
        _running.append(browser)
        try:
            yield browser
        finally:
            _running.clear()
            browser.close()
