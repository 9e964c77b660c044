"""The study of replicated brokers: flooding against filtering, what order costs, how long failures hold events up.

Each question has a sweep with figures, a table and claims of its own. The paper on replicated brokers has no
measurements: what it says of costs and failures is tested on ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from roambus.experiments.figures.figure import Line, Plan, agent_lines
from roambus.experiments.measurements import Measurements, point_table
from roambus.experiments.studies.replicated.claims import (
    FAULT,
    FAULT_CLAIMS,
    INTERESTED,
    ORDER_CLAIMS,
    ROUTING_CLAIMS,
    SITES,
    SITES_CLAIMS,
    TIME_OUT,
)
from roambus.experiments.studies.replicated.metrics import (
    EVENT_MESSAGES,
    EXTRA,
    LATE_PER_CENT,
    LONGEST_DELAY_S,
    SITE_BYTES,
    SITE_MESSAGES,
)
from roambus.experiments.studies.study import Study, StudySweep
from roambus.spark.metrics import catalogue

_SHARE_TITLE, _SITES_TITLE, _TIME_OUT_TITLE = "share of interested sites", "sites", "time-out"
_ROUTING = (SITE_MESSAGES, SITE_BYTES, EVENT_MESSAGES, catalogue.DELAY_MEAN_S)
_ORDER = (EVENT_MESSAGES, catalogue.DELAY_MEAN_S)
_EVERYWHERE = (LATE_PER_CENT, LONGEST_DELAY_S, catalogue.EXPECTED, catalogue.DELIVERED, catalogue.DUPLICATES)
_FAULTS = (LONGEST_DELAY_S, catalogue.EXPECTED, catalogue.DELIVERED, catalogue.DUPLICATES)


def _routing_plans(measured: Measurements) -> Iterator[Plan]:
    lines = agent_lines(measured, {})
    for metric in _ROUTING:
        title = f"Flooding and filtering: {measured.title(metric)}"
        yield Plan(f"routing-{metric.replace('_', '-')}", title, metric, INTERESTED, lines, x_title=_SHARE_TITLE)


def _order_plans(measured: Measurements) -> Iterator[Plan]:
    lines = agent_lines(measured, {})
    for metric in _ORDER:
        title = f"Order: {measured.title(metric)}"
        yield Plan(f"order-{metric.replace('_', '-')}", title, metric, SITES, lines, x_title=_SITES_TITLE)


def _fault_plans(measured: Measurements) -> Iterator[Plan]:
    lines = [Line(fault, {FAULT: fault}) for fault in measured.values(FAULT)]
    title = "A broker fails: the longest delay of any event"
    yield Plan("faults-longest-delay", title, LONGEST_DELAY_S, TIME_OUT, lines, x_title=_TIME_OUT_TITLE)


def _sites_plans(measured: Measurements) -> Iterator[Plan]:
    title = "A broker of each site fails, or the sequencer: late deliveries"
    yield Plan("sites-late", title, LATE_PER_CENT, FAULT, agent_lines(measured, {}), x_title="what fails")


def _routing_tables(measured: Measurements) -> Mapping[str, str]:
    return {"routing.md": point_table(measured, _ROUTING)}


def _order_tables(measured: Measurements) -> Mapping[str, str]:
    return {"order.md": point_table(measured, _ORDER)}


def _fault_tables(measured: Measurements) -> Mapping[str, str]:
    return {"faults.md": point_table(measured, _FAULTS)}


def _sites_tables(measured: Measurements) -> Mapping[str, str]:
    return {"sites.md": point_table(measured, _EVERYWHERE)}


STUDY = Study(
    name="replicated",
    title="Replicated brokers",
    source="the paper",
    sweeps=(
        StudySweep(
            "replicated-routing",
            _routing_plans,
            ROUTING_CLAIMS,
            extra=EXTRA,
            tables=_routing_tables,
            quick={"interested": "0,0.5,1", "sites": "7"},
            quick_seeds=3,
        ),
        StudySweep(
            "replicated-order",
            _order_plans,
            ORDER_CLAIMS,
            extra=EXTRA,
            tables=_order_tables,
            quick={"sites": "3,7"},
            quick_seeds=3,
        ),
        StudySweep(
            "replicated-faults",
            _fault_plans,
            FAULT_CLAIMS,
            extra=EXTRA,
            tables=_fault_tables,
            quick={"sites": "3", "time_out": "50ms,200ms", "publish_until": "5"},
            quick_seeds=3,
        ),
        StudySweep(
            "replicated-sites",
            _sites_plans,
            SITES_CLAIMS,
            extra=EXTRA,
            tables=_sites_tables,
            quick={"sites": "3", "publish_until": "5"},
            quick_seeds=3,
        ),
    ),
    notes=(
        "Sites are in a random tree, each tree as likely as any other, with three brokers, a publisher and a "
        "subscriber each. Links are ideal, of 1 ms. Messages between sites are what leaders send to leaders; messages "
        "per event are all: replicas that are informed, replies, and what goes to and from clients.",
        "The paper has no measurements. What it says of costs and failures is tested on ours.",
    ),
)
