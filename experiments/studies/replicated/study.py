"""The study of replicated brokers: flooding against filtering, what order costs, how long failures hold events up.

Each question has a sweep with figures, a table and claims of its own. The paper on replicated brokers has no
measurements: what it says of costs and failures is tested on ours.

1. *Routing*: what filtering saves over flooding depends on how many sites want an event, so that the share of them is
   the axis. At a share of 1 there is nothing to save.
2. *Order*: what the orders cost depends on the way to the sequencer, so that the number of sites is the axis. All sites
   are interested, and each publishes.
3. *Failures*: one publisher publishes every 20 ms. The longest delay of any event then says for how long there was no
   service, to within 20 ms, and the time-out is the axis, because a frozen leader is suspected after it.
4. *Sites*: a broker of each site fails, or the sequencer. There is no axis beside what fails: the question is whether
   anything is lost, and how much is late.

Links are ideal. The paper's are TCP connections between data centres, and over a radio the three brokers of a site
would be one node to the channel. Every table has what was expected, delivered and doubled where failures are the
question, so that a short delay of few deliveries cannot pass for a good one.
"""

from __future__ import annotations

from collections.abc import Iterator

from roambus.experiments.figures.figure import Line, Plan, plans_over
from roambus.experiments.measurements import Measurements, point_table_file
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

_ROUTING = (SITE_MESSAGES, SITE_BYTES, EVENT_MESSAGES, catalogue.DELAY_MEAN_S)
_ORDER = (EVENT_MESSAGES, catalogue.DELAY_MEAN_S)
_EVERYWHERE = (LATE_PER_CENT, LONGEST_DELAY_S, catalogue.EXPECTED, catalogue.DELIVERED, catalogue.DUPLICATES)
_FAULTS = (LONGEST_DELAY_S, catalogue.EXPECTED, catalogue.DELIVERED, catalogue.DUPLICATES)


def _fault_plans(measured: Measurements) -> Iterator[Plan]:
    """One figure with a line for each failure, because it is the lines that are to be compared."""
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
            plans_over(
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
            plans_over(SITES, _ORDER, "order-{metric}", "Order: {title}", "sites"),
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
            plans_over(
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
