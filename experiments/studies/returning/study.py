"""The study of clients that disconnect and return: deliveries and cost of every protocol that supports it.

All protocols get the same workload over ideal links. Absences are announced or not, and their mean length varies. Two
things are measured beside the metrics of every run, from traces alone. What returning clients cost is what brokers
store for them; only agents that note what they store can be measured so. What they get is how much of what was
published while they were away reaches them, and how long after their return. That is known of announced absences only,
because a client that goes without a word leaves no row in the trace.

1. Figures are over the mean absence, of announced absences and of others apart, because protocols differ in whether
   they can be told. A given length of stays is cut out of the sweep, and the titles say which.
2. An empty cell is not 0. Agents that do not note what they store may store much, and where nobody stores there is no
   row either.
3. What is stored at one moment is a sum over brokers and subscribers: a notification that is kept twice takes room
   twice.
4. Messages have a logarithmic axis in this study alone: floods and trees differ by orders of magnitude.
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
    c.DUPLICATES,
    STORED_MEAN,
    STORED_PEAK,
    HANDED_OVER,
    CATCH_UP_S,
)
_OF_ANNOUNCED = (HANDED_OVER, CATCH_UP_S)
_PRESENCE, _ABSENCE = "10", "8"
"""Where the figures and the table cut through the sweep."""
_WAYS = {"true": "who leaves says so", "false": "who leaves does not say so"}


def returning_plans(measured: Measurements) -> Iterator[Plan]:
    """Each metric over the length of absences: figures of announced absences, and figures of all others."""
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
    """Tables in Markdown, of announced absences and of others: a row for each agent, a column for each metric."""
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
"""What `roambus reproduce returning` runs; docs/results/migrations.md has what came out."""
