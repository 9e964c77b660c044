"""The study of interest: which agent delivers in time at the least cost, at each interest, rate and speed.

A random share of 32 subscribers wants each of 16 topics. An agent *reaches* a cell if the mean delivery within a second
is at least 0.99; the cheapest is chosen, by bytes on the air or energy, and costs less than 1 % apart are alike. Agents
with oracle subscribers do not compete. If none reaches a cell, it names the nearest. A choice is unsure if an interval
includes 0.99, or a cost ratio's includes 1. Measurement begins after 15 s.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import pandas as pd

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.claims import ClaimTest, Comparison, Place, Quantity, Side, at_each, value
from roambus.experiments.figures.figure import Line, Plan, slug
from roambus.experiments.measurements import Measurements, NotMeasuredError, by_seed, markdown_table, point_table
from roambus.experiments.studies.study import Study, StudySweep
from roambus.extensions.lean.study.map import Cell, MapFigure
from roambus.spark.aggregation.intervals import interval
from roambus.spark.metrics import catalogue as c
from roambus.spark.metrics.metric import Support

INTEREST, RATE, SPEED = "interest", "rate", "speed"
"""The axes: the share of the subscribers, publications a second, and m/s."""
FLOODING, GOSSIP, REPAIR = "flooding", "gossip", "gossip-repair"
LEAN, MFT, AODV = "mft-lean", "mft", "aodv-derived"
ENOUGH = 0.99
"""The share to deliver within a second."""
APART = 1.01
"""Costs whose ratio is smaller are alike."""


# Who is chosen


@dataclass(frozen=True, slots=True)
class Standing:
    """An agent in a cell: mean delivery in time with interval, and cost by seed."""

    agent: str
    in_time: float
    low: float
    high: float
    cost: pd.Series[float]

    @property
    def reaches(self) -> bool:
        """Whether it delivers enough in time."""
        return self.in_time >= ENOUGH

    @property
    def is_open(self) -> bool:
        """Whether its interval leaves that open."""
        return len(self.cost) < 2 or self.low < ENOUGH <= self.high

    def over(self, other: Standing) -> tuple[float, float]:
        """Return the ratio of its cost to another's, and the interval's lower end; NaN without one."""
        logarithms = (self.cost / other.cost).dropna().map(math.log)
        mean = float(logarithms.mean())
        return math.exp(mean), math.exp(interval(logarithms).low)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The agents that reach a cell, the cheapest first; else the `nearest`."""

    reaching: tuple[Standing, ...]
    nearest: Standing
    oracles: tuple[Standing, ...]
    """Cheaper agents with oracle subscribers that reach the cell."""
    is_sure: bool

    @property
    def alike(self) -> tuple[Standing, ...]:
        """Return the cheapest, and those of like cost."""
        return tuple(candidate for candidate in self.reaching if candidate.over(self.reaching[0])[0] < APART)


def choose(measured: Measurements, cost: str, place: Place) -> Ranking | None:
    """Choose at a place of the sweep; None if nothing was measured there."""
    every = sorted(_standings(measured, cost, place), key=lambda standing: float(standing.cost.mean()))
    found = [candidate for candidate in every if candidate.agent not in measured.oracle_agents]
    if not found:
        return None
    reaching = tuple(candidate for candidate in found if candidate.reaches)
    nearest = max(found, key=lambda standing: standing.in_time)
    if not reaching:
        return Ranking(
            (), nearest, _cheaper(every, measured, math.inf), not any(candidate.is_open for candidate in found)
        )
    best, *others = reaching
    cheaper = found[: found.index(best)]
    apart = [other for other in others if other.over(best)[0] >= APART]
    is_sure = not any(other.is_open for other in (best, *cheaper)) and all(other.over(best)[1] > 1 for other in apart)
    return Ranking(reaching, nearest, _cheaper(every, measured, float(best.cost.mean())), is_sure)


def _standings(measured: Measurements, cost: str, place: Place) -> Iterator[Standing]:
    for agent in measured.agents:
        try:
            rates, costs = (
                by_seed(measured, metric, agent=agent, **place) for metric in (c.delivery_rate_in_time.column, cost)
            )
        except NotMeasuredError:
            continue
        mean = float(rates.mean())
        yield Standing(agent, mean, *interval(rates, Support.SHARE), costs)


def _cheaper(every: Sequence[Standing], measured: Measurements, cost: float) -> tuple[Standing, ...]:
    oracle = measured.oracle_agents
    return tuple(
        candidate
        for candidate in every
        if candidate.agent in oracle and candidate.reaches and float(candidate.cost.mean()) < cost
    )


# The maps and the table


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost to minimise, and its unit."""

    metric: str
    words: str
    unit: str
    units: float
    """The metric's own units in one `unit`."""

    def of(self, standing: Standing) -> str:
        """Return the cost of an agent."""
        return f"{float(standing.cost.mean()) / self.units:.3g} {self.unit}"


COSTS = (
    Cost(c.air_bytes_per_node.column, "bytes on the air", "kB", 1000),
    Cost(c.ENERGY_PER_NODE_MJ, "energy", "J", 1000),
)


def _rising(measured: Measurements, axis: str) -> list[str]:
    """Return the values of an axis in ascending order."""
    return sorted(measured.values(axis), key=float)


def share(text: str) -> str:
    """Return a share as a fraction: 0.125 is 1/8."""
    return "all" if float(text) == 1 else str(Fraction(float(text)).limit_denominator(100))


def interest_maps(measured: Measurements) -> Iterator[MapFigure]:
    """Return a map for each cost, with a panel for each rate."""
    for cost in COSTS:
        panels = {
            f"{rate} publication{'s' if rate != '1' else ''} a second": dict(_cells(measured, cost, rate))
            for rate in _rising(measured, RATE)
        }
        if any(panels.values()):
            yield MapFigure(
                name=f"interest-map-{slug(cost.metric)}",
                title=f"Who delivers at least {ENOUGH:g} within a second for the least: {cost.words}",
                x_title="speed (m/s)",
                y_title="share that wants a notification",
                x_values=tuple(_rising(measured, SPEED)),
                y_values=tuple(map(share, _rising(measured, INTEREST))),
                panels=panels,
                intervals=(
                    "below the name, what a node costs and what is delivered in time, then how many times as much the "
                    f"next one costs; grey: nobody, or costs that are alike; hatched: not sure; {_seeds(measured)}"
                ),
            )


def _seeds(measured: Measurements) -> str:
    counts = sorted(set(measured.runs.groupby([AGENT, *measured.axes]).size()))
    return f"{counts[0]} seeds" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"


def _cells(measured: Measurements, cost: Cost, rate: str) -> Iterator[tuple[tuple[str, str], Cell]]:
    for speed, interest in itertools.product(measured.values(SPEED), measured.values(INTEREST)):
        found = choose(measured, cost.metric, {RATE: rate, SPEED: speed, INTEREST: interest})
        if found:
            yield (speed, share(interest)), _cell(measured, cost, found)


def _cell(measured: Measurements, cost: Cost, found: Ranking) -> Cell:
    oracles = tuple(
        f"oracle: {measured.agent_name(candidate.agent)}, {cost.of(candidate)}" for candidate in found.oracles
    )
    if not found.reaching:
        near = found.nearest
        words = ("nobody", f"nearest: {measured.agent_name(near.agent)}, {near.in_time:.3f}")
        return Cell("", (*words, *oracles), found.is_sure)
    best, *others = found.reaching
    if len(found.alike) > 1:
        names = [measured.agent_name(candidate.agent) for candidate in found.alike]
        return Cell("", (f"alike: {cost.of(best)}", *names, *oracles), found.is_sure)
    second = f"{measured.agent_name(others[0].agent)} {others[0].over(best)[0]:.2f} times" if others else "no other"
    return Cell(
        best.agent,
        (measured.agent_name(best.agent), f"{cost.of(best)}, {best.in_time:.4f}", second, *oracles),
        found.is_sure,
    )


def interest_tables(measured: Measurements) -> Mapping[str, str]:
    """Return the choices as rows, and the means of every agent."""
    head = ["publications a second", "speed (m/s)", "want it", *(cost.words for cost in COSTS)]
    rows = []
    for rate, speed, interest in itertools.product(*(_rising(measured, axis) for axis in (RATE, SPEED, INTEREST))):
        place = {RATE: rate, SPEED: speed, INTEREST: interest}
        found = [(cost, choose(measured, cost.metric, place)) for cost in COSTS]
        cells = [_cell(measured, cost, choice) if choice else Cell("", ()) for cost, choice in found]
        rows.append(
            [
                rate,
                speed,
                share(interest),
                *("; ".join(cell.words) + ("" if cell.is_sure else " (?)") for cell in cells),
            ]
        )
    title = f"## Who delivers at least {ENOUGH:g} within a second for the least; (?) is not sure"
    return {"interest.md": f"{title}\n\n{markdown_table(head, rows)}\n{point_table(measured, _SHOWN)}"}


_SHOWN = (c.delivery_rate_in_time.column, c.DELIVERY_RATE_ALL, c.air_bytes_per_node.column)


def interest_plans(measured: Measurements) -> Iterator[Plan]:
    """Plan bytes and timely deliveries over interest, for each rate and speed."""
    for metric, rate, speed in itertools.product(_SHOWN[::2], measured.values(RATE), measured.values(SPEED)):
        lines = [
            Line(measured.agent_name(agent), {AGENT: agent, RATE: rate, SPEED: speed}) for agent in measured.agents
        ]
        title = f"{measured.title(metric)}, {rate} a second, {speed} m/s"
        name = f"{slug(metric)}-rate-{rate}-speed-{speed}"
        yield Plan(name, title, metric, INTEREST, lines, x_title="share that wants a notification")


# The claims


_EVERYWHERE = (RATE, SPEED, INTEREST)
_AT = "{rate} a second, {speed} m/s, {interest} want it"
_MOVING = {RATE: (), SPEED: ("2", "8"), INTEREST: ()}


def _in_time(agent: str) -> Quantity:
    return value(c.delivery_rate_in_time.column, agent=agent)


def _ratio(metric: str, first: str, second: str) -> Quantity:
    """Return the ratio of the first agent's to the second's."""
    return lambda measured, place: (
        by_seed(measured, metric, agent=first, **place) / by_seed(measured, metric, agent=second, **place)
    )


CLAIMS = (
    *(
        ClaimTest(
            f"{name} delivers {ENOUGH:g} within a second everywhere.",
            f"In every cell, more than {ENOUGH:g} of all pairs are delivered within a second.",
            at_each(_EVERYWHERE, Comparison(f"{_AT}: delivered in time", _in_time(agent), Side.ABOVE, ENOUGH)),
        )
        for name, agent in (("Gossip", GOSSIP), ("Gossip with repair", REPAIR), ("MFT-PubSub lean", LEAN))
    ),
    ClaimTest(
        "Filters halve the bytes where few want a notification.",
        "Where 1/32 of the subscribers want it, at ten a second and each speed, with equal seeds, MFT-PubSub lean "
        "sends less than half of the bytes of gossip, which neither filters nor knows the subscribers.",
        at_each(
            {RATE: ("10",), SPEED: (), INTEREST: ("0.03125",)},
            Comparison(
                f"{_AT}: bytes, mft-lean over gossip",
                _ratio(c.air_bytes_per_node.column, LEAN, GOSSIP),
                Side.BELOW,
                0.5,
            ),
        ),
    ),
    ClaimTest(
        "Flooding cannot carry ten publications a second.",
        f"At ten a second, in every cell, less than {ENOUGH:g} of all pairs are delivered within a second.",
        at_each(
            {RATE: ("10",), SPEED: (), INTEREST: ()},
            Comparison(f"{_AT}: delivered in time", _in_time(FLOODING), Side.BELOW, ENOUGH),
        ),
    ),
    ClaimTest(
        "AODV is late where nodes move, although it is given the subscribers.",
        f"With constants derived for this network, it delivers less than {ENOUGH:g} of all pairs within a second in "
        "every cell with movement.",
        at_each(_MOVING, Comparison(f"{_AT}: delivered in time", _in_time(AODV), Side.BELOW, ENOUGH)),
    ),
    ClaimTest(
        "MFT-PubSub is not worth its tree: gossip with repair sends fewer bytes, whoever is interested.",
        "In every cell, with equal seeds, MFT-PubSub sends more bytes.",
        at_each(
            _EVERYWHERE,
            Comparison(
                f"{_AT}: bytes, mft over gossip-repair", _ratio(c.air_bytes_per_node.column, MFT, REPAIR), Side.ABOVE, 1
            ),
        ),
    ),
)


STUDY = Study(
    name="interest",
    title="Where publish/subscribe is worth its tree",
    source="roambus",
    sweeps=(
        StudySweep(
            "interest",
            interest_plans,
            CLAIMS,
            drawings=interest_maps,
            tables=interest_tables,
            quick={INTEREST: "0.03125,1", RATE: "1", SPEED: "0,8"},
            quick_seeds=2,
        ),
    ),
    notes=(
        "What counts begins after 15 s; 40 s of publishing follow, or 10 s at ten publications a second. A pair is a "
        "notification and a subscriber that wants it. AODV's publisher is told by the scenario who the subscribers "
        "are, so that AODV does not compete in the maps.",
    ),
)
