"""A node whose battery is empty is dead: it hears nothing, sends nothing, and is told of by its time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import DEATHS
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Publications, Scenario, Workload
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.bridge.backends.radio.runs import at_places, run, send

DONE = ("publish", "send", "deliver")
IDLE_MW = 68
"""62 mW for the radio in RX and 6 mW besides."""


def with_batteries(scenario: Scenario, *joules: float) -> Scenario:
    nodes = zip(scenario.nodes, joules, strict=True)
    return replace(scenario, nodes=tuple(replace(node, initial_energy_j=joule) for node, joule in nodes))


def test_a_battery_lasts_as_long_as_its_energy() -> None:
    """An idle node looks at its battery every second: one that is empty after 2.5 s is found so after 3 s."""
    scenario = with_batteries(at_places(0, 5), 2.5 * IDLE_MW / 1000, 1000)
    _, totals = run(scenario, [])
    assert totals.counts[DEATHS] == [3_000_000_000, 0]
    assert totals.energy_mj == pytest.approx([2.5 * IDLE_MW, 10 * IDLE_MW])


def test_a_dead_node_sends_nothing_and_learns_why() -> None:
    """Others go on."""
    scenario = with_batteries(at_places(0, 5), 2.5 * IDLE_MW / 1000, 1000)
    lines, _ = run(scenario, [send(0, "alive", SECOND), send(0, "dead", 5 * SECOND), send(1, "heard", 6 * SECOND)])
    assert [line.split(": ", 1)[1] for line in lines] == [
        "1 gets alive from 0",
        "0 cannot send: node has no energy left",
    ]


def test_energy_is_found_spent_when_the_radio_changes_its_state() -> None:
    """A node that sends finds its battery empty as soon as it turns round, to the nanosecond, not after a second."""
    scenario = with_batteries(at_places(0, 5), 2.5 * IDLE_MW / 1000, 1000)
    _, totals = run(scenario, [send(0, "last", 2600 * MILLISECOND + 789)])
    assert totals.counts[DEATHS] == [2_600_000_789, 0]
    assert totals.counts["received"] == [0, 0]


def test_what_a_dying_node_had_queued_is_forgotten() -> None:
    """Its MAC neither sends it nor tells of it, as Castalia's does not."""
    scenario = with_batteries(at_places(0, 5, 6), 0.2001 * IDLE_MW / 1000, 1000, 1000)
    frames = [send(0, str(k), 200 * MILLISECOND) for k in range(20)]
    lines, totals = run(scenario, frames)
    assert 0 < len(lines) < 40
    assert totals.counts["transmitted"][0] < 20


def test_without_a_battery_that_can_run_out_nothing_is_reported() -> None:
    """As by default, so that traces are what they were."""
    _, totals = run(at_places(0, 5), [send(0, "a")])
    assert DEATHS not in totals.counts


def test_the_agent_of_a_dead_node_does_nothing_more() -> None:
    """Neither its agent nor its application: whatever is counted of a node was done while it had energy."""
    workload = Workload(publications=tuple(Publications(node, 0, 10 * SECOND, SECOND // 4, (), 20) for node in (0, 1)))
    roles = Role.PUBLISHER | Role.SUBSCRIBER
    alive = at_places(0, 5)
    nodes = tuple(replace(node, roles=roles) for node in alive.nodes)
    scenario = with_batteries(replace(alive, nodes=nodes, workload=workload), 2.5 * IDLE_MW / 1000, 1000)
    trace = TraceWriter(TraceLevel.FULL)
    Host(scenario, load_agent("flooding"), RadioBackend(scenario), trace).run()
    rows = trace.table().to_pylist()
    (death,) = (row["time_s"] for row in rows if row["event"] == "die")
    last = {
        node: max(
            row["time_s"] for row in rows if row["node"] == node and row["event"] in ("publish", "send", "deliver")
        )
        for node in (0, 1)
    }
    assert last[0] <= death + 0.25 < 4
    assert last[1] > 9
