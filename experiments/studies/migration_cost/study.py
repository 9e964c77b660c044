"""The study of what migrations cost, over network size and over subscriptions: figures and a table.

Brokers and clients move in random trees, over ideal links. Messages and bytes since the first migration are counted
over the number of migrations, without notifications and upkeep.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from roambus.experiments.figures.figure import Plan, agent_lines, cut, slug
from roambus.experiments.measurements import Measurements, point_table
from roambus.experiments.studies.study import Study, StudySweep
from roambus.spark.metrics import catalogue

MOVING, BROKERS, SUBSCRIPTIONS = "moving", "brokers", "subscriptions"
TABLE_FILE = "migration-cost.md"

_DRAWN = (catalogue.MESSAGES_PER_MIGRATION, catalogue.BYTES_PER_MIGRATION, catalogue.MIGRATION_MESSAGE_MEAN_B)
_LISTED = (*_DRAWN, catalogue.MIGRATION_MESSAGE_MAX_B, catalogue.DELIVERY_RATE_ALL)
_ONE_SUBSCRIPTION, _LARGEST_NETWORK = "1", "32"
"""Where the figures cut through the sweep."""


def migration_plans(measured: Measurements) -> Iterator[Plan]:
    """Each metric over network size and over subscriptions, for brokers and for clients that move."""
    one = cut(measured, SUBSCRIPTIONS, _ONE_SUBSCRIPTION)
    largest = cut(measured, BROKERS, _LARGEST_NETWORK)
    for moving, metric in itertools.product(measured.values(MOVING), _DRAWN):
        title, name = f"{measured.title(metric)} of {moving}", slug(f"{metric}-of-{moving}")
        place = {MOVING: moving}
        lines = agent_lines(measured, {**place, SUBSCRIPTIONS: one})
        yield Plan(f"{name}-by-brokers", f"{title}, subscriptions a subscriber: {one}", metric, BROKERS, lines)
        lines = agent_lines(measured, {**place, BROKERS: largest})
        yield Plan(f"{name}-by-subscriptions", f"{title}, brokers: {largest}", metric, SUBSCRIPTIONS, lines)


def _tables(measured: Measurements) -> Mapping[str, str]:
    return {TABLE_FILE: point_table(measured, _LISTED)}


STUDY = Study(
    name="migration-cost",
    title="What migrations cost",
    source="the thesis",
    sweeps=(
        StudySweep(
            "migration-cost",
            migration_plans,
            tables=_tables,
            quick={"brokers": "4,8", "subscriptions": "1,2"},
            quick_seeds=3,
        ),
    ),
)
