"""Sweeps with different agents are compared as one, and deliveries have their cost."""

from __future__ import annotations

import pytest

from docs.writers.reproduction import (
    ENERGY_PER_DELIVERY_MJ,
    MESSAGES_PER_DELIVERY,
    joined,
    plan_by_size,
    plan_by_speed,
)
from roambus.bridge.system.errors import UserError
from roambus.experiments.figures.figure import look_up
from roambus.spark.metrics import catalogue as c
from tests.experiments.measured import measurements, plausible


def test_agents_of_all_sweeps_stand_side_by_side() -> None:
    """In the order of the sweeps; where one was not run it has no points."""
    both = joined([measurements(), measurements(agents=("flooding",), speeds=("2",))])
    assert both.agents == ["mft", "aodv", "flooding"]
    figure = look_up(both, plan_by_speed(both, c.DELIVERY_RATE_ALL))
    assert [(series.label, len(series.x)) for series in figure.series] == [
        ("MFT-PubSub", 5),
        ("AODV", 5),
        ("flooding", 1),
    ]


def test_an_agent_counts_once() -> None:
    """If two sweeps have runs of it, the first one's are taken."""
    both = joined([measurements(seeds=2), measurements(seeds=5, agents=("aodv", "flooding"))])
    assert both.runs.groupby("agent")["seed"].nunique().to_dict() == {"mft": 2, "aodv": 2, "flooding": 5}


def test_sweeps_of_different_settings_are_not_compared() -> None:
    """Messages of 700 s say nothing beside messages of 200 s."""
    longer = measurements(agents=("flooding",), seeds=1)
    longer.sweep["set"] = {"time_limit": 700, "publish_until": 500}
    with pytest.raises(UserError, match=r"sweeps to compare have settings .*200.* and .*700.*: give them the same"):
        joined([measurements(seeds=1), longer])


def test_what_a_delivery_costs() -> None:
    """What all nodes send and use, over what was delivered."""
    run = joined([measurements(seeds=1)]).runs.iloc[0]
    assert run[MESSAGES_PER_DELIVERY] == pytest.approx(run[c.MESSAGES] / run[c.DELIVERED])
    nodes = 6  # of C2
    assert run[ENERGY_PER_DELIVERY_MJ] == pytest.approx(run[c.ENERGY_PER_NODE_MJ] * nodes / run[c.DELIVERED], rel=1e-3)


def test_nothing_delivered_has_no_cost() -> None:
    """Rather than an infinite one."""
    measured = joined([measurements(lambda *place: {**plausible(*place), c.DELIVERED: 0}, seeds=1)])
    assert measured.runs[MESSAGES_PER_DELIVERY].isna().all()


def test_titles_say_where() -> None:
    """The speed of the thesis' figures over sizes, its size over speeds."""
    measured = joined([measurements()])
    by_size, by_speed = plan_by_size(measured, MESSAGES_PER_DELIVERY), plan_by_speed(measured, c.DELAY_MEAN_S)
    assert by_size.title == "Messages per delivery at 8 m/s"
    assert by_speed.title == "End-to-end delay (s) at C16"
    assert look_up(measured, by_size).logarithmic
