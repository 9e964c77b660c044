"""Waiting for other processes."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 400.0


def until(condition: Callable[[], object]) -> None:
    """Waits for something that must happen."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"nothing happened in {PATIENCE_S} s"
        time.sleep(0.02)
