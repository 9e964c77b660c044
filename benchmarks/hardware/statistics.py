"""Statistics of the links of a recording, each with its interval.

A recording is cut into pairs of nodes, for rows of one pair are alike: intervals come from drawing pairs with
replacement (the percentile bootstrap), in both directions and over all channels and times of a pair at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.formats.recordings import Recording

LEAST_SENT = 50
"""A burst of fewer frames says too little."""
LEAST_BURSTS_IN_A_BIN = 30
LEAST_BURSTS_OF_A_LINK = 3
DEAD, GOOD = 0.1, 0.9
GRAY = (0.2, 0.8)
"""Between these a link is gray enough for its change over time to show."""
RESAMPLES = 100
PERCENTILES = (2.5, 97.5)

Weights = NDArray[np.float64]
"""how often each pair is drawn"""


class Estimate(NamedTuple):
    """A value with its 95 % interval; NaN where the recording has none."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Sample:
    """The rows of a recording, and the pair of nodes of each; `links` has a row for each (source, target, channel)."""

    rows: NDArray[Any]
    pairs: NDArray[np.int64]
    """pair[row]"""
    count: int
    """of pairs"""
    links: LinkTable
    nodes: int
    possible: int
    """ordered pairs of nodes that could hear each other"""


class LinkTable(NamedTuple):
    """Columns over the links, in the order of (source, target, channel)."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    channel: NDArray[np.int64]
    pair: NDArray[np.int64]
    bursts: NDArray[np.int64]
    delivery: NDArray[np.float64]
    delivery_sd: NDArray[np.float64]
    """over time; NaN with one burst"""
    rssi: NDArray[np.float64]
    rssi_sd: NDArray[np.float64]


def sample_of(*recordings: Recording) -> Sample:
    """The rows with enough frames, which were heard; the nodes of several recordings are different ones."""
    parts, nodes = [], 0
    for recording in recordings:
        part = recording.rows.copy()
        part["source"] += nodes
        part["target"] += nodes
        parts.append(part)
        nodes += len(recording.ids)
    possible = sum(len(recording.ids) * (len(recording.ids) - 1) for recording in recordings)
    return _sample(np.concatenate(parts), nodes, possible)


def halves_in_time(recording: Recording) -> tuple[Sample, Sample]:
    """The rows of the first half of the time, and those of the second."""
    first = recording.rows["at"] <= recording.lasting / 2
    return part_of(recording, first), part_of(recording, ~first)


def part_of(recording: Recording, rows: NDArray[Any]) -> Sample:
    """Some of the rows of a recording: those that are marked, or those of these numbers."""
    nodes = len(recording.ids)
    return _sample(recording.rows[rows], nodes, nodes * (nodes - 1))


def _sample(rows: NDArray[Any], nodes: int, possible: int) -> Sample:
    rows = rows[(rows["sent"] >= LEAST_SENT) & (rows["delivery"] > 0)]
    low, high = np.minimum(rows["source"], rows["target"]), np.maximum(rows["source"], rows["target"])
    names, pairs = np.unique(low * nodes + high, return_inverse=True)
    return Sample(rows, pairs, len(names), _links(rows, pairs, nodes), nodes, possible)


def _links(rows: NDArray[Any], pairs: NDArray[np.int64], nodes: int) -> LinkTable:
    keys = (rows["source"] * nodes + rows["target"]) * 1000 + rows["channel"]
    _, first, link = np.unique(keys, return_index=True, return_inverse=True)
    bursts = np.bincount(link)

    def mean_and_sd(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        mean = np.bincount(link, values) / bursts
        square = np.bincount(link, (values - mean[link]) ** 2)
        with np.errstate(invalid="ignore", divide="ignore"):
            return mean, np.sqrt(square / np.where(bursts > 1, bursts - 1, np.nan))

    delivery, delivery_sd = mean_and_sd(rows["delivery"])
    rssi, rssi_sd = mean_and_sd(rows["rssi_dbm"])
    at = rows[first]
    return LinkTable(
        at["source"], at["target"], at["channel"], pairs[first], bursts, delivery, delivery_sd, rssi, rssi_sd
    )


# Estimates


def estimate(sample: Sample, value: Callable[[Weights], float], seed: int = 0) -> Estimate:
    """The value where each pair counts once, and its interval."""
    random = np.random.default_rng(seed)
    whole = value(np.ones(sample.count))
    if math.isnan(whole):
        return Estimate(whole, math.nan, math.nan)
    even = np.full(sample.count, 1 / sample.count)
    drawn = [value(random.multinomial(sample.count, even).astype(float)) for _ in range(RESAMPLES)]
    low, high = np.nanpercentile(drawn, PERCENTILES)
    return Estimate(whole, float(low), float(high))


def ratio_estimate(sample: Sample, pair: NDArray[np.int64], values: NDArray[np.float64]) -> Estimate:
    """The mean of values that belong to pairs."""
    if len(values) == 0:
        return Estimate(math.nan, math.nan, math.nan)
    total = np.bincount(pair, values, minlength=sample.count)
    count = np.bincount(pair, minlength=sample.count)

    def mean(weights: Weights) -> float:
        there = float(weights @ count)
        return float(weights @ total) / there if there else math.nan

    return estimate(sample, mean)


def connected_share(sample: Sample) -> float:
    """Of all ordered pairs of nodes, how many have a row on a channel, on average over the channels."""
    channels = len(np.unique(sample.links.channel))
    return len(sample.links.source) / channels / sample.possible


def shares(sample: Sample) -> dict[str, Estimate]:
    """Of the links that were heard at all, how many are dead, gray and good by their mean delivery."""
    links = sample.links
    kinds = {
        "dead, below 0.1": links.delivery < DEAD,
        "gray, 0.1 to 0.9": (links.delivery >= DEAD) & (links.delivery <= GOOD),
        "good, above 0.9": links.delivery > GOOD,
    }
    return {name: ratio_estimate(sample, links.pair, is_one.astype(float)) for name, is_one in kinds.items()}


class Differences(NamedTuple):
    """Between the two directions of a pair on one channel."""

    pair: NDArray[np.int64]
    delivery: NDArray[np.float64]
    rssi: NDArray[np.float64]


def _differences(sample: Sample) -> Differences:
    links, nodes = sample.links, sample.nodes
    there = (links.source * nodes + links.target) * 1000 + links.channel
    back = (links.target * nodes + links.source) * 1000 + links.channel
    place = np.clip(np.searchsorted(there, back), 0, len(there) - 1)
    both = (there[place] == back) & (links.source < links.target)
    other = place[both]
    return Differences(
        links.pair[both],
        np.abs(links.delivery[both] - links.delivery[other]),
        links.rssi[both] - links.rssi[other],
    )


def asymmetry(sample: Sample) -> dict[str, Estimate]:
    """How far delivery and strength of a pair's two directions are apart; half of a pair is missing in neither."""
    found = _differences(sample)
    return {
        "mean difference of delivery": ratio_estimate(sample, found.pair, found.delivery),
        "difference of strength, sd, dB": _root(ratio_estimate(sample, found.pair, found.rssi**2)),
    }


def _root(squared: Estimate) -> Estimate:
    return Estimate(*(math.sqrt(value) for value in squared))


def change_over_time(sample: Sample) -> dict[str, Estimate]:
    """How much delivery of gray links and strength of all links vary from burst to burst, in standard deviations."""
    links = sample.links
    often = links.bursts >= LEAST_BURSTS_OF_A_LINK
    gray = often & (links.delivery >= GRAY[0]) & (links.delivery <= GRAY[1])
    return {
        "delivery of gray links, sd": ratio_estimate(sample, links.pair[gray], links.delivery_sd[gray]),
        "strength of all links, sd, dB": ratio_estimate(sample, links.pair[often], links.rssi_sd[often]),
    }


# Delivery over strength


class Curve(NamedTuple):
    """Over bins of 1 dB, ascending."""

    dbm: NDArray[np.int64]
    bursts: NDArray[np.int64]
    mean: NDArray[np.float64]
    median: NDArray[np.float64]


def curve_of(sample: Sample, least: int = LEAST_BURSTS_IN_A_BIN) -> Curve:
    """Delivery by the strength of the burst, rounded to 1 dBm."""
    bins = np.round(sample.rows["rssi_dbm"]).astype(np.int64)
    order = np.lexsort((sample.rows["delivery"], bins))
    names, starts, counts = np.unique(bins[order], return_index=True, return_counts=True)
    sorted_delivery = sample.rows["delivery"][order]
    groups = [sorted_delivery[start : start + count] for start, count in zip(starts, counts, strict=True)]
    enough = counts >= least
    mean = np.array([group.mean() for group in groups])
    median = np.array([group[len(group) // 2] for group in groups])
    return Curve(names[enough], counts[enough], mean[enough], median[enough])


LEVELS = (0.1, 0.2, 0.5, 0.9)
STEPS = {"from 0.1 to 0.9, dB": (0, 3), "from 0.2 to 0.9, dB": (1, 3), "from 0.5 to 0.9, dB": (2, 3)}
"""How wide the transition is: bursts of which nothing was heard have no row, so that its foot may not be seen."""


def crossings(curve: Curve) -> NDArray[np.float64]:
    """The dBm at which the median first exceeds each level, coming from weak signals; NaN if it never is below.

    Medians, because interference from elsewhere makes a plateau of losses at all strengths, which moves means.
    """
    return np.array([_crossing(curve, level) for level in LEVELS])


def _crossing(curve: Curve, level: float) -> float:
    below = np.flatnonzero(curve.median < level)
    above = np.flatnonzero(curve.median >= level)
    if not len(below) or not len(above) or below[0] > above[0]:
        return math.nan
    place = above[0]
    low, high = curve.median[place - 1], curve.median[place]
    return float(curve.dbm[place - 1] + (level - low) / (high - low) * (curve.dbm[place] - curve.dbm[place - 1]))


def transition(sample: Sample, seed: int = 0) -> dict[str, Estimate]:
    """How wide the step is, and where 0.5 is; only rows near the step are drawn again."""
    whole = crossings(curve_of(sample))
    if np.isnan(whole[2:]).any():
        none = Estimate(math.nan, math.nan, math.nan)
        return dict.fromkeys((*STEPS, "place of 0.5, dBm"), none)
    near = np.abs(sample.rows["rssi_dbm"] - whole[2]) < 5 * max(whole[3] - whole[2], 2.0)
    random = np.random.default_rng(seed)
    by_pair, rows = _rows_by_pair(sample.pairs[near], sample.count), sample.rows[near]
    drawn = []
    for _ in range(RESAMPLES):
        chosen = np.concatenate([by_pair[pair] for pair in random.integers(0, sample.count, sample.count)])
        drawn.append(crossings(curve_of(replace(sample, rows=rows[chosen]))))
    again = np.array(drawn)
    found = {name: _interval(whole[to] - whole[low], again[:, to] - again[:, low]) for name, (low, to) in STEPS.items()}
    return found | {"place of 0.5, dBm": _interval(whole[2], again[:, 2])}


def _interval(value: float, drawn: NDArray[np.float64]) -> Estimate:
    if math.isnan(value):
        return Estimate(math.nan, math.nan, math.nan)
    low, high = np.nanpercentile(drawn, PERCENTILES)
    return Estimate(float(value), float(low), float(high))


def _rows_by_pair(pairs: NDArray[np.int64], count: int) -> list[NDArray[np.int64]]:
    order = np.argsort(pairs, kind="stable")
    bounds = np.searchsorted(pairs[order], np.arange(count + 1))
    return [order[low:high] for low, high in pairwise(bounds.tolist())]


def quantities(sample: Sample) -> dict[str, Estimate]:
    """All of them, by name."""
    share = connected_share(sample)
    return {
        "ordered pairs that hear each other": Estimate(share, math.nan, math.nan),
        **transition(sample),
        **shares(sample),
        **asymmetry(sample),
        **change_over_time(sample),
    }
