"""Makes the comparison that the thesis lacks: more protocols beside its two, energy, cost by delivery, and unicast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from roambus.bridge.errors import UserError
from roambus.experiments.figures.plans import Plan, agent_lines, cut
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.studies.thesis.size_and_speed import CONFIG, SPEED, THESIS_CONFIG, THESIS_SPEED
from roambus.spark.aggregation.points import mean_points
from roambus.spark.metrics import catalogue as c
from roambus.spark.metrics.catalogue import Metric, Scale

NODES, INTERVAL = "nodes", "interval"
MESSAGES_PER_DELIVERY, ENERGY_PER_DELIVERY_MJ = "messages_per_delivery", "energy_per_delivery_mj"
COSTS = (
    Metric(
        MESSAGES_PER_DELIVERY,
        "messages per delivery",
        "Packets that all nodes handed to the network stack, over the pairs delivered.",
        scale=Scale.LOGARITHMIC,
    ),
    Metric(
        ENERGY_PER_DELIVERY_MJ,
        "energy per delivery",
        "Energy that all nodes used in the whole run, over the pairs delivered.",
        unit="mJ",
        scale=Scale.LOGARITHMIC,
    ),
)
"""What a delivery costs, computed from the metrics of every run."""


def joined(sweeps: Sequence[Measurements]) -> Measurements:
    """Sweeps over the same axes as one, with the cost of a delivery; an agent counts in the first one that has it.

    Raises UserError if they have different settings: runs of different lengths, say, cannot be compared.
    """
    first = sweeps[0].sweep.get("set")
    for other in sweeps[1:]:
        if other.sweep.get("set") != first:
            raise UserError(f"sweeps to compare have settings {first} and {other.sweep.get('set')}: give them the same")
    runs = pd.concat(_new_runs(sweeps), ignore_index=True)
    agents = {agent: None for sweep in sweeps for agent in sweep.agents}
    with_costs = _with_costs(runs)
    sweep = {**sweeps[0].sweep, "agents": agents}
    return Measurements(with_costs, mean_points(with_costs), sweep, metrics=(*sweeps[0].metrics, *COSTS))


def _new_runs(sweeps: Sequence[Measurements]) -> Iterator[pd.DataFrame]:
    known: set[str] = set()
    for sweep in sweeps:
        yield sweep.runs[~sweep.runs["agent"].isin(known)]
        known.update(sweep.agents)


def _with_costs(runs: pd.DataFrame) -> pd.DataFrame:
    """Adds what all nodes of a run send and use, over what is delivered; nothing where nothing is delivered."""
    delivered = runs[c.DELIVERED].where(runs[c.DELIVERED] > 0)
    nodes = runs[c.MESSAGES] / runs[c.MESSAGES_PER_NODE]
    energy = runs[c.ENERGY_PER_NODE_MJ] * nodes / delivered
    return runs.assign(**{MESSAGES_PER_DELIVERY: runs[c.MESSAGES] / delivered, ENERGY_PER_DELIVERY_MJ: energy})


def plan_by_size(measured: Measurements, metric: str) -> Plan:
    """The metric over the thesis' sizes at the speed of its figures, with a line for each agent."""
    speed = cut(measured, SPEED, THESIS_SPEED)
    return _plan(metric, f" at {speed} m/s", CONFIG, measured, {SPEED: speed})


def plan_by_speed(measured: Measurements, metric: str) -> Plan:
    """The metric over the thesis' speeds at the size of figure 4.5b, with a line for each agent."""
    config = cut(measured, CONFIG, THESIS_CONFIG)
    return _plan(metric, f" at {config}", SPEED, measured, {CONFIG: config})


def plan_unicast(measured: Measurements, metric: str, interval: str) -> Plan:
    """The metric over the number of nodes, each of which sends every `interval` seconds; a line for each agent."""
    return _plan(metric, f", a message every {interval} s", NODES, measured, {INTERVAL: interval})


def _plan(metric: str, where: str, x: str, measured: Measurements, place: dict[str, str]) -> Plan:
    title = measured.title(metric)
    return Plan(
        name=metric,
        title=f"{title[0].upper()}{title[1:]}{where}",
        metric=metric,
        x=x,
        lines=agent_lines(measured, place),
    )
