"""What migrations cost, over network size and over subscriptions (`migration_cost.toml`): figures and a table."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from experiments.figure_plan import Plan, agent_lines, agent_name, cut, slug
from experiments.markdown import markdown_table
from experiments.measurements import BROKERS, MOVING, SUBSCRIPTIONS, Measurements
from experiments.study import Study, StudySweep
from experiments.summary import format_mean
from spark import catalogue
from spark.layout import AGENT
from spark.points import HALF_WIDTH, MEAN

TABLE_FILE = "migration-cost.md"

_DRAWN = (catalogue.MESSAGES_PER_MIGRATION, catalogue.BYTES_PER_MIGRATION, catalogue.MIGRATION_MESSAGE_MEAN_B)
_LISTED = (*_DRAWN, catalogue.MIGRATION_MESSAGE_MAX_B, catalogue.DELIVERY_RATE_ALL)
_ONE_SUBSCRIPTION, _LARGEST_NETWORK = "1", "32"
"""Where the figures cut through the sweep."""


def migration_plans(measured: Measurements) -> Iterator[Plan]:
    """For brokers and for clients that move, each metric over network size and over subscriptions."""
    one = cut(measured, SUBSCRIPTIONS, _ONE_SUBSCRIPTION)
    largest = cut(measured, BROKERS, _LARGEST_NETWORK)
    for moving, metric in itertools.product(measured.values(MOVING), _DRAWN):
        title, name = f"{catalogue.TITLES[metric]} of {moving}", slug(f"{metric}-of-{moving}")
        place = {MOVING: moving}
        lines = agent_lines(measured, {**place, SUBSCRIPTIONS: one})
        yield Plan(f"{name}-by-brokers", f"{title}, subscriptions a subscriber: {one}", metric, BROKERS, lines)
        lines = agent_lines(measured, {**place, BROKERS: largest})
        yield Plan(f"{name}-by-subscriptions", f"{title}, brokers: {largest}", metric, SUBSCRIPTIONS, lines)


def migration_table(measured: Measurements) -> str:
    """Markdown: for each metric a table with a row a point and a column an agent, means with 95 % intervals."""
    places = list(itertools.product(*(measured.values(axis) for axis in measured.axes)))
    head = [*measured.axes, *map(agent_name, measured.agents)]
    sections = []
    for metric in _LISTED:
        rows = [[*place, *_cells(measured, metric, place)] for place in places]
        title = catalogue.TITLES[metric]
        sections.append(f"## {title[0].upper()}{title[1:]}\n\n{markdown_table(head, rows)}")
    return "\n".join(sections)


def _cells(measured: Measurements, metric: str, place: Sequence[str]) -> Iterator[str]:
    """A text an agent, empty where nothing was measured."""
    where = dict(zip(measured.axes, place, strict=True))
    for agent in measured.agents:
        point = measured.point(metric, **where, **{AGENT: agent})
        yield "".join(format_mean(*pair) for pair in zip(point[MEAN], point[HALF_WIDTH], strict=True))


def _tables(measured: Measurements) -> Mapping[str, str]:
    return {TABLE_FILE: migration_table(measured)}


STUDY = Study(
    name="migration-cost",
    source="the thesis",
    sweeps=(
        StudySweep(
            "migration_cost",
            migration_plans,
            tables=_tables,
            quick={"brokers": "4,8", "subscriptions": "1,2"},
            quick_seeds=3,
        ),
    ),
)
