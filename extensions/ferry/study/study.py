"""The study of ferries: delivery, delay, cost and metres over the number of ferries, their speed and the traffic."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from roambus.experiments.figures.figure import Plan, agent_lines, slug
from roambus.experiments.measurements import Measurements, point_table_file
from roambus.experiments.studies.study import Study, StudySweep
from roambus.extensions.ferry.study.claims import CLAIMS, CRASH, CRASH_CLAIMS, FERRIES, SPEED, TRAFFIC
from roambus.extensions.ferry.study.metrics import (
    BYTES_A_DELIVERY,
    FERRY,
    LONGEST_QUEUE,
    METRES_FLOWN,
    QUIET_DELAY,
)
from roambus.spark.metrics.catalogue import DELAY_MEAN_S, DELIVERY_RATE_ALL

_SHOWN = (DELIVERY_RATE_ALL, DELAY_MEAN_S, METRES_FLOWN, BYTES_A_DELIVERY, LONGEST_QUEUE, QUIET_DELAY)


def ferry_plans(measured: Measurements) -> Iterator[Plan]:
    """Plan each metric over the number of ferries, for each speed and traffic."""
    for shown, speed, traffic in itertools.product(_SHOWN, measured.values(SPEED), measured.values(TRAFFIC)):
        title = f"{measured.heading(shown)}: {speed} m/s, {traffic} traffic"
        lines = agent_lines(measured, {SPEED: speed, TRAFFIC: traffic})
        yield Plan(f"{slug(shown)}-speed-{speed}-{traffic}", title, shown, FERRIES, lines)


def crash_plans(measured: Measurements) -> Iterator[Plan]:
    """Plan delivery without and with a crash."""
    title = f"{measured.heading(DELIVERY_RATE_ALL)}: one of two ferries crashes"
    yield Plan("delivery-crash", title, DELIVERY_RATE_ALL, CRASH, agent_lines(measured, {}))


STUDY = Study(
    name="ferry",
    title="Ferries between islands",
    source="Zhao, Ammar and Zegura (2004), and Shah et al. (2003)",
    sweeps=(
        StudySweep(
            "ferry",
            ferry_plans,
            CLAIMS,
            extra=FERRY,
            tables=point_table_file("ferry.md", _SHOWN),
            quick={FERRIES: "1,4", SPEED: "5,10", "time_limit": "200", "publish_until": "100"},
            quick_seeds=2,
        ),
        StudySweep(
            "ferry-crash",
            crash_plans,
            CRASH_CLAIMS,
            extra=FERRY,
            tables=point_table_file("ferry-crash.md", _SHOWN),
            quick={"time_limit": "300", "publish_until": "200"},
            quick_seeds=2,
        ),
    ),
    notes=(
        "Sixteen nodes stand on four islands, at the corners of a square of 120 m, out of each other's range. Each "
        "publishes until 450 s, and wants the notifications of one other island. Links are ideal. Carriers of epidemic "
        "routing roam by random waypoint, without pauses, at the speed of the ferries.",
    ),
)
