"""Metrics of a mesh on LoRa: the channel's utilisation, and transmissions and airtime of a notification."""

from __future__ import annotations

import pandas as pd

from roambus.bridge.trace import schema
from roambus.spark.metrics.catalogue import over
from roambus.spark.metrics.extra import Extra
from roambus.spark.metrics.metric import Scale, metric
from roambus.spark.metrics.run import Run

HEARD = ("rx_no_interf", "rx_despite", "fail_no_interf", "fail_interf")
"""A radio's counters of the frames that were strong enough, and that it did not miss by sending itself."""
TRANSMITTED = "transmitted"
"""A radio's counter of the frames that it sent in the whole run."""


def counted(run: Run) -> pd.DataFrame:
    """Return a row for each node's radio with its counters."""
    rows = run.rows(schema.RADIO)
    counters = rows.assign(count=rows[schema.DETAIL].astype(float))
    return counters.pivot_table(index=schema.NODE, columns=schema.MESSAGE_TYPE, values="count")


@metric("channel utilisation", scale=Scale.LOGARITHMIC)
def channel_utilisation(run: Run) -> float:
    """Share of the time for which a node sends, or frames strong enough to be received last there, mean over nodes.

    Frames that overlap count each, so that it can be above 1. The trace counts sending from the warm-up on, and
    hearing in the whole run. So a frame after the warm-up counts as heard by as many nodes as the run's mean frame.
    """
    counters = counted(run)
    if schema.AIR_NS not in counters:
        return float("nan")
    sent_s = counters[schema.AIR_NS].sum() / 1e9
    heard_by = counters[[*HEARD]].sum().sum() / max(counters[TRANSMITTED].sum(), 1)
    return over(sent_s * (1 + heard_by), len(counters) * run.counted_s)


@metric("transmissions a notification", scale=Scale.LOGARITHMIC)
def transmissions(run: Run) -> float:
    """Frames that all radios send, over the notifications."""
    return over(float(run.nodes["air_frames"].sum()), len(run.publications))


@metric("airtime a notification", "s", scale=Scale.LOGARITHMIC)
def airtime_s(run: Run) -> float:
    """Seconds for which all radios send, over the notifications."""
    return over(run.arrays.air_s(), len(run.publications))


LORA = Extra((channel_utilisation, transmissions, airtime_s))
"""The study's own metrics."""
UTILISATION, TRANSMISSIONS, AIRTIME_S = channel_utilisation.column, transmissions.column, airtime_s.column
