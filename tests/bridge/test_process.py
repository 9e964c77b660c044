"""The processes of a run use the cores that there are."""

from __future__ import annotations

import os

import pytest

from roambus.bridge.process import cores


def test_a_system_without_affinity_counts_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """As macOS; one whose number nobody knows has one."""
    assert cores() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert cores() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1
