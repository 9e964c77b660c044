"""How the sentences of the paper on caching are read: the quantities that each claim comes to, one value a seed.

The paper names loads and loss by its figure 4 alone, whose curves its text does not give: a claim about "the" gain or
ratio is tested at every load, one about how high the gain gets at the highest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from roambus.experiments.evidence.rule import Part, Side, make_part
from roambus.experiments.measurements.by_seed import NotMeasuredError, by_seed, slopes
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.studies.caching.metrics import (
    ABSORPTION_MEDIAN,
    ABSORPTION_S,
    ABSORPTION_TAIL,
    CATCH_UP_S,
    GAIN_PERCENT,
    LOST_RATIO,
    MISSED,
)
from roambus.spark.metrics.catalogue import DELIVERY_RATE_ALL

LOAD, ABSENCE, RATE, SIZE, BROKERS = "load", "absence", "rate", "size", "brokers"
DROPPING, PLAIN = "dropping", "plain"
SUPPORT, UNSUPPORTED = "support", "unsupported"

_AT_ONCE_S = 1.0
"""A time that counts as no delay beside an absence of 15 s."""
_ONE_RESPONSE = 0.5
"""The per cent of further responses that still count as "only one response"."""
_MEDIAN, _TAIL = float(np.log(2)), float(np.log(10))
"""The median and the start of the last tenth of an exponential distribution, over its mean."""
_ALIKE = 0.1
"""How far a distribution's share of these may be away if it counts as exponential."""
_AGENT_OF = {ABSORPTION_S: DROPPING, LOST_RATIO: DROPPING, GAIN_PERCENT: PLAIN}

Parts = Callable[[Measurements], Iterable[Part]]


def trend(metric: str, axis: str, side: Side) -> Parts:
    """The claim that, at each load, the metric rises or falls with doublings of the axis."""

    def parts(measured: Measurements) -> Iterable[Part]:
        for load in measured.values(LOAD):
            label = f"load {load}: {measured.title(metric)}, change a doubling of {axis}"
            yield make_part(label, _slopes(measured, metric, axis, load), side)

    return parts


def _slopes(measured: Measurements, metric: str, axis: str, load: str) -> pd.Series[float]:
    values = measured.values(axis)
    columns = [by_seed(measured, metric, agent=_AGENT_OF[metric], load=load, **{axis: value}) for value in values]
    table = pd.concat(columns, axis=1).dropna()
    if table.empty:
        raise NotMeasuredError(f"no seed has {metric} at every {axis} of load {load}")
    return slopes(table, [float(np.log2(float(value))) for value in values])


def over_sizes(metric: str, side: Side) -> Parts:
    """The claim that, at each load and size, the metric rises or falls from the shortest absence to the longest."""

    def parts(measured: Measurements) -> Iterable[Part]:
        absences = measured.values(ABSENCE)
        for load, size in itertools.product(measured.values(LOAD), measured.values(SIZE)):
            short, long = (
                by_seed(measured, metric, agent=_AGENT_OF[metric], load=load, size=size, absence=absence)
                for absence in (absences[0], absences[-1])
            )
            label = f"load {load}, k = {size}: {measured.title(metric)}, absence {absences[-1]} minus {absences[0]}"
            yield make_part(label, (long - short).dropna(), side)

    return parts


def highest_gain(axis: str, claimed: float) -> Parts:
    """The claim that the gain at the lowest value of the axis and the highest load is above a number."""

    def parts(measured: Measurements) -> Iterable[Part]:
        load, lowest = measured.values(LOAD)[-1], measured.values(axis)[0]
        gain = by_seed(measured, GAIN_PERCENT, agent=PLAIN, load=load, **{axis: lowest})
        yield make_part(f"load {load}, {axis} {lowest}: gain (%)", gain, Side.ABOVE, claimed)

    return parts


def one_response(axis: str) -> Parts:
    """The claim that hardly any further response comes: the worst share of them over the axis, at each load."""

    def parts(measured: Measurements) -> Iterable[Part]:
        for load in measured.values(LOAD):
            points = [
                by_seed(measured, GAIN_PERCENT, agent=DROPPING, load=load, **{axis: value})
                for value in measured.values(axis)
            ]
            worst = pd.concat(points, axis=1).max(axis=1)
            yield make_part(f"load {load}: further responses (%) at the worst {axis}", worst, Side.BELOW, _ONE_RESPONSE)

    return parts


def exponential(axis: str) -> Parts:
    """The claim that absorption times are exponential: their median and their last tenth, mean over the axis."""

    def parts(measured: Measurements) -> Iterable[Part]:
        for load in measured.values(LOAD):
            for metric, share in ((ABSORPTION_MEDIAN, _MEDIAN), (ABSORPTION_TAIL, _TAIL)):
                points = [
                    by_seed(measured, metric, agent=DROPPING, load=load, **{axis: value})
                    for value in measured.values(axis)
                ]
                found, label = pd.concat(points, axis=1).mean(axis=1), f"load {load}: {measured.title(metric)}"
                yield make_part(label, found, Side.ABOVE, (1 - _ALIKE) * share)
                yield make_part(label, found, Side.BELOW, (1 + _ALIKE) * share)

    return parts


def bends_upwards(measured: Measurements) -> Iterable[Part]:
    """The slope of the absorption time between the longest absences minus that between the shortest, at each load."""
    ends = [float(one) for one in measured.values(ABSENCE)]
    if len(ends) < 3:
        raise NotMeasuredError("a bend needs at least three absences")
    for load in measured.values(LOAD):
        at = [
            by_seed(measured, ABSORPTION_S, agent=DROPPING, load=load, absence=one) for one in measured.values(ABSENCE)
        ]
        first, last = (at[1] - at[0]) / (ends[1] - ends[0]), (at[-1] - at[-2]) / (ends[-1] - ends[-2])
        yield make_part(f"load {load}: last slope minus first slope (s a second)", (last - first).dropna(), Side.ABOVE)


def lower_at_low_loads(measured: Measurements) -> Iterable[Part]:
    """The differences of the gain from load to load, mean over absences."""
    gains = {
        load: pd.concat(
            [by_seed(measured, GAIN_PERCENT, agent=PLAIN, load=load, absence=one) for one in measured.values(ABSENCE)],
            axis=1,
        ).mean(axis=1)
        for load in measured.values(LOAD)
    }
    loads = list(gains)
    for low, high in itertools.pairwise(loads):
        more = (gains[high] - gains[low]).dropna()
        yield make_part(f"gain (%), load {high} minus load {low}", more, Side.ABOVE)


def all_arrive(measured: Measurements) -> Iterable[Part]:
    """The share of all messages that are not delivered with support."""
    for rate in measured.values(RATE):
        rates = by_seed(measured, DELIVERY_RATE_ALL, agent=SUPPORT, rate=rate)
        yield make_part(f"{rate} a second: messages not delivered (share)", 1 - rates, Side.BELOW, 1e-6)


def lost_without(measured: Measurements) -> Iterable[Part]:
    """The number of messages that are missed without support."""
    for rate in measured.values(RATE):
        missed = by_seed(measured, MISSED, agent=UNSUPPORTED, rate=rate)
        yield make_part(f"{rate} a second: messages missed", missed, Side.ABOVE)


def no_delay(measured: Measurements) -> Iterable[Part]:
    """The time from the return to the last message that was kept."""
    for rate in measured.values(RATE):
        late = by_seed(measured, CATCH_UP_S, agent=SUPPORT, rate=rate)
        yield make_part(f"{rate} a second: time to catch up (s)", late, Side.BELOW, _AT_ONCE_S)
