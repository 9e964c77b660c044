"""Claims and their evidence.

`rule` says by which statistical rule a claim holds or does not hold, and computes it for one quantity. `claim` has a
claim with its text, its reading and its verdict, and prints it. What is claimed, each study says itself.

A claim: its text, one precise reading, and the quantities that test it.

A study says what is claimed by `ClaimTest`. `check` computes the quantities from what was measured, has `rule` judge
them, and gives a `Claim` with its verdict. If runs are missing, the claim says which.

How a claim is tested: quantities with 95 % intervals over seeds, each against a threshold.

The rule is the same for every claim. A quantity is computed once for each seed, so that only runs of one seed are
compared with each other (paired). Its mean over seeds is compared with the threshold by a two-sided t-test at 5 %.
A claim holds if every part of it lies significantly on the claimed side. It does not hold if any part lies
significantly on the other side, with Holm's correction for the number of parts. Otherwise it is not significant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pandas as pd
from scipy import stats

from roambus.experiments.measurements import Measurements, NotMeasuredError
from roambus.spark.aggregation.aggregate import half_width

SIGNIFICANCE = 0.05


class Verdict(Enum):
    """What the numbers say about a claim."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    NOT_SIGNIFICANT = "not significant"
    NOT_MEASURED = "not measured"


class Side(Enum):
    """On which side of its threshold the claim has a quantity."""

    ABOVE = ">"
    BELOW = "<"


@dataclass(frozen=True, slots=True)
class Part:
    """A quantity that a claim is about: its mean over seeds, interval, and the test against the threshold."""

    label: str
    side: Side
    threshold: float
    mean: float
    half_width: float
    seeds: int
    p: float

    @property
    def supports(self) -> bool:
        """Whether the mean is on the claimed side at all, significantly or not."""
        return self.mean > self.threshold if self.side is Side.ABOVE else self.mean < self.threshold

    def __str__(self) -> str:
        interval = "no interval" if math.isnan(self.half_width) else f"± {self.half_width:.3g}"
        claimed = f"claimed {self.side.value} {self.threshold:g}"
        return f"{self.label}: {self.mean:.4g} {interval} ({claimed}; {self.seeds} seeds, {format_p(self.p)})"


def make_part(label: str, values: pd.Series[float], side: Side, threshold: float = 0.0) -> Part:
    """The part for one value a seed; seeds without a value do not count."""
    sample = values.dropna()
    mean = float(sample.mean()) if len(sample) else math.nan
    return Part(label, side, threshold, mean, half_width(sample), len(sample), _p_value(sample, threshold))


def _p_value(sample: pd.Series[float], threshold: float) -> float:
    """The p of Student's t-test; NaN for fewer than two values. Values that are all the same leave no doubt."""
    if len(sample) < 2:
        return math.nan
    if np.ptp(sample) == 0:
        return 1.0 if sample.iloc[0] == threshold else 0.0
    return float(stats.ttest_1samp(sample, threshold).pvalue)


def judge(parts: Sequence[Part], significance: float = SIGNIFICANCE) -> Verdict:
    """The verdict on a claim with these parts, by the rule of this module, or with another level in place of 5 %."""
    if not parts or any(part.seeds == 0 for part in parts):
        return Verdict.NOT_MEASURED
    if all(part.supports and part.p < significance for part in parts):
        return Verdict.HOLDS
    if any(adjusted < significance for adjusted in holm([_contrary_p(part) for part in parts])):
        return Verdict.DOES_NOT_HOLD
    return Verdict.NOT_SIGNIFICANT


def _contrary_p(part: Part) -> float:
    """The p-value of a part that speaks against the claim; 1 for others."""
    return 1.0 if part.supports or math.isnan(part.p) else part.p


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values, each at the place of its own."""
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
    """A claim with its reading, the verdict, and the numbers behind it (or what is missing)."""

    number: int
    text: str
    reading: str
    verdict: Verdict
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimTest:
    """A claim before its test; `parts` raises NotMeasuredError if runs are missing."""

    text: str
    reading: str
    parts: Callable[[Measurements], Iterable[Part]]


def check(tests: Sequence[ClaimTest], measured: Measurements, first: int = 1) -> list[Claim]:
    """The claims with their verdicts, numbered from `first` on."""
    return [_check(number, test, measured) for number, test in enumerate(tests, start=first)]


def _check(number: int, test: ClaimTest, measured: Measurements) -> Claim:
    try:
        parts = list(test.parts(measured))
    except NotMeasuredError as missing:
        return Claim(number, test.text, test.reading, Verdict.NOT_MEASURED, (str(missing),))
    return Claim(number, test.text, test.reading, judge(parts), tuple(str(part) for part in parts))


def format_claims(claims: Sequence[Claim]) -> str:
    """The claims as lines of text: each with its verdict, reading and numbers."""
    return "\n".join(
        "\n".join([f"{claim.number:2}. {claim.verdict.value}: {claim.text}", *_indented(claim)]) for claim in claims
    )


def _indented(claim: Claim) -> list[str]:
    return [f"      {line}" for line in (claim.reading, *claim.evidence)]
