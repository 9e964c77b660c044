"""A claim: its text, one precise reading, and the quantities that test it.

A study says what is claimed by `ClaimTest`. `check` computes the quantities from what was measured, has `rule` judge
them, and gives a `Claim` with its verdict. If runs are missing, the claim says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from roambus.experiments.evidence.rule import Part, Verdict, judge
from roambus.experiments.measurements.by_seed import NotMeasuredError
from roambus.experiments.measurements.measurements import Measurements


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
