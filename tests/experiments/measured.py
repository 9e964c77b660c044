"""Results of a sweep of the thesis' kind, made up without running or reading anything."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd

from roambus.bridge.runs.layout import METRICS_FOLDER, POINTS, RUNS, SWEEP_FILE
from roambus.experiments.measurements import Measurements
from roambus.experiments.studies.study import StudyOrigin, SweepResults, load_study
from roambus.spark.aggregation.aggregate import mean_points, write_tables
from roambus.spark.metrics import catalogue as c

Run = dict[str, Any]
CONFIGS, SPEEDS = ("C2", "C4", "C8", "C16", "C32"), ("2", "4", "6", "8", "10")


def plausible(agent: str, config: str, speed: str, seed: int) -> Run:
    """Numbers of the order that a radio network gives; the same for the same arguments."""
    random = Random(f"{agent}/{config}/{speed}/{seed}")
    size, mft = int(config[1:]), agent.startswith("mft")
    expected = 1000 * size
    attempted = round(expected * (0.9 if mft else 1.0) * random.uniform(0.9, 1.0))
    rate = 0.95 * size**-0.25 * random.uniform(0.9, 1.0) + (0.01 * float(speed) if mft else -0.01 * float(speed))
    delivered = round(attempted * rate)
    per_node = 3000 * random.uniform(0.9, 1.1) * (1 if mft else 0.3 * size**1.2)
    return {
        c.EXPECTED: expected,
        c.ATTEMPTED: attempted,
        c.DELIVERED: delivered,
        c.duplicates.column: 0,
        c.unexpected.column: 0,
        c.DELIVERY_RATE_THESIS: delivered / attempted,
        c.DELIVERY_RATE_ALL: delivered / expected,
        c.DELAY_MEAN_S: (2.0 if mft else 1.5) * size**0.5 * random.uniform(0.7, 1.3),
        c.HOPS_MEAN: 1 + math.log2(size) / 2 + random.uniform(0, 0.2) + (1 if config == "C4" and not mft else 0),
        c.HOPS_MAX: 3 + round(math.log2(size) * 2) + random.randrange(3),
        c.MESSAGES: round(per_node * (2 + 2 * size)),
        c.MESSAGES_PER_NODE: per_node,
        c.MESSAGES_PER_PUBLISHER: per_node * 0.6,
        c.MESSAGES_PER_SUBSCRIBER: per_node * 0.5,
        c.MESSAGES_PER_BROKER: per_node * 1.5,
        c.ENERGY_PER_NODE_MJ: 43000 + random.uniform(-50, 50) - per_node / 100,
        "sent_PUB": 4000,
        "sent_RREQ": 0 if mft else round(per_node),
    }


def measurements(
    make: Callable[[str, str, str, int], Run] = plausible,
    *,
    configs: Sequence[str] = CONFIGS,
    speeds: Sequence[str] = SPEEDS,
    seeds: int = 5,
    agents: Sequence[str] = ("mft", "aodv"),
) -> Measurements:
    """The sweep in which each run has the metrics that `make(agent, config, speed, seed)` gives."""
    runs = pd.DataFrame(
        {"agent": agent, "config": config, "speed": speed, "seed": seed, **make(agent, config, speed, seed)}
        for agent, config, speed, seed in itertools.product(agents, configs, speeds, range(seeds))
    )
    sweep = {
        "study": "thesis",
        "sweep": "thesis",
        "template": "thesis.ini.j2",
        "set": {"time_limit": 200, "publish_until": 150},
        "axes": {"config": list(configs), "speed": list(speeds)},
        "agents": {agent: [agent, {}] for agent in agents},
        "titles": {"mft": "MFT-PubSub", "aodv": "AODV"},
        "seeds": list(range(seeds)),
    }
    return Measurements(runs, mean_points(runs), sweep)


def of_thesis(measured: Measurements) -> SweepResults:
    """The same as results of the thesis' sweep."""
    study = load_study("thesis")
    return SweepResults(measured, StudyOrigin(study, study.sweeps[0]))


def write_measurements(measured: Measurements, results: Path) -> None:
    """Writes them where a sweep and its aggregation would."""
    write_tables(results / METRICS_FOLDER, {RUNS: measured.runs, POINTS: measured.points})
    (results / SWEEP_FILE).write_text(json.dumps(measured.sweep), encoding="utf-8")


QUICK = measurements(configs=("C2", "C4", "C8"), speeds=("2", "8"), seeds=3)
HOSTILE = "\"><script>alert('x')</script>&"


def hostile() -> Measurements:
    """A sweep in which an agent, a value of an axis and a message type are called `HOSTILE`."""

    def run(agent: str, config: str, speed: str, seed: int) -> Run:
        return {**plausible(agent, "C2", speed, seed), f"sent_{HOSTILE}": 1.0}

    return measurements(run, configs=("C2", HOSTILE), speeds=("2",), seeds=2, agents=("mft", HOSTILE))
