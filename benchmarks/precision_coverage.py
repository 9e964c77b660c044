"""How often the intervals of `--precision` cover the truth, by simulation.

python -m benchmarks.precision_coverage [--trials 5000]

Values are drawn from populations whose mean is known, as seeds would give them. Stein's rule says how many are needed
for a half width; then it is counted how often mean plus or minus that half width covers the true mean, and how often
the usual interval of all values does, which the tables of results show. Beside it is what `--precision` does not do: to
add seed after seed until the usual interval is narrow enough. For claims it is counted how often the interval by which
a claim was settled, or its last look, covers the truth. Prints Markdown; the exit code is 1 if our rule covers
less than 94 % of normal values.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from roambus.experiments.claims import SIGNIFICANCE, Part, Side, make_part
from roambus.experiments.precision import Width, half_width_at, looks, seeds_needed, settled_at, significance_of
from roambus.spark.aggregation.aggregate import half_width

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]

FIRST, MOST = 5, 2000
WIDTHS = (2.0, 1.0, 0.5, 0.3)
"""Half widths, in standard deviations of the population."""
CLAIM_FIRST, CLAIM_MOST = 3, 10
NEVER_NARROW = Width(1e-9)
SEED = 1
OFFSETS = (0.0, 1.0, 4.0, 10.0)
"""How far above its threshold the mean is, in standard deviations."""
ENOUGH = 0.94


class Coverage(NamedTuple):
    """Shares of trials in which the mean was covered, and the mean number of seeds."""

    covered: float
    usual: float
    seeds: float


class Population(NamedTuple):
    """Where values come from."""

    mean: float
    draw: Draw

    @property
    def sigma(self) -> float:
        """The standard deviation, from a million values."""
        return float(np.std(self.draw(np.random.default_rng(0), 10**6)))


NORMAL = "normal"
POPULATIONS = {
    NORMAL: Population(0.0, lambda random, count: random.standard_normal(count)),
    "rate near 1 (beta 30, 2)": Population(30 / 32, lambda random, count: random.beta(30, 2, count)),
    "skewed (lognormal, sigma 0.5)": Population(math.exp(0.125), lambda random, count: random.lognormal(0, 0.5, count)),
}


def stein(population: Population, width: float, trials: int) -> Coverage:
    """Coverage by mean plus or minus `width`, and by the usual interval, after Stein's rule."""
    rule = Width(width)
    return _covered(population, trials, lambda values: int(seeds_needed(values[:FIRST].tolist(), rule)), width)


def naive(population: Population, width: float, trials: int) -> Coverage:
    """The same where seeds are added until the usual interval is narrow enough."""

    def enough(values: NDArray[np.float64]) -> int:
        return next((n for n in range(2, MOST) if half_width(pd.Series(values[:n])) <= width), MOST)

    return _covered(population, trials, enough, width)


def _covered(
    population: Population, trials: int, count: Callable[[NDArray[np.float64]], int], width: float
) -> Coverage:
    random, rows = np.random.default_rng(SEED), []
    for _ in range(trials):
        values = population.draw(random, MOST)
        taken = values[: min(MOST, count(values))]
        off = abs(float(taken.mean()) - population.mean)
        rows.append((off <= width, off <= half_width(pd.Series(taken)), len(taken)))
    return Coverage(*np.mean(rows, axis=0).tolist())


def claims(population: Population, offset: float, trials: int) -> Coverage:
    """Coverage of the true mean, for a claim that it lies above a threshold that is `offset` below it."""
    random, schedule, rows = np.random.default_rng(SEED), looks(CLAIM_FIRST, CLAIM_MOST), []
    for _ in range(trials):
        values = population.draw(random, CLAIM_MOST)
        parts = {n: _part(values[:n], population.mean - offset) for n in schedule}
        part, level = _settled(parts, schedule)
        off = abs(part.mean - population.mean)
        rows.append((off <= half_width_at(part, level), off <= part.half_width, part.seeds))
    return Coverage(*np.mean(rows, axis=0).tolist())


def _settled(parts: Mapping[int, Part], schedule: Sequence[int]) -> tuple[Part, float]:
    """The part by which the claim is settled, and at which level."""
    look, _ = settled_at(lambda seeds: [parts[seeds]], schedule, NEVER_NARROW)
    last = look == len(schedule) - 1
    return parts[schedule[look]], SIGNIFICANCE if last else significance_of(look, len(schedule))


def _part(values: NDArray[np.float64], threshold: float) -> Part:
    return make_part("", pd.Series(values), Side.ABOVE, threshold)


WIDTH_TABLE = (
    "| values | half width / sigma | Stein: mean ± half width | usual interval | seeds "
    "| one by one: usual interval | seeds |\n|---|---:|---:|---:|---:|---:|---:|"
)
CLAIM_TABLE = (
    "\n| values | mean above its threshold / sigma | interval that settled the claim | seeds |\n|---|---:|---:|---:|"
)


def report(trials: int) -> Iterator[tuple[str, float]]:
    """The lines of the tables; with each what our rule covers of normal values, or 1."""
    yield WIDTH_TABLE, 1
    for name, population in POPULATIONS.items():
        for width in WIDTHS:
            ours, theirs = (rule(population, width * population.sigma, trials) for rule in (stein, naive))
            cells = [name, f"{width:g}", _percent(ours.covered), _percent(ours.usual), f"{ours.seeds:.1f}"]
            line = [*cells, _percent(theirs.usual), f"{theirs.seeds:.1f}"]
            yield f"| {' | '.join(line)} |", ours.covered if name == NORMAL else 1
    yield CLAIM_TABLE, 1
    for name, population in POPULATIONS.items():
        for offset in OFFSETS:
            found = claims(population, offset * population.sigma, trials)
            line = [name, f"{offset:g}", _percent(found.covered), f"{found.seeds:.1f}"]
            yield f"| {' | '.join(line)} |", found.covered if name == NORMAL else 1


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.precision_coverage", description=__doc__)
    parser.add_argument("--trials", type=int, default=5000, help="for each line (5000)")
    asked = parser.parse_args(arguments)
    failed = False
    for line, coverage in report(max(100, asked.trials)):
        print(line, flush=True)
        failed = failed or coverage < ENOUGH
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
