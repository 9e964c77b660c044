"""The claims of sections 6 and 7 of the paper on caching, each with one precise reading.

Gains and ratios are tested at every load, the highest gain at the highest load. "Increases" is a straight line over
doublings of the axis. An exponential distribution has its median and last tenth over the mean. *Gain* counts responses
beyond the first without dropping (agent `plain`). *Whatever the size of the caches* compares the two ends of the axis.
*No delay* leaves a second of the 15 s of absence.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from math import log, log2

import pandas as pd

from roambus.experiments.claims import (
    ClaimTest,
    Comparison,
    Part,
    Parts,
    Place,
    Side,
    at_each,
    between,
    make_part,
    mean_over,
    slope_over,
    value,
)
from roambus.experiments.measurements import Measurements, NotMeasuredError, by_seed, table_over
from roambus.extensions.caching.study.metrics import (
    ABSORPTION_MEDIAN,
    ABSORPTION_S,
    ABSORPTION_TAIL,
    CATCH_UP_S,
    GAIN_PERCENT,
    LOST_RATIO,
    MISSED,
    TITLES,
)
from roambus.spark.metrics.catalogue import DELIVERY_RATE_ALL

LOAD, ABSENCE, RATE, SIZE, BROKERS = "load", "absence", "rate", "size", "brokers"
DROPPING, PLAIN = "dropping", "plain"
"""The agents of figure 4: with both dropping mechanisms, and with neither."""
SUPPORT, UNSUPPORTED = "support", "unsupported"
"""The agents of figure 5: with support for mobile clients, and without."""

_AT_ONCE_S = 1.0
"""The longest time that counts as no delay."""
_ONE_RESPONSE = 0.5
"""The per cent of further responses that counts as "only one response"."""
_OF_EXPONENTIAL = {ABSORPTION_MEDIAN: log(2), ABSORPTION_TAIL: log(10)}
"""Median and last tenth's start of an exponential distribution, over its mean."""
_ALIKE = 0.1
"""The tolerated share of these for an exponential distribution."""
_AGENT_OF = {ABSORPTION_S: DROPPING, LOST_RATIO: DROPPING, GAIN_PERCENT: PLAIN}
"""The agent of each quantity: the gain is measured without dropping."""


def trend(metric: str, axis: str, side: Side) -> Parts:
    """Claim that the metric rises or falls with doublings of the axis, at each load."""
    slope = slope_over(axis, lambda level: log2(float(level)), metric, agent=_AGENT_OF[metric])
    return at_each([LOAD], Comparison(f"load {{load}}: {TITLES[metric]}, change a doubling of {axis}", slope, side))


def over_sizes(metric: str, side: Side) -> Parts:
    """Claim that the metric rises or falls from the shortest to the longest absence, at each load and size."""

    def longest_minus_shortest(measured: Measurements, place: Place) -> pd.Series[float]:
        table = table_over(measured, ABSENCE, metric, agent=_AGENT_OF[metric], **place)
        return table.iloc[:, -1] - table.iloc[:, 0]

    def parts(measured: Measurements) -> Iterable[Part]:
        absences = measured.values(ABSENCE)
        label = f"load {{load}}, k = {{size}}: {TITLES[metric]}, absence {absences[-1]} minus {absences[0]}"
        return at_each([LOAD, SIZE], Comparison(label, longest_minus_shortest, side))(measured)

    return parts


def highest_gain(axis: str, claimed: float) -> Parts:
    """Claim that the gain at the axis' lowest value and the highest load exceeds a number.

    The text names no curve; the gain rises with the load, so the claim is likeliest there.
    """

    def parts(measured: Measurements) -> Iterable[Part]:
        ends = {LOAD: measured.values(LOAD)[-1], axis: measured.values(axis)[0]}
        gain = by_seed(measured, GAIN_PERCENT, agent=PLAIN, **ends)
        label = f"load {ends[LOAD]}, {axis} {ends[axis]}: gain (%)"
        yield make_part(label, gain, Side.ABOVE, claimed)

    return parts


def one_response(axis: str) -> Parts:
    """Claim that the worst share of further responses over the axis is small, at each load."""

    def worst(measured: Measurements, place: Place) -> pd.Series[float]:
        return table_over(measured, axis, GAIN_PERCENT, agent=DROPPING, **place).max(axis=1)

    label = f"load {{load}}: further responses (%) at the worst {axis}"
    return at_each([LOAD], Comparison(label, worst, Side.BELOW, _ONE_RESPONSE))


def exponential(axis: str) -> Parts:
    """Claim exponential absorption times: median and last tenth, mean over the axis."""
    bounds = (
        between(
            f"load {{load}}: {TITLES[metric]}",
            mean_over(axis, metric, agent=DROPPING),
            (1 - _ALIKE) * share,
            (1 + _ALIKE) * share,
        )
        for metric, share in _OF_EXPONENTIAL.items()
    )
    return at_each([LOAD], *itertools.chain.from_iterable(bounds))


def _bend(measured: Measurements, place: Place) -> pd.Series[float]:
    """Return the absorption time's slope between the longest absences minus that between the shortest (s/s)."""
    table = table_over(measured, ABSENCE, ABSORPTION_S, agent=DROPPING, **place)
    if len(table.columns) < 3:
        raise NotMeasuredError("a bend needs at least three absences")
    rises = table.diff(axis=1) / table.columns.astype(float).to_series(table.columns).diff()
    return rises.iloc[:, -1] - rises.iloc[:, 1]


def _lower_at_low_loads(measured: Measurements) -> Iterable[Part]:
    """Return the differences of the gain from load to load, mean over absences."""
    gain = mean_over(ABSENCE, GAIN_PERCENT, agent=PLAIN)
    for low, high in itertools.pairwise(measured.values(LOAD)):
        more = gain(measured, {LOAD: high}) - gain(measured, {LOAD: low})
        yield make_part(f"gain (%), load {high} minus load {low}", more, Side.ABOVE)


def _undelivered(measured: Measurements, place: Place) -> pd.Series[float]:
    """Return the undelivered share; none is tested as less than one in a million."""
    return 1 - by_seed(measured, DELIVERY_RATE_ALL, agent=SUPPORT, **place)


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
        _lower_at_low_loads,
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
        at_each([LOAD], Comparison("load {load}: last slope minus first slope (s a second)", _bend, Side.ABOVE)),
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
        at_each([RATE], Comparison("{rate} a second: messages not delivered (share)", _undelivered, Side.BELOW, 1e-6)),
    ),
    ClaimTest(
        "Without support the client misses what is published while it is disconnected (figure 5).",
        "Messages are missing, at either rate.",
        at_each([RATE], Comparison("{rate} a second: messages missed", value(MISSED, agent=UNSUPPORTED), Side.ABOVE)),
    ),
    ClaimTest(
        "There is no delay due to the processing associated with relocation.",
        "The last of what was kept is there less than a second after the client is back.",
        at_each(
            [RATE],
            Comparison(
                "{rate} a second: time to catch up (s)", value(CATCH_UP_S, agent=SUPPORT), Side.BELOW, _AT_ONCE_S
            ),
        ),
    ),
)
