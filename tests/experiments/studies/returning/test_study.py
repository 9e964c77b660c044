"""The comparison of clients that return: its figures and its table, from made-up numbers."""

from __future__ import annotations

import itertools

import pandas as pd

from roambus.experiments.figures.figure import look_up
from roambus.experiments.measurements import Measurements
from roambus.experiments.studies.returning.metrics import (
    CATCH_UP_S,
    HANDED_OVER,
    RETURNING,
    STORED_MEAN,
    STORED_PEAK,
)
from roambus.experiments.studies.returning.study import TABLE_FILE, returning_plans, returning_tables
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c

EVERYWHERE = (c.DELIVERY_RATE_ALL, c.DELAY_MEAN_S, c.MESSAGES, c.duplicates.column, STORED_MEAN, STORED_PEAK)


def measured() -> Measurements:
    """Two agents; absences that nobody announces have no metrics of what was missed."""
    places = itertools.product(("mft", "caching-large"), ("true", "false"), ("2", "8"), ("10", "40"), (0, 1))
    runs = pd.DataFrame(
        {
            "agent": agent,
            "announced": announced,
            "absence": absence,
            "presence": presence,
            "seed": seed,
            **dict.fromkeys(EVERYWHERE, float(absence) + seed),
            **({HANDED_OVER: 1.0, CATCH_UP_S: 0.5} if announced == "true" else {}),
        }
        for agent, announced, absence, presence, seed in places
    )
    return Measurements(runs, mean_points(runs), metrics=(*c.METRICS, *RETURNING.metrics))


def test_each_metric_over_the_length_of_absences() -> None:
    """For those announced and for the others, a line an agent, all at stays of 10 s."""
    figures = {plan.name: look_up(measured(), plan) for plan in returning_plans(measured())}
    names = {metric.replace("_", "-") for metric in EVERYWHERE}
    missed = {"handed-over-announced", "catch-up-s-announced"}
    assert set(figures) == {f"{name}-{way}" for name in names for way in ("announced", "unannounced")} | missed
    messages = figures["messages-unannounced"]
    assert messages.title == "Messages: who leaves does not say so, stays of 10 s"
    assert [series.label for series in messages.series] == ["caching-large", "mft"]
    assert (messages.x_values, messages.series[0].mean) == (("2", "8"), (2.5, 8.5))


def test_the_table_has_a_row_an_agent_for_each_way_to_leave() -> None:
    """At absences of 8 s; empty where nothing was measured."""
    lines = [line for line in returning_tables(measured())[TABLE_FILE].splitlines() if line]
    assert lines[0] == "## Who leaves does not say so: absences of 8 s, stays of 10 s"
    assert lines[3].startswith("| caching-large | 8.50 ± 6.35 |")
    assert lines[3].endswith("|  |  |")
    assert lines[5] == "## Who leaves says so: absences of 8 s, stays of 10 s"
    assert lines[9].startswith("| mft | 8.50 ± 6.35 |")
    assert lines[9].endswith("| 1.000 ± 0.000 | 0.500 ± 0.000 |")
