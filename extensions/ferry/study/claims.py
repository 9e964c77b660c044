"""Findings on message ferries and data mules, and three of this study, each with one precise reading.

The first are those of Zhao, Ammar and Zegura, "A message ferrying approach for data delivery in sparse mobile ad hoc
networks" (MobiHoc 2004). Those on mules are of Shah, Roy, Jain and Brunette, "Data MULEs: modeling a three-tier
architecture for sparse sensor networks" (SNPA 2003). Both are given in words of this study. Mules move at random, so
the carriers of epidemic routing stand for them, and ferries on a tour where a queue has to end.
"""

from __future__ import annotations

from roambus.experiments.claims import ClaimTest, Comparison, Parts, Place, Quantity, Side, at_each, value
from roambus.experiments.measurements import by_seed
from roambus.extensions.ferry.study.metrics import BYTES_A_DELIVERY, LONGEST_QUEUE, QUIET_DELAY
from roambus.spark.metrics.catalogue import DELAY_MEAN_S, DELIVERY_RATE_ALL

FERRIES, SPEED, TRAFFIC, CRASH = "ferries", "speed", "traffic", "crash"
FIXED, NEED, EPIDEMIC = "ferry-fixed", "ferry-need", "epidemic"
ONE, MANY, SLOW, FAST, EVEN, UNEVEN = "1", "4", "5", "10", "even", "uneven"
INVERSE = (3.0, 5.0)
STILL = 0.8
_EVERYWHERE = (FERRIES, SPEED, TRAFFIC)
_AT = "{ferries} ferries, {speed} m/s, {traffic}"


def over_other(metric: str, first: Place, second: Place) -> Quantity:
    """Return the metric of the first place over that of the second, with equal seeds."""
    return lambda measured, place: (
        by_seed(measured, metric, **first, **place) / by_seed(measured, metric, **second, **place)
    )


def less_other(metric: str, first: Place, second: Place) -> Quantity:
    """Return the metric of the first place less that of the second, with equal seeds."""
    return lambda measured, place: (
        by_seed(measured, metric, **first, **place) - by_seed(measured, metric, **second, **place)
    )


def _agents(metric: str, label: str, side: Side, bound: float = 0.0) -> Parts:
    """Compare both kinds of ferries with epidemic routing at every place, by differences for rates, else by ratios."""
    compare = less_other if metric == DELIVERY_RATE_ALL else over_other
    comparisons = (
        Comparison(f"{_AT}: {label}, {agent}", compare(metric, {"agent": agent}, {"agent": EPIDEMIC}), side, bound)
        for agent in (FIXED, NEED)
    )
    return at_each(_EVERYWHERE, *comparisons)


def _need_over_fixed(metric: str, label: str, side: Side, **at: str) -> Parts:
    """Compare ferries by need with ferries on a tour at some values, at each of the other axes."""
    axes = [axis for axis in _EVERYWHERE if axis not in at]
    shown = ", ".join(f"{axis} {{{axis}}}" for axis in axes)
    return at_each(
        axes,
        Comparison(f"{shown}: {label}", over_other(metric, {"agent": NEED, **at}, {"agent": FIXED, **at}), side, 1),
    )


CLAIMS = (
    ClaimTest(
        "Ferries deliver more than epidemic routing (Zhao et al.).",
        "At every place both kinds of ferries deliver more, with equal seeds.",
        _agents(DELIVERY_RATE_ALL, "delivered, less epidemic", Side.ABOVE),
    ),
    ClaimTest(
        "Ferries need less energy for a delivered message than epidemic routing (Zhao et al.).",
        "At every place both kinds of ferries send fewer bytes for a delivery.",
        _agents(BYTES_A_DELIVERY, "bytes a delivery, over epidemic", Side.BELOW, 1),
    ),
    ClaimTest(
        "Faster ferries shorten the delay (Zhao et al.).",
        f"At every number of ferries and traffic, for both kinds, the delay at {FAST} m/s is less than at {SLOW} m/s.",
        at_each(
            (FERRIES, TRAFFIC),
            *(
                Comparison(
                    f"{{ferries}} ferries, {{traffic}}: delay, fast over slow, {agent}",
                    over_other(DELAY_MEAN_S, {"agent": agent, SPEED: FAST}, {"agent": agent, SPEED: SLOW}),
                    Side.BELOW,
                    1,
                )
                for agent in (FIXED, NEED)
            ),
        ),
    ),
    ClaimTest(
        "More mules deliver more (Shah et al.).",
        f"At every speed and traffic {MANY} random carriers deliver more than {ONE}.",
        at_each(
            (SPEED, TRAFFIC),
            Comparison(
                "{speed} m/s, {traffic}: delivered, four less one",
                less_other(DELIVERY_RATE_ALL, {"agent": EPIDEMIC, FERRIES: MANY}, {"agent": EPIDEMIC, FERRIES: ONE}),
                Side.ABOVE,
            ),
        ),
    ),
    ClaimTest(
        "A sensor's buffer is in inverse proportion to the number of mules (Shah et al.).",
        f"At every speed and traffic the longest queue with {ONE} ferry on a tour is {INVERSE[0]:g} to "
        f"{INVERSE[1]:g} times that with {MANY}.",
        at_each(
            (SPEED, TRAFFIC),
            *(
                Comparison(
                    "{speed} m/s, {traffic}: longest queue, one over four",
                    over_other(LONGEST_QUEUE, {"agent": FIXED, FERRIES: ONE}, {"agent": FIXED, FERRIES: MANY}),
                    side,
                    bound,
                )
                for side, bound in zip((Side.ABOVE, Side.BELOW), INVERSE, strict=True)
            ),
        ),
    ),
    ClaimTest(
        "Under uneven traffic a ferry that goes where most waits has a shorter delay than one on a tour (this study).",
        f"With {ONE} ferry, at every speed.",
        _need_over_fixed(DELAY_MEAN_S, "delay, need over tour", Side.BELOW, ferries=ONE, traffic=UNEVEN),
    ),
    ClaimTest(
        "The quiet islands pay for it (this study).",
        f"With {ONE} ferry, at every speed, the delay from quiet islands is longer than on a tour.",
        _need_over_fixed(
            QUIET_DELAY, "delay from quiet islands, need over tour", Side.ABOVE, ferries=ONE, traffic=UNEVEN
        ),
    ),
    ClaimTest(
        "Several ferries that do not agree on their ways lose against a tour (this study).",
        f"With {MANY} ferries under even traffic, at every speed, the delay is longer than on a tour.",
        _need_over_fixed(DELAY_MEAN_S, "delay, need over tour", Side.ABOVE, ferries=MANY, traffic=EVEN),
    ),
)

CRASH_CLAIMS = (
    ClaimTest(
        "The failure of a mule lowers performance, but disconnects nobody (Shah et al.).",
        f"After a crash of one of two ferries the others deliver less than without it, and still more than {STILL:g}.",
        at_each(
            (),
            *(
                comparison
                for agent in (FIXED, NEED)
                for comparison in (
                    Comparison(
                        f"{agent}: delivered, crash less none",
                        less_other(DELIVERY_RATE_ALL, {"agent": agent, CRASH: "one"}, {"agent": agent, CRASH: "none"}),
                        Side.BELOW,
                    ),
                    Comparison(
                        f"{agent}: delivered after a crash",
                        value(DELIVERY_RATE_ALL, agent=agent, crash="one"),
                        Side.ABOVE,
                        STILL,
                    ),
                )
            ),
        ),
    ),
)
