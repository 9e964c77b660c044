"""The study of migration costs, over network size and over subscriptions: figures and a table.

Brokers and clients move in random trees over ideal links. Messages and bytes since the first migration, without
notifications and upkeep, are divided by migrations. Section 3.5 of the thesis has only examples, so there are no
claims. Delivery rates stand beside costs: losing notifications would be cheap.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from roambus.experiments.figures.figure import Plan, agent_lines, cut, slug
from roambus.experiments.measurements import Measurements, point_table_file
from roambus.experiments.studies.study import Study, StudySweep
from roambus.spark.metrics import catalogue

MOVING, BROKERS, SUBSCRIPTIONS = "moving", "brokers", "subscriptions"
TABLE_FILE = "migration-cost.md"

_DRAWN = (
    catalogue.messages_per_migration.column,
    catalogue.bytes_per_migration.column,
    catalogue.migration_message_mean_b.column,
)
_LISTED = (*_DRAWN, catalogue.migration_message_max_b.column, catalogue.DELIVERY_RATE_ALL)
_ONE_SUBSCRIPTION, _LARGEST_NETWORK = "1", "32"
"""Where the figures cut through the sweep."""


def migration_plans(measured: Measurements) -> Iterator[Plan]:
    """Plan each metric over network size and subscriptions, for moving brokers and clients."""
    single = cut(measured, SUBSCRIPTIONS, _ONE_SUBSCRIPTION)
    largest = cut(measured, BROKERS, _LARGEST_NETWORK)
    for moving, metric in itertools.product(measured.values(MOVING), _DRAWN):
        title, name = f"{measured.title(metric)} of {moving}", slug(f"{metric}-of-{moving}")
        for x, other, at, what in (
            (BROKERS, SUBSCRIPTIONS, single, "subscriptions a subscriber"),
            (SUBSCRIPTIONS, BROKERS, largest, "brokers"),
        ):
            lines = agent_lines(measured, {MOVING: moving, other: at})
            yield Plan(f"{name}-by-{x}", f"{title}, {what}: {at}", metric, x, lines)


STUDY = Study(
    name="migration-cost",
    title="What migrations cost",
    source="the thesis",
    sweeps=(
        StudySweep(
            "migration-cost",
            migration_plans,
            tables=point_table_file(TABLE_FILE, _LISTED),
            quick={"brokers": "4,8", "subscriptions": "1,2"},
            quick_seeds=3,
        ),
    ),
)
