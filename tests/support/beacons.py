"""Runs of the embedded radio with Poisson traffic."""

from __future__ import annotations

from dataclasses import replace

from roambus.bridge.backend import Totals
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.baselines import Beacon


def totals_of_beacons(scenario: Scenario, rate_per_s: float, payload: int, *, silent: int = 0) -> Totals:
    """Every node but the last `silent` ones broadcasts with exponential gaps."""
    nodes = range(len(scenario.nodes) - silent, len(scenario.nodes))
    scenario = replace(
        scenario,
        agent_parameters={"rate": str(rate_per_s), "payload": str(payload)},
        other_parameters={node: {"rate": "0"} for node in nodes},
    )
    return Host(scenario, Beacon, RadioBackend(scenario), TraceWriter()).run()
