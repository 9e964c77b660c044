"""How often intervals of means cover the truth, by simulation: those of tables, those of `--precision`, and others.

python -m benchmarks.precision_coverage [--trials 5000] [--only TABLE]

Values are drawn from populations whose mean is known, as seeds would give them. The first table has as many seeds as
are asked for: how often our intervals (`roambus.spark.aggregation.intervals`) and Student's cover the mean, and how
wide ours are on average, with Student's as 1. The second table has the same of methods that were tried, the third how
often Student's interval covers the difference of two agents, whose values are independent here.

Then Stein's rule says how many seeds are needed for a half width; it is counted how often mean plus or minus that half
width covers the true mean, and how often the interval of all values does, which the tables of results show. Beside it
is what `--precision` does not do: to add seed after seed until that interval is narrow enough. For claims it is counted
how often the interval by which a claim was settled, or its last look, covers the truth. For tests of agents (`at_least`
of the plugin of pytest) it is counted how often they pass and fail where the mean is the bound, and off it. The shares
of the error that these tests have at each look were chosen with that table; the last table is the same for populations
and seeds that had no part in the choice.

Prints Markdown; the exit code is 1 if a rule of ours covers less than 94 % of normal values, or our interval less than
that of ten or thirty skewed ones, the two most skewed populations left aside.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from roambus.experiments.claims import SIGNIFICANCE, Bound, Part, Side, make_part
from roambus.experiments.precision import (
    Outcome,
    Width,
    half_width_at,
    judged,
    looks,
    seeds_needed,
    settled_at,
    significance_of,
)
from roambus.spark.aggregation.intervals import CONFIDENCE, ends, interval, scaled
from roambus.spark.metrics.metric import Support

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int | tuple[int, int]], Floats]

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
    """Where values come from, and where they can be."""

    mean: float
    draw: Draw
    within: Support = Support.ANY

    @property
    def sigma(self) -> float:
        """The standard deviation, from a million values."""
        return float(np.std(self.draw(np.random.default_rng(0), 10**6)))


NORMAL, RATE, SKEWED = "normal", "rate near 1 (beta 30, 2)", "skewed (lognormal, sigma 0.5)"
POPULATIONS = {
    NORMAL: Population(0.0, lambda random, size: random.standard_normal(size)),
    RATE: Population(30 / 32, lambda random, size: random.beta(30, 2, size), Support.SHARE),
    SKEWED: Population(math.exp(0.125), lambda random, size: random.lognormal(0, 0.5, size), Support.POSITIVE),
}
FURTHER = {
    "rate of 200 pairs (binomial, 0.99)": Population(
        0.99, lambda random, size: random.binomial(200, 0.99, size) / 200, Support.SHARE
    ),
    "delays (gamma, shape 4)": Population(4.0, lambda random, size: random.gamma(4, 1, size), Support.POSITIVE),
    "delays (Weibull, shape 2)": Population(
        math.sqrt(math.pi) / 2, lambda random, size: random.weibull(2, size), Support.POSITIVE
    ),
    "counts (Poisson, mean 3)": Population(
        3.0, lambda random, size: random.poisson(3, size).astype(float), Support.POSITIVE
    ),
    "counts (negative binomial, mean 10, shape 3)": Population(
        10.0, lambda random, size: random.negative_binomial(3, 3 / 13, size).astype(float), Support.POSITIVE
    ),
    "very skewed (exponential)": Population(1.0, lambda random, size: random.exponential(1, size), Support.POSITIVE),
    "extremely skewed (lognormal, sigma 1)": Population(
        math.exp(0.5), lambda random, size: random.lognormal(0, 1, size), Support.POSITIVE
    ),
}
"""For the table of fixed numbers of seeds alone."""
HARDEST = 2
"""So many of the last populations may be covered less often: the page says so."""


# Intervals that were tried

Ends = tuple[Floats, Floats]
Method = Callable[[Floats, Support], Ends]


def student(rows: Floats, _: Support) -> Ends:
    """Mean plus or minus t times the standard error."""
    return ends(rows, Support.ANY)


def _moments(rows: Floats) -> tuple[Floats, Floats, Floats, float]:
    """Mean, standard error, third moment over the cube of the deviation, and Student's quantile."""
    size = rows.shape[1]
    mean, deviation = rows.mean(axis=1), rows.std(axis=1, ddof=1)
    third = ((rows - mean[:, np.newaxis]) ** 3).sum(axis=1) * size / ((size - 1) * (size - 2))
    skewness = np.divide(third, deviation**3, out=np.zeros_like(mean), where=deviation > 0)
    return mean, deviation / math.sqrt(size), skewness, float(stdtrit(size - 1, (1 + CONFIDENCE) / 2))


def johnson(rows: Floats, _: Support) -> Ends:
    """Student's interval, moved by the skewness (Johnson, 1978, "Modified t tests and confidence intervals")."""
    mean, error, skewness, quantile = _moments(rows)
    centre = mean + skewness * error / (6 * math.sqrt(rows.shape[1]))
    return centre - quantile * error, centre + quantile * error


def hall(rows: Floats, _: Support) -> Ends:
    """Hall's cubic transformation of the studentised mean, inverted (1992, "On the removal of skewness")."""
    mean, error, skewness, quantile = _moments(rows)
    root = math.sqrt(rows.shape[1])
    known = np.where(np.abs(skewness) < 1e-6, 1e-6, skewness)

    def inverse(at: float) -> Floats:
        found: Floats = root * 3 * (np.cbrt(1 + known * (at / root - known / (6 * root**2))) - 1) / known
        return found

    return mean - inverse(quantile) * error, mean - inverse(-quantile) * error


def cox(rows: Floats, _: Support) -> Ends:
    """Cox's interval for lognormal values, with Student's quantile (Olsson, 2005); a count of 0 is taken for 0.5."""
    logarithms, size = np.log(np.maximum(rows, 0.5) if (rows <= 0).any() else rows), rows.shape[1]
    mean, variance = logarithms.mean(axis=1), logarithms.var(axis=1, ddof=1)
    reach = _moments(rows)[3] * np.sqrt(variance / size + variance**2 / (2 * (size - 1)))
    return np.exp(mean + variance / 2 - reach), np.exp(mean + variance / 2 + reach)


def delta(rows: Floats, _: Support) -> Ends:
    """The logarithm of the mean by the delta method."""
    mean, error, _skewness, quantile = _moments(rows)
    factor = np.exp(quantile * error / mean)
    return mean / factor, mean * factor


RESAMPLED, MOST_ROWS = 400, 2000


def bootstrap(rows: Floats, _: Support) -> Ends:
    """Bootstrap-t (Efron, 1981), of the first rows: it takes its time."""
    return _bootstrapped(rows, lambda mean: mean, np.ones_like)


def log_bootstrap(rows: Floats, _: Support) -> Ends:
    """The same of the logarithm of the mean, whose standard error varies less (Tibshirani, 1988, has the idea)."""
    low, high = _bootstrapped(rows, np.log, np.reciprocal)
    return np.exp(low), np.exp(high)


def _bootstrapped(rows: Floats, scale: Callable[[Floats], Floats], slope: Callable[[Floats], Floats]) -> Ends:
    """The ends on a scale; `slope` is its derivative, by which the standard error is multiplied."""
    random, size = np.random.default_rng(SEED), rows.shape[1]
    found = []
    for row in rows[:MOST_ROWS]:
        samples = np.vstack([row, row[random.integers(0, size, (RESAMPLED, size))]])
        means = samples.mean(axis=1)
        errors = samples.std(axis=1, ddof=1) / math.sqrt(size) * slope(means)
        (centre, *others), (error, *spread) = scale(means), errors
        ratios = (np.array(others) - centre)[errors[1:] > 0] / np.array(spread)[errors[1:] > 0]
        below, above = np.quantile(ratios, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]) if len(ratios) else (0, 0)
        found.append((centre - above * error, centre - below * error))
    low, high = np.array(found).T
    return low, high


def zhou_dinh(rows: Floats, _: Support) -> Ends:
    """The exponential transformation of Zhou and Dinh (2005, "Nonparametric confidence intervals ..."), inverted."""
    mean, error, skewness, quantile = _moments(rows)
    root = math.sqrt(rows.shape[1])
    known = np.where(np.abs(skewness) < 1e-6, 1e-6, skewness)
    slope, shift = 2 * known / (3 * root), known / (6 * root)

    def inverse(at: float) -> Floats:
        found: Floats = np.log(np.maximum(1 + slope * (at - shift), 1e-3)) / slope
        return found

    return mean - inverse(quantile) * error, mean - inverse(-quantile) * error


def cube_root(rows: Floats, _: Support) -> Ends:
    """The jackknife of ours on the scale of the cube root (Wilson and Hilferty, 1931) in place of the logarithm's."""
    size = rows.shape[1]
    without = np.cbrt((rows.sum(axis=1, keepdims=True) - rows) / (size - 1))
    pseudo = size * np.cbrt(rows.mean(axis=1, keepdims=True)) - (size - 1) * without
    reach = pseudo.std(axis=1, ddof=1) / math.sqrt(size) * float(stdtrit(size - 2, (1 + CONFIDENCE) / 2))
    return np.maximum(pseudo.mean(axis=1) - reach, 0) ** 3, (pseudo.mean(axis=1) + reach) ** 3


TRIED: dict[str, Method] = {
    "ours": ends,
    "the same on the scale of the cube root": cube_root,
    "logarithm, delta method": delta,
    "Johnson": johnson,
    "Hall": hall,
    "Zhou and Dinh": zhou_dinh,
    "bootstrap-t": bootstrap,
    "bootstrap-t of the logarithm": log_bootstrap,
    "Cox": cox,
}
SIZES, TRIED_SIZES = (5, 10, 30), (10, 30)


def covers(population: Population, method: Method, size: int, trials: int) -> tuple[float, float]:
    """How often an interval of so many seeds covers the mean, and how wide it is, with Student's as 1."""
    rows = population.draw(np.random.default_rng(SEED), (trials, size))
    with np.errstate(over="ignore"):
        low, high = method(rows, population.within)
    usual = student(rows[: len(low)], Support.ANY)
    covered = (low <= population.mean + 1e-12) & (population.mean <= high + 1e-12)
    return float(covered.mean()), float((high - low).mean() / (usual[1] - usual[0]).mean())


def stein(population: Population, width: float, trials: int) -> Coverage:
    """Coverage by mean plus or minus `width`, and by the usual interval, after Stein's rule."""
    rule = Width(width)

    def needed(values: Floats) -> int:
        return int(min(MOST, seeds_needed(values[:FIRST].tolist(), rule, population.within)))

    return _covered(population, trials, needed, width)


def naive(population: Population, width: float, trials: int) -> Coverage:
    """The same where seeds are added until the usual interval is narrow enough."""

    def enough(values: Floats) -> int:
        return next((n for n in range(2, MOST) if interval(values[:n], population.within).half_width <= width), MOST)

    return _covered(population, trials, enough, width)


def _covered(population: Population, trials: int, count: Callable[[Floats], int], width: float) -> Coverage:
    random, rows = np.random.default_rng(SEED), []
    for _ in range(trials):
        values = population.draw(random, MOST)
        taken = values[: min(MOST, count(values))]
        low, high = interval(taken, population.within)
        is_near = abs(float(taken.mean()) - population.mean) <= width
        rows.append((is_near, low <= population.mean <= high, len(taken)))
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


def _part(values: Floats, threshold: float) -> Part:
    return make_part("", pd.Series(values), Side.ABOVE, threshold)


FIXED_TABLE = (
    f"| values | {' | '.join(f'{size} seeds: Student | ours' for size in SIZES)} |\n|---|{'---:|' * 2 * len(SIZES)}"
)
TIMES = (1.0, 0.5, 0.0)
DIFFERENCE_TABLE = (
    f"\n| values | the other's, times | {' | '.join(f'{size} seeds' for size in SIZES)} |"
    f"\n|---|{'---:|' * (1 + len(SIZES))}"
)
HARD = (SKEWED, "very skewed (exponential)", "extremely skewed (lognormal, sigma 1)")
TRIED_TABLE = (
    f"\n| method | {' | '.join(f'{name}, {size} seeds' for name in HARD for size in TRIED_SIZES)} |"
    f"\n|---|{'---:|' * len(HARD) * len(TRIED_SIZES)}"
)
MOST_ASSERTED, ERROR = 60, 0.05
POWER = 0.5
"""How far from the bound the mean is where the power is measured, in standard deviations."""
RARE = "1 in 20 runs delivers nothing"
ASSERTED = {
    **POPULATIONS,
    **FURTHER,
    RARE: Population(0.95, lambda random, size: (random.random(size) < 0.95).astype(float), Support.SHARE),
}


INDEPENDENT = {
    "uniform": Population(0.5, lambda random, size: random.uniform(0, 1, size)),
    "Student's t, 5 degrees of freedom": Population(0.0, lambda random, size: random.standard_t(5, size)),
    "rate (beta 5, 2)": Population(5 / 7, lambda random, size: random.beta(5, 2, size), Support.SHARE),
    "rate of 50 pairs in a run (beta 12, 1, binomial)": Population(
        12 / 13, lambda random, size: random.binomial(50, random.beta(12, 1, size)) / 50, Support.SHARE
    ),
    "delays (gamma, shape 2)": Population(2.0, lambda random, size: random.gamma(2, 1, size), Support.POSITIVE),
    "delays (lognormal, sigma 0.7)": Population(
        math.exp(0.245), lambda random, size: random.lognormal(0, 0.7, size), Support.POSITIVE
    ),
    "delays (inverse Gaussian, shape 2)": Population(
        1.0, lambda random, size: random.wald(1, 2, size), Support.POSITIVE
    ),
    "counts (Poisson, mean 8)": Population(
        8.0, lambda random, size: random.poisson(8, size).astype(float), Support.POSITIVE
    ),
    "two kinds of runs (0.9 and 0.5, 3 to 1)": Population(
        0.8,
        lambda random, size: np.clip(random.normal(np.where(random.random(size) < 0.75, 0.9, 0.5), 0.02), 0, 1),
        Support.SHARE,
    ),
    "1 in 20 runs delivers nothing, others 0.97": Population(
        0.95 * 0.97,
        lambda random, size: np.where(random.random(size) < 0.05, 0, random.normal(0.97, 0.01, size).clip(0, 1)),
        Support.SHARE,
    ),
}
"""For `--independent`."""


class Asserted(NamedTuple):
    """Shares of trials in which a test passes, and fails, and the mean number of seeds."""

    passes: float
    fails: float
    seeds: float


def asserted(population: Population, away: float, trials: int, seed: int = SEED) -> Asserted:
    """The verdicts of a test that asserts a mean of at least the true one, less `away`."""
    random, schedule, rows = np.random.default_rng(seed), looks(FIRST, MOST_ASSERTED), []
    bound = Bound(Side.ABOVE, population.mean - away, population.within)
    for _ in range(trials):
        values = population.draw(random, MOST_ASSERTED)
        for look, seeds in enumerate(schedule):
            outcome = judged(values[:seeds].tolist(), bound, ERROR, look, len(schedule))
            if outcome is not Outcome.UNDECIDED:
                break
        rows.append((outcome is Outcome.PASSES, outcome is Outcome.FAILS, seeds))
    return Asserted(*np.mean(rows, axis=0).tolist())


ASSERTED_TABLE = (
    f"\n| values | mean at the bound: passes | fails | {POWER:g} sigma above: passes | seeds "
    f"| {POWER:g} sigma below: fails | seeds |\n|---|---:|---:|---:|---:|---:|---:|"
)
WIDTH_TABLE = (
    "\n| values | half width / sigma | Stein: mean ± half width | usual interval | seeds "
    "| one by one: usual interval | seeds |\n|---|---:|---:|---:|---:|---:|---:|"
)
CLAIM_TABLE = (
    "\n| values | mean above its threshold / sigma | interval that settled the claim | seeds |\n|---|---:|---:|---:|"
)


def _widths(trials: int) -> Iterator[tuple[str, float]]:
    """The table of Stein's rule."""
    yield WIDTH_TABLE, 1
    for name, population in POPULATIONS.items():
        for width in WIDTHS:
            ours, theirs = (rule(population, width * population.sigma, trials) for rule in (stein, naive))
            cells = [name, f"{width:g}", _percent(ours.covered), _percent(ours.usual), f"{ours.seeds:.1f}"]
            line = [*cells, _percent(theirs.usual), f"{theirs.seeds:.1f}"]
            yield f"| {' | '.join(line)} |", ours.covered if name == NORMAL else 1


def _claims(trials: int) -> Iterator[tuple[str, float]]:
    """The table of claims."""
    yield CLAIM_TABLE, 1
    for name, population in POPULATIONS.items():
        for offset in OFFSETS:
            found = claims(population, offset * population.sigma, trials)
            line = [name, f"{offset:g}", _percent(found.covered), f"{found.seeds:.1f}"]
            yield f"| {' | '.join(line)} |", found.covered if name == NORMAL else 1


def _asserted(trials: int, populations: Mapping[str, Population], seed: int) -> Iterator[tuple[str, float]]:
    """The table of tests with a bound."""
    yield ASSERTED_TABLE, 1
    for name, population in populations.items():
        away = POWER * population.sigma
        at, above, below = (asserted(population, by, trials, seed) for by in (0.0, away, -away))
        cells = [name, _percent(at.passes), _percent(at.fails)]
        cells += [_percent(above.passes), f"{above.seeds:.1f}", _percent(below.fails), f"{below.seeds:.1f}"]
        yield f"| {' | '.join(cells)} |", 1


def _fixed(trials: int) -> Iterator[tuple[str, float]]:
    """The table of fixed numbers of seeds, from more trials: they cost little."""
    yield FIXED_TABLE, 1
    everything = {**POPULATIONS, **FURTHER}
    for rank, (name, population) in enumerate(everything.items(), start=1):
        found = [[covers(population, method, size, 20 * trials) for method in (student, ends)] for size in SIZES]
        cells = [f"{_percent(usual)} | {_percent(ours)}, {width:.2f}" for (usual, _), (ours, width) in found]
        least = min(ours for _, (ours, _) in found[1:])
        yield f"| {name} | {' | '.join(cells)} |", least if rank <= len(everything) - HARDEST else 1


def _tried(trials: int) -> Iterator[tuple[str, float]]:
    """The table of the methods that were tried."""
    yield TRIED_TABLE, 1
    everything = {**POPULATIONS, **FURTHER}
    for label, method in TRIED.items():
        found = [covers(everything[name], method, size, 20 * trials) for name in HARD for size in TRIED_SIZES]
        yield f"| {label} | {' | '.join(f'{_percent(share)}, {width:.2f}' for share, width in found)} |", 1


def _differences(trials: int) -> Iterator[tuple[str, float]]:
    """The table of Student's interval for the difference of two agents; the other's values are smaller."""
    yield DIFFERENCE_TABLE, 1
    everything = {**POPULATIONS, **FURTHER}
    for name, times in itertools.product((NORMAL, RATE, *HARD), TIMES):
        of_two = partial(_difference, everything[name], times)
        both = Population((1 - times) * everything[name].mean, of_two)
        found = [covers(both, student, size, 20 * trials)[0] for size in SIZES]
        yield f"| {name} | {times:g} | {' | '.join(map(_percent, found))} |", 1


def _difference(ages: Population, times: float, random: np.random.Generator, size: int | tuple[int, int]) -> Floats:
    return ages.draw(random, size) - times * ages.draw(random, size)


SHARE_SIZES, SHARES, PAIRS = (3, 5, 10, 20), (0.5, 0.9, 0.99, 0.999), 400
SHARE_TABLE = (
    f"\n| values | {' | '.join(f'{size} seeds: logit | ours | counts known' for size in SHARE_SIZES)} |"
    f"\n|---|{'---:|' * 3 * len(SHARE_SIZES)}"
)
ICC = {"seeds that vary a little": 0.01, "seeds that vary": 0.1}
"""The correlation of the pairs of a seed."""


def _share(mean: float, correlation: float) -> Population:
    """Shares of pairs whose seeds differ: beta-binomial."""
    size = (1 - correlation) / correlation

    def draw(random: np.random.Generator, shape: int | tuple[int, int]) -> Floats:
        return random.binomial(PAIRS, random.beta(mean * size, (1 - mean) * size, shape)) / PAIRS

    return Population(mean, draw, Support.SHARE)


SHARE_POPULATIONS = {
    **{f"{mean}, {name}": _share(mean, own) for name, own in ICC.items() for mean in SHARES},
    "1, and 0.5 in one of ten": Population(
        0.95, lambda random, size: np.where(random.random(size) < 0.1, 0.5, 1.0), Support.SHARE
    ),
    RARE: ASSERTED[RARE],
}


def logit_jackknife(rows: Floats, _: Support) -> Ends:
    """The interval of shares before: the jackknife on the logit scale."""
    return scaled(rows, Support.SHARE)


def with_counts(rows: Floats, within: Support) -> Ends:
    """Ours, where the number of pairs is known."""
    return ends(rows, within, pairs=np.full(len(rows), float(PAIRS * rows.shape[1])))


def _shares(trials: int) -> Iterator[tuple[str, float]]:
    """The table of shares near 1: how often they are covered, and the width itself."""
    yield SHARE_TABLE, 1
    for name, population in SHARE_POPULATIONS.items():
        found = [
            _covers_share(population, method, size, trials)
            for size in SHARE_SIZES
            for method in (logit_jackknife, ends, with_counts)
        ]
        yield f"| {name} | {' | '.join(f'{_percent(share)}, {width:.3f}' for share, width in found)} |", 1


def _covers_share(population: Population, method: Method, size: int, trials: int) -> tuple[float, float]:
    rows = population.draw(np.random.default_rng(SEED), (trials, size))
    low, high = method(rows, population.within)
    covered = (low <= population.mean + 1e-12) & (population.mean <= high + 1e-12)
    return float(covered.mean()), float((high - low).mean())


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


TABLES: Mapping[str, Callable[[int], Iterator[tuple[str, float]]]] = {
    "intervals": _fixed,
    "shares": _shares,
    "tried": _tried,
    "differences": _differences,
    "widths": _widths,
    "claims": _claims,
    "tests": partial(_asserted, populations=ASSERTED, seed=SEED),
    "independent": partial(_asserted, populations=INDEPENDENT, seed=SEED + 1),
}
"""Each yields lines, and with each what a rule of ours covers, or 1."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.precision_coverage", description=__doc__)
    parser.add_argument("--trials", type=int, default=5000, help="for each line (5000)")
    parser.add_argument("--only", choices=TABLES, help="this table alone")
    asked = parser.parse_args(arguments)
    chosen = [TABLES[asked.only]] if asked.only else TABLES.values()
    failed = False
    for line, coverage in itertools.chain.from_iterable(table(max(100, asked.trials)) for table in chosen):
        print(line, flush=True)
        failed = failed or coverage < ENOUGH
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
