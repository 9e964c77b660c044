"""Metrics of the notifications that brokers store for absent clients, and deliver to them, from traces alone."""

from __future__ import annotations

import math

import pandas as pd

from roambus.bridge.trace import schema
from roambus.spark.metrics.catalogue import Scale, mean, metric, over, share
from roambus.spark.metrics.extra import Extra
from roambus.spark.metrics.run import Run, billionths, difference_s, once, pairs_during


@metric("stored, mean")
def stored_mean(run: Run) -> float:
    """Notifications that brokers store for subscribers, mean over time."""
    end_ns, changes = int(billionths(run.end_s)), _changes(run)
    return over(int((changes * (end_ns - changes.index)).sum()), end_ns if _is_noted(run) else 0)


@metric("stored, at most")
def stored_peak(run: Run) -> float:
    """The most notifications that brokers store for subscribers at any time."""
    return _changes(run).cumsum().max() if _is_noted(run) else math.nan


@metric("delivered of what was missed", scale=Scale.SHARE)
def handed_over(run: Run) -> float:
    """Of what was published while its subscriber was away, announced, the share delivered in the end."""
    return share(pairs_during(run, run.absences)["delivered_s"].notna())


@metric("catching up", "s")
def catch_up_s(run: Run) -> float:
    """Time from a subscriber's return to the delivery of what it had missed, mean."""
    pairs = pairs_during(run, run.absences)
    late_s = difference_s(pairs["delivered_s"], pairs["back_s"])
    return mean(late_s[late_s > 0])


def _is_noted(run: Run) -> bool:
    """Whether any agent notes its storage."""
    return bool((_changes(run).cumsum() > 0).any())


@once
def _changes(run: Run) -> pd.Series[int]:
    """Return the change of all storage at each instant (ns), without entries that come and go at once.

    A notification stored for two subscribers counts twice.
    """
    place = [schema.NODE, schema.NOTIFICATION_ID, schema.PEER]
    rows = run.rows(schema.STORE, schema.REPLAY, schema.DROP)
    kept = (rows[schema.EVENT] == schema.STORE).astype(int)
    at = [*(rows[name] for name in place), billionths(rows[schema.TIME_S])]
    states = kept.groupby(at, dropna=False).min()
    before = states.groupby(place, dropna=False).shift(1, fill_value=0)
    return (states - before).groupby(schema.TIME_S).sum()


RETURNING = Extra((stored_mean, stored_peak, handed_over, catch_up_s))
"""The study's own metrics."""
STORED_MEAN, STORED_PEAK = stored_mean.column, stored_peak.column
HANDED_OVER, CATCH_UP_S = handed_over.column, catch_up_s.column
