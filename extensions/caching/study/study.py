"""The evaluation of caching for mobile clients: figures 4 and 5, and claims.

Figure 4 has rows over absences and rates; those over cache sizes and brokers are ours. Figure 5 is a
single move. The paper gives axes without parameters; sweeps name its letters. A curve is one load (mean clients at a
broker); small loads run longer. The quick study shortens runs (`scale`) and omits the longest.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.figures.figure import Line, Plan, agent_lines, slug
from roambus.experiments.measurements import Measurements
from roambus.experiments.studies.study import Study, StudySweep
from roambus.extensions.caching.study.claims import (
    ABSENCE,
    ABSENCE_CLAIMS,
    BROKERS,
    BROKERS_CLAIMS,
    DROPPING,
    LOAD,
    MOVE_CLAIMS,
    PLAIN,
    RATE,
    RATE_CLAIMS,
    SIZE,
    SIZE_CLAIMS,
)
from roambus.extensions.caching.study.metrics import (
    ABSORPTION_S,
    CATCH_UP_S,
    GAIN_PERCENT,
    LOST_RATIO,
    MISSED,
    MOVE,
    POPULATION,
)

_PANELS = ((ABSORPTION_S, DROPPING), (GAIN_PERCENT, PLAIN), (LOST_RATIO, DROPPING))
"""The panels of figure 4's rows; the gain is measured without dropping."""
_TITLES = {
    ABSORPTION_S: "absorption time of messages",
    GAIN_PERCENT: "gain of dropping duplicate responses",
    LOST_RATIO: "lost message ratio",
}
_X_TITLES = {
    ABSENCE: "mean time for which a client is away, Δt (s)",
    RATE: "publications a second, λ_msg",
    SIZE: "messages in a cache, k",
    BROKERS: "brokers",
}


def size_plans(measured: Measurements) -> Iterator[Plan]:
    """Plan figures over cache size: one a load, a line for each absence."""
    for load, (metric, agent) in itertools.product(measured.values(LOAD), _PANELS):
        lines = [Line(f"Δt = {away} s", {AGENT: agent, LOAD: load, ABSENCE: away}) for away in measured.values(ABSENCE)]
        title = f"At load {load}: {_TITLES[metric]}, over the size of a cache"
        yield _plan(f"size-{slug(metric)}-load-{slug(load)}", title, metric, SIZE, lines)


def brokers_plans(measured: Measurements) -> Iterator[Plan]:
    """Plan the gain over brokers, a line for each load."""
    lines = [Line(f"load {load}", {AGENT: PLAIN, LOAD: load}) for load in measured.values(LOAD)]
    yield _plan("gain-over-brokers", f"{_TITLES[GAIN_PERCENT]}, over brokers", GAIN_PERCENT, BROKERS, lines)


def _move_plans(measured: Measurements) -> Iterator[Plan]:
    """Plan what a move costs over rates, a line for each agent."""
    for metric, title in ((MISSED, "Figure 5: messages missed by a move"), (CATCH_UP_S, "Figure 5: time to catch up")):
        yield _plan(f"figure-5-{slug(metric)}", title, metric, RATE, agent_lines(measured, {}))


def _row(axis: str, letters: str, measured: Measurements) -> Iterator[Plan]:
    """Plan figures 4 a to c over absences, or d to f over rates."""
    for letter, (metric, agent) in zip(letters, _PANELS, strict=True):
        lines = [Line(f"load {load}", {AGENT: agent, LOAD: load}) for load in measured.values(LOAD)]
        yield _plan(f"figure-4{letter}", f"Figure 4{letter}: {_TITLES[metric]}", metric, axis, lines)


def _plan(name: str, title: str, metric: str, axis: str, lines: list[Line]) -> Plan:
    """Plan a figure with the paper's names of axis and gain."""
    y_title = "gain (%)" if metric == GAIN_PERCENT else ""
    return Plan(name, title, metric, axis, lines, y_title, x_title=_X_TITLES[axis])


STUDY = Study(
    name="caching",
    title="Caching for mobile clients",
    source="Sourlas et al.",
    sweeps=(
        StudySweep(
            "caching-absence",
            partial(_row, ABSENCE, "abc"),
            ABSENCE_CLAIMS,
            POPULATION,
            quick={"load": "0.5,1", "absence": "2,20", "scale": "0.04"},
            quick_seeds=2,
        ),
        StudySweep(
            "caching-rate",
            partial(_row, RATE, "def"),
            RATE_CLAIMS,
            POPULATION,
            quick={"load": "1", "rate": "0.5,2", "scale": "0.04"},
            quick_seeds=2,
        ),
        StudySweep(
            "caching-size",
            size_plans,
            SIZE_CLAIMS,
            POPULATION,
            quick={"load": "1", "size": "10,100", "scale": "0.04"},
            quick_seeds=2,
        ),
        StudySweep(
            "caching-brokers",
            brokers_plans,
            BROKERS_CLAIMS,
            POPULATION,
            quick={"load": "1", "brokers": "3,7", "scale": "0.04"},
            quick_seeds=2,
        ),
        StudySweep("caching-move", _move_plans, MOVE_CLAIMS, MOVE, quick_seeds=2),
    ),
    notes=(
        "Links are ideal, as in the paper's simulator. The paper gives seven brokers in a balanced binary tree, the "
        "processes of clients and messages, and the loads 0.1, 0.5, 1 and 100: rho_c, the mean number of clients at a "
        "broker. All other constants are chosen here. Every client wants every message, lives for 50 s while it is "
        "there, and leaves once in 50 s, both exponential. It comes back after an exponential time, at any other "
        "broker, and does not die meanwhile. A cache holds k = 10 messages; where they are not varied, there is a "
        "message a second and a mean absence of 10 s. What k does has figures of its own.",
        "A point is the mean over seeds of each run's mean, with a 95 % interval over seeds. A run observes tens to "
        "thousands of messages, requests and absences (messages_observed, requests_answered, absences_observed in "
        "metrics/points.csv). Messages that are still cached when a run ends count with the time until then "
        "(still_cached is their share): the absorption time is too low by what is missing.",
        "The gain is what the variant without both dropping mechanisms has of further responses with a message that "
        "has come for the same request; with both there is one.",
    ),
)
