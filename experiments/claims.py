"""A claim: a sentence of a text, one precise reading of it, and quantities that the results test.

A quantity has one value a seed (paired runs). A two-sided t-test at 5 % compares its mean with a bound. A claim holds
if every part is significantly on the claimed side. It does not hold if any part is significantly on the other side,
with Holm's correction for many parts. Otherwise it is not significant.

A study writes `ClaimTest`s, mostly with `at_each`: a `Comparison` at every place of some axes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtr  # `scipy.stats` takes half a second to load

from roambus.experiments.measurements import (
    Measurements,
    NotMeasuredError,
    by_seed,
    format_mean,
    renamed,
    slopes,
    table_over,
)
from roambus.spark.aggregation.intervals import interval
from roambus.spark.metrics.metric import Support

SIGNIFICANCE = 0.05


class Verdict(Enum):
    """The verdict on a claim."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    NOT_SIGNIFICANT = "not significant"
    NOT_MEASURED = "not measured"


class Side(Enum):
    """The claimed side of a quantity's threshold."""

    ABOVE = ">"
    BELOW = "<"


class Bound(NamedTuple):
    """A bound of a mean; `within` is the range of possible values."""

    side: Side
    number: float = 0.0
    within: Support = Support.ANY

    def admits(self, mean: float) -> bool:
        """Whether the mean is on the claimed side."""
        return mean > self.number if self.side is Side.ABOVE else mean < self.number


@dataclass(frozen=True, slots=True)
class Part:
    """A quantity of a claim: mean over seeds, interval, and test against the bound."""

    label: str
    bound: Bound
    mean: float
    half_width: float
    seeds: int
    p: float

    @property
    def supports(self) -> bool:
        """Whether the mean is on the claimed side, significantly or not."""
        return self.bound.admits(self.mean)

    @property
    def number(self) -> str:
        """The mean and its interval."""
        shown = format_mean(self.mean, self.mean - self.half_width, self.mean + self.half_width)
        return f"{shown}, no interval" if math.isnan(self.half_width) else shown

    def __str__(self) -> str:
        claimed = f"claimed {self.bound.side.value} {self.bound.number:,g}"
        return f"{self.label}: {self.number} ({claimed}; {self.seeds} seeds, {format_p(self.p)})"


def make_part(label: str, values: pd.Series[float], side: Side, threshold: float = 0.0) -> Part:
    """Make the part from one value a seed; missing seeds do not count."""
    sample, bound = values.dropna(), Bound(side, threshold)
    mean = float(sample.mean()) if len(sample) else math.nan
    return Part(label, bound, mean, interval(sample).half_width, len(sample), _p_value(sample, threshold))


def _p_value(sample: pd.Series[float], threshold: float) -> float:
    """The p of Student's t-test; NaN below two values. Equal values leave no doubt."""
    if len(sample) < 2:
        return math.nan
    if np.ptp(sample) == 0:
        return 1.0 if sample.iloc[0] == threshold else 0.0
    deviation = abs(sample.mean() - threshold) / (sample.std() / math.sqrt(len(sample)))
    return float(2 * stdtr(len(sample) - 1, -deviation))


def judge(parts: Sequence[Part], significance: float = SIGNIFICANCE) -> Verdict:
    """The verdict on a claim with these parts, at this level."""
    if not parts or any(part.seeds == 0 for part in parts):
        return Verdict.NOT_MEASURED
    if all(part.supports and part.p < significance for part in parts):
        return Verdict.HOLDS
    if any(adjusted < significance for adjusted in holm([_against(part) for part in parts])):
        return Verdict.DOES_NOT_HOLD
    return Verdict.NOT_SIGNIFICANT


def _against(part: Part) -> float:
    """The p with which the part speaks against its claim."""
    return 1.0 if part.supports or math.isnan(part.p) else part.p


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values, in the given order."""
    given = np.asarray(p_values, dtype=float)
    order = np.argsort(given, kind="stable")
    adjusted = np.empty_like(given)
    adjusted[order] = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    return [float(p) for p in np.minimum(1.0, adjusted)]


def format_p(p: float) -> str:
    """A p-value as texts show it."""
    return "p not defined" if math.isnan(p) else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim with its reading, verdict and numbers (or the missing ones)."""

    number: int
    text: str
    reading: str
    verdict: Verdict
    evidence: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    figure: str = ""
    """The figure that shows it."""
    others: Mapping[str, Claim] = field(default_factory=dict)
    """The same claim about the agents that stand in for those that it names, by the name of the group."""


Parts = Callable[[Measurements], Iterable[Part]]
"""The test of a claim; raises NotMeasuredError if runs are missing."""


@dataclass(frozen=True, slots=True)
class ClaimTest:
    """A claim before its test."""

    text: str
    reading: str
    parts: Parts
    figure: str = ""
    """The name of the figure that shows it."""


StandIns = Mapping[str, Mapping[str, str]]
"""Groups by name: the agent of the sweep for each one that claims name."""


def check(
    tests: Sequence[ClaimTest], measured: Measurements, first: int = 1, stand_ins: StandIns = MappingProxyType({})
) -> list[Claim]:
    """The claims with their verdicts, numbered from `first` on; also for each group of stand-ins that was run."""
    there = {name: group for name, group in stand_ins.items() if {*group.values()} <= {*measured.agents}}
    others = {name: check(tests, renamed(measured, group), first) for name, group in there.items()}
    claims = (_check(number, test, measured) for number, test in enumerate(tests, start=first))
    return [
        replace(claim, others={name: found[at] for name, found in others.items()}) for at, claim in enumerate(claims)
    ]


def _check(number: int, test: ClaimTest, measured: Measurements) -> Claim:
    try:
        parts = list(test.parts(measured))
    except NotMeasuredError as missing:
        return Claim(number, test.text, test.reading, Verdict.NOT_MEASURED, (str(missing),), (), test.figure)
    verdict = judge(parts)
    evidence = tuple(_with_correction(parts, verdict))
    return Claim(number, test.text, test.reading, verdict, evidence, tuple(parts), test.figure)


def _with_correction(parts: Sequence[Part], verdict: Verdict) -> Iterator[str]:
    """The parts as texts, each with Holm's p where that leaves open what p alone would settle."""
    for part, adjusted in zip(parts, holm([_against(part) for part in parts]), strict=True):
        is_overruled = verdict is Verdict.NOT_SIGNIFICANT and _against(part) < SIGNIFICANCE
        note = f"; {format_p(adjusted)} with Holm's correction for {len(parts)} parts" if is_overruled else ""
        yield f"{str(part).removesuffix(')')}{note})"


def format_claims(claims: Iterable[Claim]) -> str:
    """The claims as text, each with verdict, reading and numbers."""
    return "\n".join(
        "\n      ".join([f"{claim.number:2}. {claim.verdict.value}: {claim.text}", claim.reading, *_numbers(claim)])
        for claim in claims
    )


def _numbers(claim: Claim) -> Iterator[str]:
    yield from claim.evidence
    for name, other in claim.others.items():
        yield f"{name}: {other.verdict.value}"
        yield from (f"  {line}" for line in other.evidence)


# Tests of claims, from quantities

Place = Mapping[str, str]
"""Values of axes, or an agent."""
Quantity = Callable[[Measurements, Place], "pd.Series[float]"]
"""One value a seed at a place."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A quantity on one side of its threshold; {axis} in the label stands for the place's value."""

    label: str
    quantity: Quantity
    side: Side
    threshold: float | Callable[[Place], float] = 0.0

    def part(self, measured: Measurements, place: Place, names: Mapping[str, str]) -> Part:
        """The test at one place."""
        label = self.label.format(**{axis: names.get(text, text) for axis, text in place.items()})
        threshold = self.threshold(place) if callable(self.threshold) else self.threshold
        return make_part(label, self.quantity(measured, place), self.side, threshold)


NO_NAMES: Mapping[str, str] = MappingProxyType({})


def between(label: str, quantity: Quantity, low: float, high: float) -> tuple[Comparison, Comparison]:
    """Claim that a quantity lies between two numbers."""
    return Comparison(label, quantity, Side.ABOVE, low), Comparison(label, quantity, Side.BELOW, high)


def at_each(
    axes: Sequence[str] | Mapping[str, Sequence[str]], *bounds: Comparison, names: Mapping[str, str] = NO_NAMES
) -> Parts:
    """Compare at every place of the axes, at given or measured values; once without axes."""
    chosen = axes if isinstance(axes, Mapping) else dict.fromkeys(axes, ())

    def parts(measured: Measurements) -> Iterator[Part]:
        for values in itertools.product(*(given or measured.values(axis) for axis, given in chosen.items())):
            place = dict(zip(chosen, values, strict=True))
            yield from (bound.part(measured, place, names) for bound in bounds)

    return parts


def value(metric: str, **place: str) -> Quantity:
    """The quantity that is the metric at a place, one value a seed."""
    return lambda measured, at: by_seed(measured, metric, **place, **at)


def difference(metric: str, first: Place, second: Place) -> Quantity:
    """The metric at the first place minus the second's."""
    return lambda measured, at: by_seed(measured, metric, **first, **at) - by_seed(measured, metric, **second, **at)


def mean_over(axis: str, metric: str, **place: str) -> Quantity:
    """The metric's mean over an axis; a seed that lacks some values counts with the others."""
    return lambda measured, at: table_over(measured, axis, metric, **place, **at).mean(axis=1)


def slope_over(axis: str, number: Callable[[str], float], metric: str, **place: str) -> Quantity:
    """The metric's least-squares slope over an axis with numeric values."""

    def slope(measured: Measurements, at: Place) -> pd.Series[float]:
        complete = table_over(measured, axis, metric, **place, **at).dropna()
        if complete.empty:
            where = ", ".join([*place.values(), *at.values()])
            raise NotMeasuredError(f"no seed has {metric} of {where} at every value of {axis}")
        return slopes(complete, [number(str(column)) for column in complete])

    return slope
