"""Packets that wait on nodes as a run ends have rows: over a link layer no pair ends without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.agents import load_agent, own_agents
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import END
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.simtime import SECOND
from roambus.spark.metrics.reasons import STORED, UNDER_WAY, UNSEEN
from roambus.spark.metrics.run import Run

AGENTS = [name for name in ("aodv", "dsr", "dsdv", "olsr", "gpsr") if name in own_agents()]


@pytest.mark.parametrize("agent", AGENTS)
def test_no_pair_ends_without_a_row(agent: str, tmp_path: Path) -> None:
    """In a network that has more to send than it can, some packets have waited for long."""
    values: dict[str, Scalar] = {"nodes": 14, "side": 80, "mobility": "waypoint"}
    values |= {"publish_interval": 3, "time_limit": 35}
    run: dict[str, Scalar] = {"seed": 3, "agent": agent, "agent_parameters": ""}
    scenario = parse_scenario(find_template("field").render(values | run), TEMPLATES / "run.ini", TEMPLATES)
    trace, file = TraceWriter(), tmp_path / "trace.parquet"
    Host(scenario, load_agent(agent), RadioBackend(scenario), trace).run()
    trace.write(file, {END: repr(scenario.time_limit / SECOND)})
    ends = Run(file).whereabouts["where"].value_counts()
    assert ends.get(UNSEEN, 0) == 0
    assert ends.get(STORED, 0) + ends.get(UNDER_WAY, 0) < ends.sum()
    assert ends.get(STORED, 0)
