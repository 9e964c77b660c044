"""The scenarios of the Castalia reference measurements, run on the embedded radio.

Each function makes one run and returns its counts under the names of the reference files' columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.backends.radio.mac import PoissonSources
from roambus.bridge.ini import parse_scenario
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import Line, NodeSettings
from roambus.bridge.scenario.radio import ChannelSettings, MacSettings, RadioSettings
from roambus.experiments.shipped import TEMPLATES
from roambus.experiments.templates.render import find_template, render
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.vocabulary import MILLISECOND, SECOND

Counts = dict[str, float]


def _cc2420() -> RadioSettings:
    template = find_template("field")
    run: dict[str, Scalar] = {"seed": 0, "agent": "beacon", "agent_parameters": ""}
    return parse_scenario(render(template, run), template, TEMPLATES).radio


CC2420 = _cc2420()
"""The radio of every reference scenario, mode `normal`."""

MAC = MacSettings(backoff_type=2)
"""The MAC of every reference scenario: back-offs grow with the busy results in a row."""

PAYLOAD_BYTES = 40
LINE_SPEED_MPS = 8
UPDATE_INTERVAL = 100 * MILLISECOND

SHADOWED = ChannelSettings()
MOBILE = ChannelSettings(only_static_nodes=False)
FLAT = ChannelSettings(sigma_db=0, bidirectional_sigma_db=0)


class Conditions(NamedTuple):
    """The settings of a run besides its group's values."""

    seconds: int
    channel: ChannelSettings
    seed: int


def pair(distance_m: float, payload: int, rate_per_s: float, conditions: Conditions) -> Counts:
    """Two static nodes, the first sends."""
    nodes = tuple(NodeSettings(position=(x, 0.0)) for x in (0.0, distance_m))
    return _run(_scenario(nodes, max(distance_m, 1.0), conditions), PoissonSources((rate_per_s, 0), payload))


def static_field(nodes: int, side_m: float, rate_per_s: float, conditions: Conditions) -> Counts:
    """Static nodes placed uniformly, all send."""
    return _run(static_scenario(nodes, side_m, conditions), PoissonSources(rate_per_s, PAYLOAD_BYTES))


def static_scenario(nodes: int, side_m: float, conditions: Conditions) -> Scenario:
    """Static nodes placed uniformly."""
    return _scenario((NodeSettings(),) * nodes, side_m, conditions)


def line_field(nodes: int, side_m: float, rate_per_s: float, conditions: Conditions) -> Counts:
    """Nodes that go to and fro between two uniform places each, all send."""
    ends = np.random.default_rng(conditions.seed).uniform(0, side_m, (nodes, 2)).tolist()
    settings = tuple(NodeSettings(mobility=Line(x, y, LINE_SPEED_MPS, UPDATE_INTERVAL)) for x, y in ends)
    return _run(_scenario(settings, side_m, conditions), PoissonSources(rate_per_s, PAYLOAD_BYTES))


def _scenario(nodes: Sequence[NodeSettings], side_m: float, conditions: Conditions) -> Scenario:
    seconds, channel, seed = conditions
    return Scenario(seed, seconds * SECOND, (side_m, side_m), channel, CC2420, MAC, tuple(nodes))


def _run(scenario: Scenario, sources: PoissonSources) -> Counts:
    backend = RadioBackend(scenario, sources)
    backend.open()
    backend.advance((), None)
    rssi, lqi = backend.mean_levels()
    counts: Counts = {name: sum(values) for name, values in backend.close().counts.items()}
    return counts | {"sent": counts["offered"], "mean_rssi_dbm": rssi, "mean_lqi_db": lqi}
