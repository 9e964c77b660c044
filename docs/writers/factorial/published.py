"""Stricter and milder readings judged from the published means of the defaults, whose runs are not kept.

The reproduction's tables have means with 95 % intervals, and no values of single seeds. A difference or slope of means
gets the sum of their intervals: no correlation between seeds can make its own interval wider. So a verdict that
"holds" or "does not hold" here is safe, and some that are "not significant" would be decided by the runs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from docs.writers.factorial.sides import DECADE, JUDGED, LOSS, MILDER, SENTENCES, STRICTER, Sentence, nodes
from roambus.experiments.claims import Side, Verdict
from roambus.experiments.studies.thesis.claims import doublings

SIZES = ("C2", "C4", "C8", "C16", "C32")
SPEEDS = ("2", "4", "6", "8", "10")
SEEDS = 10
PUBLISHED = "published defaults, 700 s"
"""The name of this result."""
_MFT, _AODV = "MFT-PubSub", "AODV"
_NUMBER = re.compile(r"-?[\d.]+")


class Estimate(NamedTuple):
    """A mean, and how far the truth may be from it."""

    mean: float
    half: float

    def plus(self, other: Estimate, times: float = 1.0) -> Estimate:
        """The sum with a multiple of another estimate, whatever their correlation."""
        return Estimate(self.mean + times * other.mean, self.half + abs(times) * other.half)

    def log2(self) -> Estimate:
        """The logarithm; the wider of both sides is the interval."""
        low, high = self.mean - self.half, self.mean + self.half
        mean = math.log2(self.mean)
        return Estimate(mean, max(math.log2(high) - mean, mean - math.log2(low)))


def parsed(cell: str) -> Estimate:
    """The estimate in a cell such as "0.824 (0.764 to 0.889)" or "1,143 ± 6", with half of its last digit."""
    numbers = _NUMBER.findall(cell.replace(",", ""))
    mean, *rest = map(float, numbers)
    half = rest[0] if "±" in cell else max(mean - rest[0], rest[1] - mean)
    return Estimate(mean, half + 0.5 * 10.0 ** -len(numbers[0].partition(".")[2]))


def weighted(estimates: Sequence[Estimate], weights: Sequence[float]) -> Estimate:
    """The weighted sum."""
    total = Estimate(0.0, 0.0)
    for estimate, weight in zip(estimates, weights, strict=True):
        total = total.plus(estimate, weight)
    return total


def slope(estimates: Sequence[Estimate], x: Sequence[float]) -> Estimate:
    """The least-squares slope over x."""
    middle = sum(x) / len(x)
    square = sum((at - middle) ** 2 for at in x)
    return weighted(estimates, [(at - middle) / square for at in x])


@dataclass(frozen=True, slots=True)
class Book:
    """The published means of the defaults."""

    rows: Mapping[tuple[str, str, str], Estimate]
    """By the beginning of the figure's title, the line and the size."""
    claims: pd.DataFrame

    def line(self, figure: str, line: str) -> list[Estimate]:
        """A line's means, by size."""
        return [self.rows[figure, line, size] for size in SIZES]

    def change(self, figure: str, size: str) -> Estimate:
        """The change of the rate from the slowest to the fastest speed at a size, by least squares."""
        rates = [self.rows[figure, f"{speed} m/s", size] for speed in SPEEDS]
        numbers = [float(speed) for speed in SPEEDS]
        return weighted([slope(rates, numbers)], [numbers[-1] - numbers[0]])

    def exponent(self, line: str, over: Callable[[Sequence[str]], list[float]]) -> Estimate:
        """The exponent of messages per node at 8 m/s."""
        return slope([each.log2() for each in self.line("4.8", line)], over(SIZES))

    def parts(self, claim: int) -> list[Estimate]:
        """The published parts of a claim."""
        rows = self.claims[self.claims["claim"] == claim]
        return [
            Estimate(float(mean), float(half)) for mean, half in zip(rows["mean"], rows["half_width_95"], strict=True)
        ]


def read_book(folder: Path) -> Book:
    """Read the tables of the reproduction's page; raises OSError."""
    tables = [pd.read_csv(folder / name) for name in ("figure-4.4.csv", "figures-4.6-and-4.8.csv")]
    rows = {}
    for _, row in pd.concat(tables).iterrows():
        figure = str(row["figure"]).removeprefix("Figure ").partition(":")[0]
        rows[figure, str(row["line"]), str(row["x"]).split()[-1]] = parsed(str(row["mean"]))
    claims = pd.read_csv(folder / "claims.csv")
    return Book(rows, claims[claims["agents"] == "defaults"])


class Bounded(NamedTuple):
    """An estimate and its claimed side."""

    estimate: Estimate
    side: Side
    bound: float


def _above(estimate: Estimate, bound: float = 0.0) -> Bounded:
    return Bounded(estimate, Side.ABOVE, bound)


def _within(estimate: Estimate, low: float, high: float) -> list[Bounded]:
    return [Bounded(estimate, Side.ABOVE, low), Bounded(estimate, Side.BELOW, high)]


def _delay(book: Book, line: str) -> list[Estimate]:
    return [each.log2() for each in book.line("4.6", line)]


def _by_size(book: Book, bound: float, beyond: float = 0.0) -> list[Bounded]:
    """The change of the rate at each size; with `beyond` 1 less AODV's."""
    return [_above(book.change("4.4a", size).plus(book.change("4.4b", size), -beyond), bound) for size in SIZES]


def _ratios(book: Book) -> list[Bounded]:
    pairs = zip(_delay(book, _MFT), _delay(book, _AODV), strict=True)
    return [Bounded(mft.plus(aodv, -1), Side.BELOW, 0.0) for mft, aodv in pairs]


def _trend(book: Book) -> list[Bounded]:
    two, four, eight, *_ = _delay(book, _AODV)
    return [_above(weighted([two, four, eight], [-0.5, 1, -0.5]))]


def _linear(book: Book, low: float, high: float) -> list[Bounded]:
    """All nodes' messages: those of a node, times their number."""
    return _within(book.exponent(_MFT, nodes).plus(Estimate(1.0, 0.0)), low, high)


TESTS: Mapping[tuple[str, str], Callable[[Book], list[Bounded]]] = {
    ("2", STRICTER): lambda book: _by_size(book, LOSS),
    ("11", STRICTER): lambda book: _by_size(book, 0.0),
    ("11", MILDER): lambda book: [_above(book.parts(11)[0], LOSS)],
    ("12", STRICTER): lambda book: _by_size(book, 0.0, 1.0),
    ("12", MILDER): lambda book: [_above(book.parts(12)[0], LOSS)],
    ("6", STRICTER): _ratios,
    ("6", MILDER): lambda book: [Bounded(book.parts(6)[0], Side.BELOW, DECADE)],
    ("9", STRICTER): lambda book: [
        _above(book.exponent(_AODV, nodes), 1.0),
        *_within(book.exponent(_MFT, nodes), -0.25, 0.25),
    ],
    ("9", MILDER): lambda book: [_above(book.exponent(_AODV, doublings).plus(book.exponent(_MFT, doublings), -1))],
    ("9, first half", STRICTER): lambda book: [_above(book.exponent(_AODV, doublings), 1.0)],
    ("9, first half", MILDER): lambda book: [_above(book.exponent(_AODV, nodes), 1.0)],
    ("9, second half", STRICTER): lambda book: _within(book.exponent(_MFT, nodes), -0.25, 0.25),
    ("9, second half", MILDER): lambda book: _within(book.exponent(_MFT, doublings), -0.25, 0.25),
    ("13", MILDER): lambda book: [_above(weighted(book.parts(13), [1 / len(SIZES)] * len(SIZES)))],
    ("14", MILDER): _trend,
    ("none", STRICTER): lambda book: _linear(book, 0.9, 1.1),
    ("none", MILDER): lambda book: _linear(book, 0.75, 1.25),
}
"""By claim and side, the estimates that decide; a share begun at each size is not published."""


def verdict(parts: Sequence[Bounded]) -> Verdict:
    """Holds if all estimates are clear of their bounds, and not if one is clear on the other side."""
    if not parts:
        return Verdict.NOT_MEASURED
    gaps = [(mean - bound) * (1 if side is Side.ABOVE else -1) - half for (mean, half), side, bound in parts]
    contrary = [(bound - mean) * (1 if side is Side.ABOVE else -1) - half for (mean, half), side, bound in parts]
    if all(gap > 0 for gap in gaps):
        return Verdict.HOLDS
    return Verdict.DOES_NOT_HOLD if any(gap > 0 for gap in contrary) else Verdict.NOT_SIGNIFICANT


def published_sides(folder: Path) -> pd.DataFrame:
    """The rows of `side_table` for the published defaults; raises OSError."""
    book = read_book(folder)
    rows = [row for sentence in SENTENCES for row in _rows(book, sentence)]
    columns = ["result", "seeds", "claim", "sentence", "side", "reading", "verdict", "numbers", "note"]
    return pd.DataFrame(rows, columns=columns)


def _rows(book: Book, sentence: Sentence) -> Iterator[tuple[object, ...]]:
    for side, test in sentence.sides.items():
        parts = TESTS[sentence.claims, side](book) if (sentence.claims, side) in TESTS else []
        said, numbers = verdict(parts).value, "; ".join(map(_worded, parts))
        if side == JUDGED:
            published = book.claims[book.claims["claim"] == int(sentence.claims)]
            said, numbers = str(published["verdict"].iloc[0]), "as published"
        words = (sentence.claims, sentence.words, side, test.reading, said, numbers, sentence.note)
        yield (PUBLISHED, SEEDS, *words)


def _worded(part: Bounded) -> str:
    mean, half = part.estimate
    return f"{round(mean, 6):.4g} ± at most {half:.2g} (claimed {part.side.value} {part.bound:g})"
