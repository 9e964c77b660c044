"""The study's metrics, on traces made for them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from roambus.extensions.lora.study.metrics import airtime_s, channel_utilisation, transmissions
from roambus.spark.metrics.run import Run
from tests.spark.synthetic import Row, publish, radio_count, role, write_trace


def run_of(folder: Path, *counts: Row, warm_up_s: float = 0) -> Run:
    """A run of 100 s with two notifications of node 0, and these counters."""
    rows = [role(node, "publisher subscriber broker") for node in range(3)]
    rows += [publish(1.0, 0, "0.0", [1, 2]), publish(2.0, 0, "0.1", [1, 2]), *counts]
    return Run(write_trace(folder, "agent=any/seed=0", rows, warm_up_s, end_s=100.0))


def radio(node: int, air_s: float, frames: int, **counts: int) -> list[Row]:
    """The counters of a node's radio."""
    counters = {
        "air_ns": round(air_s * 1e9),
        "air_frames": frames,
        "air_bytes": 50 * frames,
        "transmitted": frames,
        **counts,
    }
    others = dict.fromkeys(
        ("rx_no_interf", "rx_despite", "fail_no_interf", "fail_interf", "fail_sens", "fail_nonrx"), 0
    )
    return [radio_count(100.0, node, name, count) for name, count in {**others, **counters}.items()]


def test_airtime_and_transmissions_are_of_all_nodes_for_a_notification(tmp_path: Path) -> None:
    """Three frames of half a second for two notifications."""
    run = run_of(tmp_path, *radio(0, 1.0, 2), *radio(1, 0.5, 1), *radio(2, 0.0, 0))
    assert airtime_s(run) == pytest.approx(0.75)
    assert transmissions(run) == pytest.approx(1.5)


def test_the_channel_is_in_use_while_a_node_sends_or_a_frame_is_heard(tmp_path: Path) -> None:
    """Frames that are too weak, or come while the node sends, do not count; those that are lost do."""
    heard = radio(1, 0.0, 0, rx_no_interf=3, rx_despite=1, fail_interf=2, fail_sens=40, fail_nonrx=7)
    run = run_of(tmp_path, *radio(0, 6.0, 6), *heard, *radio(2, 0.0, 0))
    assert channel_utilisation(run) == pytest.approx((6 + 6 * 1.0) / (3 * 100))


def test_utilisation_is_that_after_the_warm_up(tmp_path: Path) -> None:
    """Of ten frames two came after it, in 25 s; a radio counts what it hears from the start, five for each frame."""
    heard = radio(1, 0.0, 0, rx_no_interf=40, fail_interf=10)
    run = run_of(tmp_path, *radio(0, 1.0, 2, transmitted=10), *heard, warm_up_s=75.0)
    assert channel_utilisation(run) == pytest.approx((1 + 5 * 1.0) / (2 * 25))


def test_a_run_without_frames_or_counters_has_no_numbers_to_divide(tmp_path: Path) -> None:
    """A silent channel is unused; on ideal links no radio counts."""
    silent = run_of(tmp_path / "silent", *(row for node in range(3) for row in radio(node, 0.0, 0)))
    assert channel_utilisation(silent) == 0.0
    assert math.isnan(channel_utilisation(run_of(tmp_path / "ideal")))
