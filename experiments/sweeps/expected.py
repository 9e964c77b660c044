"""How long runs take beside each other, told before they are made: so that the time left is right early on.

Only ratios matter. A run's time grows with its simulated time, and with the number of its nodes faster than that: by
an exponent of 1.6 to 1.9 in the evaluation of the thesis, where larger networks publish more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from roambus.bridge.runs.plan import RunPlan

_NODES, _LIMIT = re.compile(r"^SN\.numNodes\s*=\s*(\d+)", re.M), re.compile(r"^sim-time-limit\s*=\s*([\d.]+)", re.M)
_EXPONENT = 1.6
_ALWAYS = 3000.0
"""What a process and a trace of its own take, as long as 170 s of six nodes."""


def expected_work(plan: RunPlan) -> float:
    """The run's time in a unit of its own; 1 for an ini that does not say how large and how long it is."""
    nodes, limit = _NODES.search(plan.ini), _LIMIT.search(plan.ini)
    return _ALWAYS + float(nodes[1]) ** _EXPONENT * float(limit[1]) if nodes and limit else 1.0


@dataclass(slots=True)
class Work:
    """The work of a sweep's runs, in the order in which they begin; `at_once` of them go on at the same time.

    `at_once` is 0 if nobody knows. Of the runs that have not ended, the first ones go on, and are half done.
    """

    works: Mapping[Path, float]
    at_once: int = 0
    ended: set[Path] = field(default_factory=set)

    def left(self, elapsed: float) -> float:
        """The seconds that the rest takes, if what is done took `elapsed` (at least one run has ended).

        At the end workers wait for the longest run: the rest takes no less than that takes one worker.
        """
        rest = [work for place, work in self.works.items() if place not in self.ended]
        going_on = sum(rest[: self.at_once]) / 2
        seconds = elapsed / (sum(self.works[place] for place in self.ended) + going_on)
        longest = max([*(work / 2 for work in rest[: self.at_once]), *rest[self.at_once :]], default=0.0)
        return seconds * max(sum(rest) - going_on, longest * self.at_once)


def work_of(plans: Sequence[RunPlan], at_once: int) -> Work:
    """The work of these runs."""
    return Work({plan.place: expected_work(plan) for plan in plans}, at_once)
