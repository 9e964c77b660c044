"""The time that is left, on the measured costs of the thesis' runs: right by a factor of two after a tenth of them."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from roambus.experiments.sweeps.progress import Work, expected_work
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.selection import override
from roambus.experiments.sweeps.sweep_file import read_sweep

AODV = {"C2": 0.8, "C4": 1.7, "C8": 4.8, "C16": 20.0, "C32": 78.8}
MFT = {"C2": 0.7, "C4": 1.2, "C8": 3.1, "C16": 13.3, "C32": 34.7}
"""Seconds of CPU for a run of 700 s, as benchmarks.sweep_cost has measured them; the same at each speed."""


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """What is expected of a run at each size."""
    settings = {"speed": "2", "agent": "mft"}
    plans = plan_runs(override(read_sweep("thesis"), settings, 1), tmp_path_factory.mktemp("planned"))
    return {dict(level.split("=") for level in plan.place.parts[1:])["config"]: expected_work(plan) for plan in plans}


@pytest.mark.parametrize(("configs", "seeds"), [(("C2", "C4", "C8"), 3), (tuple(AODV), 3), (tuple(AODV), 10)])
@pytest.mark.parametrize(("workers", "until"), [(1, 0.9), (2, 0.9), (8, 0.5)])
def test_the_time_left_is_right_within_a_factor_of_two(
    works: dict[str, float], configs: Sequence[str], seeds: int, workers: int, until: float
) -> None:
    """From a tenth of the time on, at each moment at which a run ends; with many workers the end is uneven."""
    runs = [
        (Path(f"{seed}/{agent}/{config}/{speed}"), costs[config], works[config])
        for seed in range(seeds)
        for config, speed in itertools.product(configs, range(5))
        for agent, costs in (("mft", MFT), ("aodv", AODV))
    ]
    work = Work({place: expected for place, _, expected in runs}, workers)
    ends = sorted(ended(runs, workers))
    whole = ends[-1][0]
    for now, place in ends[:-workers]:
        work.ended.add(place)
        if whole / 10 <= now <= whole * until:
            left = work.left(now)
            assert (whole - now) / 2 <= left <= (whole - now) * 2, f"at {now:.0f} of {whole:.0f} s"


def ended(runs: Sequence[tuple[Path, float, float]], workers: int) -> list[tuple[float, Path]]:
    """When each run ends if each worker takes the next one as soon as it is free."""
    free, found = [0.0] * workers, []
    for place, cost, _ in runs:
        end = heapq.heappop(free) + cost
        heapq.heappush(free, end)
        found.append((end, place))
    return found
