"""The study of clients that disconnect and return: deliveries and cost of every protocol that supports it.

All get one workload over ideal links, absences announced or not, of several mean lengths. The cost is the notifications
stored for absent clients, if agents note it; the benefit is the share delivered afterwards and its delay, for announced
absences only. An empty cell is not 0; a notification stored twice counts twice. Messages have a logarithmic axis:
floods and trees differ by orders of magnitude.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from roambus.experiments.figures.figure import Plan, agent_lines, cut, slug
from roambus.experiments.measurements import Measurements, markdown_table
from roambus.experiments.studies.returning.metrics import CATCH_UP_S, HANDED_OVER, RETURNING, STORED_MEAN, STORED_PEAK
from roambus.experiments.studies.study import Study, StudySweep
from roambus.spark.metrics import catalogue as c

ANNOUNCED, ABSENCE, PRESENCE = "announced", "absence", "presence"
TABLE_FILE = "returning.md"

_DRAWN = (
    c.DELIVERY_RATE_ALL,
    c.DELAY_MEAN_S,
    c.MESSAGES,
    c.duplicates.column,
    STORED_MEAN,
    STORED_PEAK,
    HANDED_OVER,
    CATCH_UP_S,
)
_OF_ANNOUNCED = (HANDED_OVER, CATCH_UP_S)
_PRESENCE, _ABSENCE = "10", "8"
"""The cuts of figures and table through the sweep."""
_WAYS = {"true": "who leaves says so", "false": "who leaves does not say so"}


def returning_plans(measured: Measurements) -> Iterator[Plan]:
    """Plan each metric over the mean absence, for announced absences and for others."""
    for metric in _DRAWN:
        for announced in measured.values(ANNOUNCED):
            if announced == "true" or metric not in _OF_ANNOUNCED:
                yield _plan(measured, metric, announced)


def _plan(measured: Measurements, metric: str, announced: str) -> Plan:
    presence = cut(measured, PRESENCE, _PRESENCE)
    return Plan(
        name=f"{slug(metric)}-{'announced' if announced == 'true' else 'unannounced'}",
        title=f"{measured.heading(metric)}: {_WAYS[announced]}, stays of {presence} s",
        metric=metric,
        x=ABSENCE,
        lines=agent_lines(measured, {ANNOUNCED: announced, PRESENCE: presence}),
        x_title="mean absence (s)",
        # The protocols' messages differ by orders of magnitude.
        scale=c.Scale.LOGARITHMIC if metric == c.MESSAGES else None,
    )


def returning_tables(measured: Measurements) -> Mapping[str, str]:
    """Return Markdown tables: a row for each agent, a column for each metric."""
    return {TABLE_FILE: "\n".join(_section(measured, announced) for announced in measured.values(ANNOUNCED))}


def _section(measured: Measurements, announced: str) -> str:
    place = {PRESENCE: cut(measured, PRESENCE, _PRESENCE), ABSENCE: cut(measured, ABSENCE, _ABSENCE)}
    rows = [
        [
            measured.agent_name(agent),
            *(measured.cell(metric, **place, agent=agent, announced=announced) for metric in _DRAWN),
        ]
        for agent in measured.agents
    ]
    table = markdown_table(["", *map(measured.title, _DRAWN)], rows)
    what = f"absences of {place[ABSENCE]} s, stays of {place[PRESENCE]} s"
    return f"## {_WAYS[announced].capitalize()}: {what}\n\n{table}"


STUDY = Study(
    name="returning",
    title="Clients that leave and return",
    source="nobody",
    sweeps=(
        StudySweep(
            "returning",
            returning_plans,
            extra=RETURNING,
            tables=returning_tables,
            quick={ABSENCE: "2,8", PRESENCE: "10"},
            quick_seeds=2,
        ),
    ),
    notes=(
        "Links are ideal; four publishers, eight subscribers, seven brokers in a random tree; half of the subscribers "
        "want each of two topics, two notifications a second in all of each. Everybody is back 30 s before the end.",
        "What is stored is what agents note: the broker family notes what brokers keep for subscribers that they "
        "cannot reach, caching what is in caches. Empty: nothing is noted.",
    ),
)
"""The study of `roambus reproduce returning`."""
