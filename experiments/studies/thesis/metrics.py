"""Metrics of a MAC that acknowledges: what its radio counted, over the frames that it was offered."""

from __future__ import annotations

import pandas as pd

from roambus.bridge.trace import schema
from roambus.spark.metrics.catalogue import over
from roambus.spark.metrics.extra import Extra
from roambus.spark.metrics.metric import Scale, metric
from roambus.spark.metrics.run import Run, once


@metric("acknowledgements a frame")
def mac_acknowledgements(run: Run) -> float:
    """Acknowledgements that MACs sent, for each frame that they were offered."""
    return _for_each_offered(run, "acknowledgements")


@metric("retransmissions a frame")
def mac_retransmissions(run: Run) -> float:
    """Retransmissions by MACs, for each frame that they were offered."""
    return _for_each_offered(run, "retransmissions")


@metric("not acknowledged", scale=Scale.SHARE)
def mac_unacknowledged(run: Run) -> float:
    """The share of frames given up without an acknowledgement after the last retry."""
    return _for_each_offered(run, "unacknowledged")


@metric("channel access failures", scale=Scale.SHARE)
def mac_access_failures(run: Run) -> float:
    """The share of frames given up because the channel stayed busy."""
    return _for_each_offered(run, "access_failures")


def _for_each_offered(run: Run, count: str) -> float:
    """Return one of the MACs' counts over the frames offered; NaN for a MAC that does not count it."""
    counts = _counts(run)
    return over(counts.get(count, float("nan")), counts.get("offered", 0))


@once
def _counts(run: Run) -> pd.Series[float]:
    rows = run.rows(schema.RADIO)
    return pd.to_numeric(rows[schema.DETAIL]).groupby(rows[schema.MESSAGE_TYPE].astype(str)).sum()


ACKNOWLEDGING = Extra((mac_acknowledgements, mac_retransmissions, mac_unacknowledged, mac_access_failures))
"""The own metrics of the study `thesis-acknowledged`."""
