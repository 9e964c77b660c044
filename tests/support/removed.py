"""Agents, commands, options, studies and sweeps of extensions that tests/test_removal.py has taken away.

A page of the core may show an extension's command; a test that follows such a page is skipped where the extension is
gone. Nothing is skipped otherwise, so a misspelt command fails.
"""

from __future__ import annotations

import os
import re

import pytest

VARIABLE = "ROAMBUS_TESTS_WITHOUT"
PLUGIN = "roambus_point"
"""The fixture that stands for the plugin of pytest."""
REMOVED = frozenset(os.environ.get(VARIABLE, "").split())


def skip_if_removed(text: str) -> None:
    """Skip the test if the text has the name of something that is gone."""
    if gone := REMOVED.intersection(re.findall(r"[\w-]+", text)):
        pytest.skip(f"removed: {' '.join(sorted(gone))}")
