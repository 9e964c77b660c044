"""The study of replicated brokers: flooding against filtering, the cost of order, and delays by failures.

- *Routing* over the share of interested sites.
- *Order* over the number of sites: it depends on the way to the sequencer.
- *Failures* over the time-out, an event every 20 ms: the longest delay shows the outage.
- *Sites*: a broker of each site fails, or the sequencer.

Links are ideal: the paper's are TCP between data centres. Tables of failures show losses and duplicates, so that short
delays of few deliveries do not look good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from roambus.experiments.figures.figure import Line, Plan, agent_lines, slug
from roambus.experiments.measurements import Measurements, point_table_file
from roambus.experiments.studies.study import Study, StudySweep
from roambus.extensions.replicated.study.claims import (
    FAULT,
    FAULT_CLAIMS,
    INTERESTED,
    ORDER_CLAIMS,
    ROUTING_CLAIMS,
    SITES,
    SITES_CLAIMS,
    TIME_OUT,
)
from roambus.extensions.replicated.study.metrics import (
    EVENT_MESSAGES,
    EXTRA,
    LATE_PER_CENT,
    LONGEST_DELAY_S,
    SITE_BYTES,
    SITE_MESSAGES,
)
from roambus.spark.metrics import catalogue

_ROUTING = (SITE_MESSAGES, SITE_BYTES, EVENT_MESSAGES, catalogue.DELAY_MEAN_S)
_ORDER = (EVENT_MESSAGES, catalogue.DELAY_MEAN_S)
_EVERYWHERE = (LATE_PER_CENT, LONGEST_DELAY_S, catalogue.EXPECTED, catalogue.DELIVERED, catalogue.duplicates.column)
_FAULTS = (LONGEST_DELAY_S, catalogue.EXPECTED, catalogue.DELIVERED, catalogue.duplicates.column)


def _plans_over(
    x: str, metrics: Sequence[str], name: str, title: str, x_title: str = ""
) -> Callable[[Measurements], Iterator[Plan]]:
    """Plan a figure for each metric over one axis; names hold {metric} and {title}."""

    def plans(measured: Measurements) -> Iterator[Plan]:
        for metric in metrics:
            called, titled = name.format(metric=slug(metric)), title.format(title=measured.title(metric))
            yield Plan(called, titled, metric, x, agent_lines(measured, {}), x_title=x_title)

    return plans


def _fault_plans(measured: Measurements) -> Iterator[Plan]:
    """Plan a figure with a line for each failure."""
    lines = [Line(fault, {FAULT: fault}) for fault in measured.values(FAULT)]
    title = "A broker fails: the longest delay of any event"
    yield Plan("faults-longest-delay", title, LONGEST_DELAY_S, TIME_OUT, lines, x_title="time-out")


STUDY = Study(
    name="replicated",
    title="Replicated brokers",
    source="the paper",
    sweeps=(
        StudySweep(
            "replicated-routing",
            _plans_over(
                INTERESTED, _ROUTING, "routing-{metric}", "Flooding and filtering: {title}", "share of interested sites"
            ),
            ROUTING_CLAIMS,
            extra=EXTRA,
            tables=point_table_file("routing.md", _ROUTING),
            quick={"interested": "0,0.5,1", "sites": "7"},
            quick_seeds=3,
        ),
        StudySweep(
            "replicated-order",
            _plans_over(SITES, _ORDER, "order-{metric}", "Order: {title}", "sites"),
            ORDER_CLAIMS,
            extra=EXTRA,
            tables=point_table_file("order.md", _ORDER),
            quick={"sites": "3,7"},
            quick_seeds=3,
        ),
        StudySweep(
            "replicated-faults",
            _fault_plans,
            FAULT_CLAIMS,
            extra=EXTRA,
            tables=point_table_file("faults.md", _FAULTS),
            quick={"sites": "3", "time_out": "50ms,200ms", "publish_until": "5"},
            quick_seeds=3,
        ),
        StudySweep(
            "replicated-sites",
            _plans_over(
                FAULT,
                [LATE_PER_CENT],
                "sites-late",
                "A broker of each site fails, or the sequencer: late deliveries",
                "what fails",
            ),
            SITES_CLAIMS,
            extra=EXTRA,
            tables=point_table_file("sites.md", _EVERYWHERE),
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
