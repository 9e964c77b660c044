"""When a claim is settled: its seeds are looked at a few times, and early looks have little error to spend.

The last look is at all seeds that may be run, and judges by the rule of every claim, at 5 %. The looks before share one
per cent: each settles a claim only at its share of that. By the union bound the verdict, or the interval behind it, is
wrong with a probability of six per cent at most, whatever the looks have to do with each other (group-sequential tests
with an alpha-spending function: Lan and DeMets, 1983, Biometrika 70; the shares here are Bonferroni's).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from scipy import stats

from roambus.experiments.evidence.rule import Part, Verdict, judge
from roambus.experiments.precision.width import Width
from roambus.spark.aggregation.points import CONFIDENCE

EARLY_ERROR = 0.01
"""This is what all looks but the last may err together."""
GROWTH = 1.5
"""A look is at so many times the seeds of the one before."""


def looks(first: int, most: int) -> list[int]:
    """The numbers of seeds at which claims are looked at: from `first` on, and at last at `most`."""
    counts = itertools.accumulate(itertools.repeat(GROWTH), lambda seeds, by: math.ceil(seeds * by), initial=first)
    return [*itertools.takewhile(lambda seeds: seeds < most, counts), most]


def significance_of(look: int, count: int) -> float:
    """What an early look (0, 1, ...) may err, if there are so many looks."""
    if not 0 <= look < count - 1:
        raise ValueError(f"look {look} of {count} is no early one")
    return EARLY_ERROR / (count - 1)


def is_settled(parts: Sequence[Part], width: Width, significance: float) -> bool:
    """Whether an early look settles a claim: by its verdict, or by intervals as narrow as asked that leave it open."""
    if judge(parts, significance) in (Verdict.HOLDS, Verdict.DOES_NOT_HOLD):
        return True
    return bool(parts) and all(half_width_at(part, significance) <= width.at(part.mean) for part in parts)


def half_width_at(part: Part, significance: float) -> float:
    """The half width at that significance; infinite without an interval."""
    if part.seeds < 2 or math.isnan(part.half_width):
        return math.inf
    usual, wanted = (float(stats.t.ppf(1 - error / 2, part.seeds - 1)) for error in (1 - CONFIDENCE, significance))
    return part.half_width * wanted / usual


def settled_at(
    parts_at: Callable[[int], Sequence[Part] | None], schedule: Sequence[int], width: Width
) -> tuple[int, bool]:
    """The look at which a claim is settled, and true; or the first look whose runs are not there, and false.

    `parts_at` gives a claim's parts of the first so many seeds, and None if runs of them are missing. The last look
    settles everything.
    """
    for look, seeds in enumerate(schedule):
        parts = parts_at(seeds)
        if parts is None:
            return look, False
        if look == len(schedule) - 1 or is_settled(parts, width, significance_of(look, len(schedule))):
            return look, True
    raise ValueError("there is no look")
