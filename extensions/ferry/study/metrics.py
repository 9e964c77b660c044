"""Metrics of carriers: metres, bytes for a delivery, queues at islands, and the delay from quiet islands."""

from __future__ import annotations

import numpy as np
import pandas as pd

from roambus.bridge.trace import schema
from roambus.spark.metrics.catalogue import over
from roambus.spark.metrics.extra import Extra
from roambus.spark.metrics.metric import Kind, metric
from roambus.spark.metrics.run import Run
from roambus.spark.metrics.travel import travelled_m

FIRST_QUIET, FIRST_FERRY = 8, 16
"""Nodes of the template `islands`: those of quiet islands are from 8 on, ferries from 16 on."""


@metric("metres flown", "m")
def metres_flown(run: Run) -> float:
    """The metres that all nodes move together."""
    return float(travelled_m(run).sum())


@metric("bytes a delivery", "B")
def bytes_a_delivery(run: Run) -> float:
    """The bytes of all packets, without headers, over the pairs that were delivered."""
    return over(float(run.sends[schema.BYTES].sum()), int(run.pairs["delivered_s"].notna().sum()))


@metric("longest queue", kind=Kind.COUNT)
def longest_queue(run: Run) -> float:
    """The most notifications that ever waited at one node of an island."""
    rows = run.rows(schema.KEEP, schema.RELEASE, schema.DROP, schema.CRASH)
    is_own = rows[schema.MESSAGE_TYPE].isna()  # the drop of a packet empties no queue
    rows = rows[is_own & (rows[schema.NODE] < FIRST_FERRY)]
    is_crash = rows[schema.EVENT] == schema.CRASH
    change = pd.Series(np.where(rows[schema.EVENT] == schema.KEEP, 1, -1), index=rows.index)[~is_crash]
    life = is_crash.groupby(rows[schema.NODE]).cumsum()[~is_crash]  # a crash empties the queue, without rows
    waiting = change.groupby([rows[schema.NODE][~is_crash], life]).cumsum()
    instants = rows[[schema.NODE, schema.TIME_S]][~is_crash]
    longest = waiting[~instants.duplicated(keep="last")].max()  # an agent may keep one before it drops another
    return float(longest) if len(change) else 0.0


@metric("delay from quiet islands", "s")
def quiet_delay(run: Run) -> float:
    """The mean delay of notifications of the third and the fourth island."""
    pairs = run.pairs
    publisher = pairs[schema.NOTIFICATION_ID].str.split(".").str[0].astype(int)
    delays = pairs["delay_s"][publisher.between(FIRST_QUIET, FIRST_FERRY - 1)].dropna()
    return over(float(delays.sum()), len(delays))


FERRY = Extra((metres_flown, bytes_a_delivery, longest_queue, quiet_delay))
"""The study's own metrics."""
METRES_FLOWN, BYTES_A_DELIVERY = metres_flown.column, bytes_a_delivery.column
LONGEST_QUEUE, QUIET_DELAY = longest_queue.column, quiet_delay.column
