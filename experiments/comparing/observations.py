"""What single notifications did: read from the traces of runs, for figures that show more than means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from roambus.bridge.trace.reader import read_batches
from roambus.bridge.trace.schema import (
    DELIVER,
    DETAIL,
    EVENT,
    LIST_SEPARATOR,
    NODE,
    NOTIFICATION_ID,
    PUBLISH,
    TIME_S,
)
from roambus.spark.aggregation.traces import Trace

_COLUMNS = [TIME_S, NODE, EVENT, NOTIFICATION_ID, DETAIL]


@dataclass(frozen=True, slots=True)
class Observed:
    """The first deliveries of one run, as metrics count them: of notifications to those that were to get them.

    `delivered_s` is when each was, `delay_s` how long after it was published; `expected` is how many there were to be.
    """

    delivered_s: NDArray[np.float64]
    delay_s: NDArray[np.float64]
    expected: int
    end_s: float


def observe(trace: Trace) -> Observed:
    """Reads the deliveries of a run; raises DamagedTraceError."""
    parts, end_s = [], 0.0
    for batch in read_batches(trace.file):
        end_s = max(end_s, pc.max(batch[TIME_S]).as_py() or 0.0)
        wanted = pc.is_in(batch[EVENT].cast(pa.string()), pa.array([PUBLISH, DELIVER]))
        parts.append(batch.select(_COLUMNS).filter(wanted).to_pandas())
    rows = pd.concat(parts) if parts else pd.DataFrame(columns=_COLUMNS)
    return _pairs(rows[rows[TIME_S] >= trace.warm_up_s], end_s)


def _pairs(rows: pd.DataFrame, end_s: float) -> Observed:
    key = [NOTIFICATION_ID, NODE]
    published = rows[rows[EVENT] == PUBLISH].assign(**{NODE: lambda table: table[DETAIL].map(_listed)}).explode(NODE)
    wanted = published.dropna(subset=[NODE]).astype({NODE: "int64"}).groupby(key)[TIME_S].min()
    delivered = rows[rows[EVENT] == DELIVER].astype({NODE: "int64"}).groupby(key)[TIME_S].min()
    both = pd.concat({"published": wanted, "delivered": delivered}, axis=1).dropna().sort_values("delivered")
    times = both["delivered"].to_numpy(dtype=float)
    return Observed(times, times - both["published"].to_numpy(dtype=float), len(wanted), end_s)


def _listed(detail: object) -> list[int]:
    return [int(word) for word in str(detail or "").split(LIST_SEPARATOR) if word.isdecimal()]


def distribution(runs: Sequence[Observed]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Delays, and the share of all expected deliveries that was made within each: it ends at the delivery rate."""
    delays = np.sort(np.concatenate([run.delay_s for run in runs]))
    shares = np.arange(1, len(delays) + 1) / max(sum(run.expected for run in runs), 1)
    kept = np.unique(np.linspace(0, len(delays) - 1, min(len(delays), _MOST_POINTS)).astype(int))
    return delays[kept], shares[kept]


_MOST_POINTS = 1000
"""Of a curve: more of them no picture shows."""
_BINS = 30


def over_time(runs: Sequence[Observed]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The middles of thirty equal spans of time, and the deliveries per second in each: the mean of the runs."""
    end_s = max(run.end_s for run in runs) or 1.0
    edges = np.linspace(0, end_s, _BINS + 1)
    counts: Iterable[NDArray[np.int64]] = (np.histogram(run.delivered_s, edges)[0] for run in runs)
    return (edges[:-1] + edges[1:]) / 2, np.mean(list(counts), axis=0) / (end_s / _BINS)
