"""The scenarios of the Castalia reference measurements, run on the embedded radio.

Each function makes one run and returns its counts under the names of the reference files' columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from roambus.bridge.backend import Totals
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.agents import Handle, Wrapper
from roambus.bridge.host.event_loop import Host
from roambus.bridge.mobility.line import Line
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import TunableMacSettings
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.scenario.radio import ChannelSettings, RadioSettings
from roambus.bridge.trace.parquet import TraceWriter
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.actions import Action
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.baselines import Beacon
from roambus.python_protocol.events import Event, Received
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

Counts = dict[str, float]


def _cc2420() -> RadioSettings:
    template = find_template("field")
    run: dict[str, Scalar] = {"seed": 0, "agent": "beacon", "agent_parameters": ""}
    return parse_scenario(template.render(run), template.file, TEMPLATES).radio


CC2420 = _cc2420()
"""The radio of every reference scenario, mode `normal`."""

MAC = TunableMacSettings(backoff_type=2)
"""The MAC of every reference scenario: back-offs grow with the busy results in a row."""

PAYLOAD_BYTES = 40
LINE_SPEED_MPS = 8
UPDATE_INTERVAL = 100 * MILLISECOND


class Air(NamedTuple):
    """A channel with its path loss."""

    channel: ChannelSettings = ChannelSettings()
    propagation: LogDistance = LogDistance()


SHADOWED = Air()
MOBILE = Air(ChannelSettings(only_static_nodes=False))
FLAT = Air(propagation=LogDistance(sigma_db=0, bidirectional_sigma_db=0))


class Conditions(NamedTuple):
    """The settings of a run besides its group's values."""

    seconds: int
    air: Air
    seed: int


def pair(distance_m: float, payload: int, rate_per_s: float, conditions: Conditions) -> Counts:
    """Two static nodes, the first sends."""
    nodes = tuple(NodeSettings(position=(x, 0.0)) for x in (0.0, distance_m))
    return _run(_scenario(nodes, max(distance_m, 1.0), conditions), (rate_per_s, 0), payload)


def static_field(nodes: int, side_m: float, rate_per_s: float, conditions: Conditions) -> Counts:
    """Static nodes placed uniformly, all send."""
    return _run(static_scenario(nodes, side_m, conditions), (rate_per_s,) * nodes, PAYLOAD_BYTES)


def static_scenario(nodes: int, side_m: float, conditions: Conditions) -> Scenario:
    """Static nodes placed uniformly."""
    return _scenario((NodeSettings(),) * nodes, side_m, conditions)


def line_field(nodes: int, side_m: float, rate_per_s: float, conditions: Conditions) -> Counts:
    """Nodes that go to and fro between two uniform places each, all send."""
    ends = np.random.default_rng(conditions.seed).uniform(0, side_m, (nodes, 2)).tolist()
    settings = tuple(NodeSettings(mobility=Line(x, y, LINE_SPEED_MPS, UPDATE_INTERVAL)) for x, y in ends)
    return _run(_scenario(settings, side_m, conditions), (rate_per_s,) * nodes, PAYLOAD_BYTES)


def _scenario(nodes: Sequence[NodeSettings], side_m: float, conditions: Conditions) -> Scenario:
    seconds, (channel, propagation), seed = conditions
    field, limit = (side_m, side_m), seconds * SECOND
    return Scenario(seed, limit, field, channel, CC2420, MAC, tuple(nodes), propagation=propagation)


def _run(scenario: Scenario, rates_per_s: Sequence[float], payload: int) -> Counts:
    levels: list[tuple[float, float]] = []

    def listening(_: Agent, handle: Handle) -> Handle:
        def handle_and_note(event: Event, now: SimTime) -> Iterable[Action]:
            if isinstance(event, Received):
                levels.append((event.rssi_dbm, event.lqi_db))
            return handle(event, now)

        return handle_and_note

    totals = beacons(scenario, rates_per_s, payload, listening)
    counts: Counts = {name: sum(values) for name, values in totals.counts.items()}
    rssi, lqi = np.mean(levels or [(np.nan, np.nan)], axis=0).tolist()
    return counts | {"sent": counts["offered"], "mean_rssi_dbm": rssi, "mean_lqi_db": lqi}


def beacons(scenario: Scenario, rates_per_s: Sequence[float], payload: int, *wrappers: Wrapper) -> Totals:
    """Run the embedded radio with a Poisson source of broadcasts on each node."""
    parameters = [{"rate": str(rate), "payload": str(payload)} for rate in rates_per_s]
    scenario = replace(scenario, agent_parameters=parameters[0], other_parameters=dict(enumerate(parameters)))
    return Host(scenario, Beacon, RadioBackend(scenario), TraceWriter(), wrappers=wrappers).run()
