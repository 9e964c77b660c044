"""The study of what holds on a slow channel: delivery, delay and messages over size and speed, and the ablations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from roambus.experiments.figures.plans import Plan, agent_lines, cut
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.studies.study import Study, StudySweep
from roambus.experiments.studies.tuned.changes import change_plans, tables_of
from roambus.experiments.studies.tuned.claims import MOVING_CLAIMS, STATIC_CLAIMS
from roambus.experiments.studies.tuned.places import CONFIG, CUT_SPEED, LARGEST, SPEED
from roambus.spark.metrics import catalogue as c

_METRICS = (c.DELIVERY_RATE_ALL, c.MESSAGES_PER_NODE, c.DELAY_MEAN_S, c.HOPS_MEAN, c.ENERGY_PER_NODE_MJ)
_SHORT = {"time_limit": "120", "publish_until": "80"}
"""Of quick runs, in s: enough for a tree and for routes."""


def moving_plans(measured: Measurements) -> Iterator[Plan]:
    """Each metric over sizes at the thesis' speed, and over speeds at the largest size."""
    speed, config = cut(measured, SPEED, CUT_SPEED), cut(measured, CONFIG, LARGEST)
    for metric in _METRICS:
        name, title = metric.replace("_", "-"), measured.title(metric)
        by_size, by_speed = agent_lines(measured, {SPEED: speed}), agent_lines(measured, {CONFIG: config})
        yield Plan(f"{name}-by-size", f"{title} at {speed} m/s", metric, CONFIG, by_size)
        yield Plan(f"{name}-by-speed", f"{title} at {config}", metric, SPEED, by_speed)


def static_plans(measured: Measurements) -> Iterator[Plan]:
    """Each metric over sizes where nothing moves, and the migrations that there are all the same."""
    for metric in (*_METRICS, c.MIGRATIONS):
        name, title = metric.replace("_", "-"), measured.title(metric)
        yield Plan(f"static-{name}", f"{title}, nothing moves", metric, CONFIG, agent_lines(measured, {}))


STUDY = Study(
    name="tuned",
    title="Protocols made for a slow channel",
    source="docs/tuned.md",
    sweeps=(
        StudySweep(
            "tuned",
            moving_plans,
            MOVING_CLAIMS,
            quick={"config": "C2,C8", "speed": "2,8", **_SHORT},
            quick_seeds=2,
        ),
        StudySweep(
            "tuned-static",
            static_plans,
            STATIC_CLAIMS,
            quick={"config": "C16", **_SHORT},
            quick_seeds=2,
        ),
        *(
            StudySweep(
                f"tuned-{protocol}-changes",
                partial(change_plans, protocol=protocol),
                tables=partial(tables_of, protocol),
                quick={"config": "C16", **_SHORT},
                quick_seeds=2,
            )
            for protocol in ("mft", "aodv")
        ),
    ),
    notes=(
        "The delivery rate is that over all that was wanted, which is the same denominator for every protocol. How the "
        "tuned profiles are derived is said in docs/tuned.md. In the static sweep the first minute is left out.",
    ),
)
