"""The claims of the paper on replicated brokers on costs and failures, each with one reading.

The paper has no measurements. Costs compare two agents that differ in one thing, at equal seeds. *Remains operational*:
no event is lost or duplicated. *Harder to detect* and *nothing waits* are about the longest delay: a mean would hide a
gap. The three time-outs of section 6.4 are tested between two bounds. Property tests cover other instants of failures.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.claims import (
    ClaimTest,
    Comparison,
    Part,
    Place,
    Side,
    at_each,
    between,
    difference,
    make_part,
    slope_over,
    value,
)
from roambus.experiments.measurements import Measurements, by_seed
from roambus.extensions.replicated.study.metrics import (
    EVENT_MESSAGES,
    LATE_PER_CENT,
    LATE_S,
    LONGEST_DELAY_S,
    SITE_MESSAGES,
)
from roambus.python_protocol.simtime import parse_time, to_seconds
from roambus.spark.metrics import catalogue

FLOODING, FILTERING, UPDATES = {AGENT: "flooding"}, {AGENT: "filtering"}, {AGENT: "filtering-updates"}
"""The sweep on routing; the third is filtering as its authors implemented it (section 7)."""
NONE, FIFO, TOTAL = "none", "fifo", "total"
"""The agents of the other sweeps, by order."""
SEQUENCER_FREEZE = "sequencer-freeze"
LEADER_FREEZE, LEADER_CRASH = {"fault": "leader-freeze"}, {"fault": "leader-crash"}
INTERESTED, SITES, FAULT, TIME_OUT = "interested", "sites", "fault", "time_out"
_DIGITS = 6
"""The decimals of a slope that count."""
_ALIKE = 0.005
"""The difference in messages per event that counts as none."""


def _filtering_saves(measured: Measurements) -> Iterator[Part]:
    """Yield a part for each share of interested sites below 1: at 1 every path leads to a subscriber."""
    saved = difference(SITE_MESSAGES, FILTERING, FLOODING)
    for share in measured.values(INTERESTED):
        if float(share) < 1:
            label = f"interested {share}: filtering minus flooding"
            yield make_part(label, saved(measured, {INTERESTED: share}), Side.BELOW)


def _wrong(measured: Measurements, place: Place) -> pd.Series[float]:
    """Return missing and surplus deliveries, added up."""
    expected, delivered = (by_seed(measured, metric, **place) for metric in (catalogue.EXPECTED, catalogue.DELIVERED))
    return expected - delivered + by_seed(measured, catalogue.duplicates.column, **place)


def _delay_per_time_out(measured: Measurements, _: Place) -> pd.Series[float]:
    """Return the longest delay's growth per time-out when a leader freezes.

    One time-out suspects, another of double length replaces. A slope leaves out link delays.
    """
    return slope_over(TIME_OUT, _seconds, LONGEST_DELAY_S, **LEADER_FREEZE)(measured, {}).round(_DIGITS)


def _seconds(time_out: str) -> float:
    return to_seconds(parse_time(time_out))


def _more_in_total_order(metric: str, label: str, **place: str) -> Comparison:
    """Claim that total order costs more than FIFO in runs of equal seeds."""
    more = difference(metric, {AGENT: TOTAL, **place}, {AGENT: FIFO, **place})
    return Comparison(label, more, Side.ABOVE)


ROUTING_CLAIMS = (
    ClaimTest(
        "In the filtering approach events only follow the path that leads to someone interested (section 3).",
        "Fewer messages from site to site per event than by flooding, at every share of interested sites below 1.",
        _filtering_saves,
    ),
    ClaimTest(
        "Update messages in place of renumbering have the same message overhead as the flooding approach (section 7).",
        f"As many messages from site to site per event as by flooding (to {_ALIKE}), whatever share is interested.",
        at_each(
            [INTERESTED],
            *between(
                "interested {interested}: filtering with updates minus flooding",
                difference(SITE_MESSAGES, UPDATES, FLOODING),
                -_ALIKE,
                _ALIKE,
            ),
        ),
    ),
)
ORDER_CLAIMS = (
    ClaimTest(
        "That the root is always the sequencer is a limitation in terms of performance (section 7): delay.",
        "A longer mean delay in total order than in FIFO, at every number of sites.",
        at_each([SITES], _more_in_total_order(catalogue.DELAY_MEAN_S, "{sites} sites: total order minus FIFO")),
    ),
    ClaimTest(
        "That the root is always the sequencer is a limitation in terms of performance (section 7): messages.",
        "More messages per event in total order than in FIFO, everything included, at every number of sites.",
        at_each([SITES], _more_in_total_order(EVENT_MESSAGES, "{sites} sites: total order minus FIFO")),
    ),
)
FAULT_CLAIMS = (
    ClaimTest(
        "A site remains operational in face of the failure of a single broker (section 6).",
        "Every event reaches every interested subscriber, once, whichever broker fails, how, and at every time-out.",
        at_each(
            [FAULT, TIME_OUT],
            Comparison("{fault}, time-out {time_out}: lost or delivered twice", _wrong, Side.BELOW, 0.5),
        ),
    ),
    ClaimTest(
        "A freeze is harder to detect than a crash (section 6.1).",
        "When a leader freezes, the longest delay is longer than when it crashes, at every time-out.",
        at_each(
            [TIME_OUT],
            Comparison(
                "time-out {time_out}: freeze minus crash (s)",
                difference(LONGEST_DELAY_S, LEADER_FREEZE, LEADER_CRASH),
                Side.ABOVE,
            ),
        ),
    ),
    ClaimTest(
        "The second time-out is the double of the first one (section 6.4).",
        "When a leader freezes, the longest delay grows by three time-outs a time-out (2.8 to 3.2).",
        at_each([], *between("longest delay per time-out", _delay_per_time_out, 2.8, 3.2)),
    ),
    ClaimTest(
        "A new leader is elected only if the unresponsive replica is the leader (section 6.5).",
        "When a replica fails, nothing waits for it: the longest delay is below the time-out.",
        at_each(
            {FAULT: ("replica-crash", "replica-freeze"), TIME_OUT: ()},
            Comparison(
                "{fault}, time-out {time_out}: longest delay (s)",
                value(LONGEST_DELAY_S),
                Side.BELOW,
                lambda place: _seconds(place[TIME_OUT]),
            ),
        ),
    ),
)
SITES_CLAIMS = (
    ClaimTest(
        "The system remains operational even if a broker fails at each site (section 3).",
        "Every event reaches every interested subscriber, once, in every order, if a broker of each site fails.",
        at_each(
            {FAULT: (), AGENT: (NONE, FIFO, TOTAL)},
            Comparison("{fault}, order {agent}: lost or delivered twice", _wrong, Side.BELOW, 0.5),
        ),
    ),
    ClaimTest(
        "That the root is always the sequencer is a limitation in terms of availability (section 7).",
        f"The root's leader freezes: more deliveries take over {LATE_S * 1000:.0f} ms in total order than in FIFO.",
        at_each(
            [],
            _more_in_total_order(
                LATE_PER_CENT,
                f"{SEQUENCER_FREEZE}: late deliveries in total order minus FIFO (%)",
                fault=SEQUENCER_FREEZE,
            ),
        ),
    ),
)
