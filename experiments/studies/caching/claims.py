"""What sections 6 and 7 of the paper on caching say, each sentence with one precise reading.

How the sentences of the paper on caching are read: the quantities that each claim comes to, one value a seed.

The paper names loads and loss by its figure 4 alone, whose curves its text does not give: a claim about "the" gain or
ratio is tested at every load, one about how high the gain gets at the highest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from roambus.experiments.claims import ClaimTest, Part, Side, make_part
from roambus.experiments.measurements import Measurements, NotMeasuredError, by_seed, slopes
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


ABSENCE_CLAIMS = (
    ClaimTest(
        "Increasing the time for which a client is mobile increases the mean absorption time (figure 4a).",
        "At each load its slope over doublings of the mean absence is above 0.",
        trend(ABSORPTION_S, ABSENCE, Side.ABOVE),
    ),
    ClaimTest(
        "With both dropping mechanisms there is only one response per successful request.",
        "At each load less than 0.5 % of the responses bring a message that came before for the same request.",
        one_response(ABSENCE),
    ),
    ClaimTest(
        "For low mobile intervals the gain is more than 250 % (figure 4b).",
        "Without dropping, at the shortest absence and the highest load, each first response has 2.5 further ones.",
        highest_gain(ABSENCE, 250),
    ),
    ClaimTest(
        "At high mobile intervals the gain is less, for messages contend for the caches.",
        "At each load the slope of the gain over doublings of the mean absence is below 0.",
        trend(GAIN_PERCENT, ABSENCE, Side.BELOW),
    ),
    ClaimTest(
        "At low client dynamics the gain is low.",
        "The gain, mean over absences, is higher at each load than at the one below.",
        lower_at_low_loads,
    ),
    ClaimTest(
        "Higher mobile intervals increase the lost message ratio (figure 4c).",
        "At each load its slope over doublings of the mean absence is above 0.",
        trend(LOST_RATIO, ABSENCE, Side.ABOVE),
    ),
    ClaimTest(
        "We can identify the exponential nature of the absorption time (figure 4a): its distribution.",
        "At each load the median of messages that were cached is 0.69 of their mean, and their last tenth begins at "
        "2.30 of it, both to a tenth; mean over absences.",
        exponential(ABSENCE),
    ),
    ClaimTest(
        "We can identify the exponential nature of the absorption time (figure 4a): its curve.",
        "At each load it bends upwards: its slope between the longest two absences is above that of the shortest two.",
        bends_upwards,
    ),
)
RATE_CLAIMS = (
    ClaimTest(
        "Increasing the publication rate makes messages contend for the caches (figure 4d).",
        "At each load the slope of the absorption time over doublings of the rate is below 0.",
        trend(ABSORPTION_S, RATE, Side.BELOW),
    ),
    ClaimTest(
        "At low publication rates the gain is 350 % (figure 4e).",
        "Without dropping, at the lowest rate and the highest load, each first response has 3.5 further ones.",
        highest_gain(RATE, 350),
    ),
    ClaimTest(
        "At high publication rates the gain is less.",
        "At each load the slope of the gain over doublings of the rate is below 0.",
        trend(GAIN_PERCENT, RATE, Side.BELOW),
    ),
    ClaimTest(
        "Higher publication rates increase the lost message ratio (figure 4f).",
        "At each load its slope over doublings of the rate is above 0.",
        trend(LOST_RATIO, RATE, Side.ABOVE),
    ),
    ClaimTest(
        "With both dropping mechanisms there is only one response per successful request, at every publication rate.",
        "At each load less than 0.5 % of the responses bring a message that came before for the same request.",
        one_response(RATE),
    ),
    ClaimTest(
        "We can identify the exponential nature of the absorption time (figure 4d): its distribution.",
        "At each load the median of messages that were cached is 0.69 of their mean, and their last tenth begins at "
        "2.30 of it, both to a tenth; mean over rates.",
        exponential(RATE),
    ),
)
SIZE_CLAIMS = (
    ClaimTest(
        "Whatever the size of the caches, longer mobile intervals increase the absorption time.",
        "At each load and size it is longer at the longest mean absence than at the shortest.",
        over_sizes(ABSORPTION_S, Side.ABOVE),
    ),
    ClaimTest(
        "Whatever the size of the caches, longer mobile intervals lower the gain.",
        "At each load and size it is lower at the longest mean absence than at the shortest.",
        over_sizes(GAIN_PERCENT, Side.BELOW),
    ),
    ClaimTest(
        "Whatever the size of the caches, longer mobile intervals increase the lost message ratio.",
        "At each load and size it is higher at the longest mean absence than at the shortest.",
        over_sizes(LOST_RATIO, Side.ABOVE),
    ),
)
BROKERS_CLAIMS = (
    ClaimTest(
        "The overhead gain increases with the number of nodes in the network.",
        "At each load the slope of the gain over doublings of the number of brokers is above 0.",
        trend(GAIN_PERCENT, BROKERS, Side.ABOVE),
    ),
)
MOVE_CLAIMS = (
    ClaimTest(
        "With support all the published messages finally arrive to the client (figure 5).",
        "No message is missing, at either rate.",
        all_arrive,
    ),
    ClaimTest(
        "Without support the client misses what is published while it is disconnected (figure 5).",
        "Messages are missing, at either rate.",
        lost_without,
    ),
    ClaimTest(
        "There is no delay due to the processing associated with relocation.",
        "The last of what was kept is there less than a second after the client is back.",
        no_delay,
    ),
)
