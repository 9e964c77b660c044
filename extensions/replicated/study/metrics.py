"""The metrics of the study of replicated brokers, from traces alone.

Messages and bytes count from the first event on, divided by events.
"""

from __future__ import annotations

import pandas as pd

from roambus.bridge.trace import schema
from roambus.spark.metrics.catalogue import over
from roambus.spark.metrics.extra import Extra
from roambus.spark.metrics.metric import metric
from roambus.spark.metrics.run import Run, once

LATE_S = 0.05
"""A delivery that takes longer is late: half of the time-out."""


@metric("messages per event")
def messages_per_event(run: Run) -> float:
    """Packets of all nodes from the first event on, everything included, over the number of events."""
    return over(len(_sent(run)), _events(run))


@metric("messages between sites per event")
def site_messages_per_event(run: Run) -> float:
    """Events and updates from site to site, over the number of events."""
    return over(len(_between_sites(run)), _events(run))


@metric("bytes between sites per event")
def site_bytes_per_event(run: Run) -> float:
    """Bytes of events and updates from site to site, without headers, over the number of events."""
    return over(_between_sites(run)[schema.BYTES].sum(), _events(run))


@metric("longest delay", "s")
def longest_delay_s(run: Run) -> float:
    """The longest time that any event took until a subscriber had it."""
    return _delays_s(run).max()


@metric("late deliveries", "%")
def late_per_cent(run: Run) -> float:
    """The share of deliveries that took longer than 50 ms."""
    late = _delays_s(run) > LATE_S
    return over(100 * late.sum(), len(late))


def _events(run: Run) -> int:
    """Return the number of events."""
    return len(run.publications) if len(_sent(run)) else 0


@once
def _sent(run: Run) -> pd.DataFrame:
    """Return the packets from the first event on."""
    sent = run.rows(schema.SEND)
    since: pd.DataFrame = sent[sent[schema.TIME_S] >= run.publications[schema.TIME_S].min()]
    return since


@once
def _between_sites(run: Run) -> pd.DataFrame:
    """Return rows from site to site; within a site events travel inside other messages."""
    roles = run.rows(schema.ROLE)
    brokers, sent = roles[schema.NODE][roles[schema.DETAIL] == "broker"], _sent(run)
    is_between = sent[schema.NODE].isin(brokers) & sent[schema.PEER].isin(brokers)
    return sent[is_between & sent[schema.MESSAGE_TYPE].isin(["EVENT", "UPDATE"])]


@once
def _delays_s(run: Run) -> pd.Series[float]:
    """Return the time of each delivery, repeated ones included."""
    both = run.deliveries.merge(run.publications, on=schema.NOTIFICATION_ID, suffixes=("", "_published"))
    return both[schema.TIME_S] - both[f"{schema.TIME_S}_published"]


EXTRA = Extra((messages_per_event, site_messages_per_event, site_bytes_per_event, longest_delay_s, late_per_cent))
SITE_MESSAGES, SITE_BYTES = site_messages_per_event.column, site_bytes_per_event.column
EVENT_MESSAGES = messages_per_event.column
LONGEST_DELAY_S, LATE_PER_CENT = longest_delay_s.column, late_per_cent.column
