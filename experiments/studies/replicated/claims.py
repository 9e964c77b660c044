"""What the paper on replicated brokers says of costs and failures, each sentence with one reading that is tested."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from roambus.experiments.claims import ClaimTest, Part, Side, make_part
from roambus.experiments.measurements import Measurements, by_seed, slopes
from roambus.experiments.studies.replicated.metrics import (
    EVENT_MESSAGES,
    LATE_PER_CENT,
    LATE_S,
    LONGEST_DELAY_S,
    SITE_MESSAGES,
)
from roambus.python_protocol.simtime import parse_time, to_seconds
from roambus.spark.metrics import catalogue

FLOODING, FILTERING, UPDATES = "flooding", "filtering", "filtering-updates"
NONE, FIFO, TOTAL = "none", "fifo", "total"
SEQUENCER_FREEZE = "sequencer-freeze"
INTERESTED, SITES, FAULT, TIME_OUT = "interested", "sites", "fault", "time_out"
_DIGITS = 6
"""The decimals of a slope that count: what differs further behind comes from the computation."""
_ALIKE = 0.005
"""So many messages per event count as none."""


def _filtering_saves(measured: Measurements) -> Iterator[Part]:
    for share in measured.values(INTERESTED):
        if float(share) < 1:
            saved = _difference(measured, SITE_MESSAGES, FILTERING, FLOODING, **{INTERESTED: share})
            yield make_part(f"interested {share}: filtering minus flooding", saved, Side.BELOW)


def _updates_save_nothing(measured: Measurements) -> Iterator[Part]:
    for share in measured.values(INTERESTED):
        more = _difference(measured, SITE_MESSAGES, UPDATES, FLOODING, **{INTERESTED: share})
        label = f"interested {share}: filtering with updates minus flooding"
        yield make_part(label, more, Side.ABOVE, -_ALIKE)
        yield make_part(label, more, Side.BELOW, _ALIKE)


def _total_order_costs(metric: str, measured: Measurements) -> Iterator[Part]:
    for sites in measured.values(SITES):
        more = _difference(measured, metric, TOTAL, FIFO, **{SITES: sites})
        yield make_part(f"{sites} sites: total order minus FIFO", more, Side.ABOVE)


def _nothing_is_lost(measured: Measurements) -> Iterator[Part]:
    for fault in measured.values(FAULT):
        for time_out in measured.values(TIME_OUT):
            wrong = _wrong(measured, **{FAULT: fault, TIME_OUT: time_out})
            yield make_part(f"{fault}, time-out {time_out}: lost or delivered twice", wrong, Side.BELOW, 0.5)


def _nothing_is_lost_in_any_order(measured: Measurements) -> Iterator[Part]:
    for fault in measured.values(FAULT):
        for order in (NONE, FIFO, TOTAL):
            wrong = _wrong(measured, agent=order, **{FAULT: fault})
            yield make_part(f"{fault}, order {order}: lost or delivered twice", wrong, Side.BELOW, 0.5)


def _the_sequencer_holds_up_more(measured: Measurements) -> Iterator[Part]:
    more = _difference(measured, LATE_PER_CENT, TOTAL, FIFO, **{FAULT: SEQUENCER_FREEZE})
    yield make_part(f"{SEQUENCER_FREEZE}: late deliveries in total order minus FIFO (%)", more, Side.ABOVE)


def _freezes_are_harder(measured: Measurements) -> Iterator[Part]:
    for time_out in measured.values(TIME_OUT):
        freeze, crash = (
            by_seed(measured, LONGEST_DELAY_S, **{FAULT: fault, TIME_OUT: time_out})
            for fault in ("leader-freeze", "leader-crash")
        )
        yield make_part(f"time-out {time_out}: freeze minus crash (s)", freeze - crash, Side.ABOVE)


def _a_freeze_costs_three_time_outs(measured: Measurements) -> Iterator[Part]:
    time_outs = measured.values(TIME_OUT)
    table = pd.DataFrame(
        {one: by_seed(measured, LONGEST_DELAY_S, **{FAULT: "leader-freeze", TIME_OUT: one}) for one in time_outs}
    )
    slope = slopes(table.dropna(), [to_seconds(parse_time(one)) for one in time_outs]).round(_DIGITS)
    yield make_part("longest delay per time-out", slope, Side.ABOVE, 2.8)
    yield make_part("longest delay per time-out", slope, Side.BELOW, 3.2)


def _replicas_do_not_matter(measured: Measurements) -> Iterator[Part]:
    for fault in ("replica-crash", "replica-freeze"):
        for time_out in measured.values(TIME_OUT):
            delay = by_seed(measured, LONGEST_DELAY_S, **{FAULT: fault, TIME_OUT: time_out})
            limit = to_seconds(parse_time(time_out))
            yield make_part(f"{fault}, time-out {time_out}: longest delay (s)", delay, Side.BELOW, limit)


def _wrong(measured: Measurements, **place: str) -> pd.Series[float]:
    """The deliveries that are missing or too many."""
    expected, delivered = (by_seed(measured, metric, **place) for metric in (catalogue.EXPECTED, catalogue.DELIVERED))
    return expected - delivered + by_seed(measured, catalogue.DUPLICATES, **place)


def _difference(measured: Measurements, metric: str, first: str, second: str, **place: str) -> pd.Series[float]:
    return by_seed(measured, metric, agent=first, **place) - by_seed(measured, metric, agent=second, **place)


ROUTING_CLAIMS = (
    ClaimTest(
        "In the filtering approach events only follow the path that leads to someone interested (section 3).",
        "Fewer messages from site to site per event than by flooding, at every share of interested sites below 1.",
        _filtering_saves,
    ),
    ClaimTest(
        "Update messages in place of renumbering have the same message overhead as the flooding approach (section 7).",
        f"As many messages from site to site per event as by flooding (to {_ALIKE}), whatever share is interested.",
        _updates_save_nothing,
    ),
)
ORDER_CLAIMS = (
    ClaimTest(
        "That the root is always the sequencer is a limitation in terms of performance (section 7): delay.",
        "A longer mean delay in total order than in FIFO, at every number of sites.",
        lambda measured: _total_order_costs(catalogue.DELAY_MEAN_S, measured),
    ),
    ClaimTest(
        "That the root is always the sequencer is a limitation in terms of performance (section 7): messages.",
        "More messages per event in total order than in FIFO, everything included, at every number of sites.",
        lambda measured: _total_order_costs(EVENT_MESSAGES, measured),
    ),
)
FAULT_CLAIMS = (
    ClaimTest(
        "A site remains operational in face of the failure of a single broker (section 6).",
        "Every event reaches every interested subscriber, once, whichever broker fails, how, and at every time-out.",
        _nothing_is_lost,
    ),
    ClaimTest(
        "A freeze is harder to detect than a crash (section 6.1).",
        "When a leader freezes, the longest delay is longer than when it crashes, at every time-out.",
        _freezes_are_harder,
    ),
    ClaimTest(
        "The second time-out is the double of the first one (section 6.4).",
        "When a leader freezes, the longest delay grows by three time-outs a time-out (2.8 to 3.2).",
        _a_freeze_costs_three_time_outs,
    ),
    ClaimTest(
        "A new leader is elected only if the unresponsive replica is the leader (section 6.5).",
        "When a replica fails, nothing waits for it: the longest delay is below the time-out.",
        _replicas_do_not_matter,
    ),
)
SITES_CLAIMS = (
    ClaimTest(
        "The system remains operational even if a broker fails at each site (section 3).",
        "Every event reaches every interested subscriber, once, in every order, if a broker of each site fails.",
        _nothing_is_lost_in_any_order,
    ),
    ClaimTest(
        "That the root is always the sequencer is a limitation in terms of availability (section 7).",
        f"The root's leader freezes: more deliveries take over {LATE_S * 1000:.0f} ms in total order than in FIFO.",
        _the_sequencer_holds_up_more,
    ),
)
