"""What brokers store, and what becomes of what was published while its subscriber was away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession

from roambus.experiments.studies.returning.study import CATCH_UP_S, HANDED_OVER, RETURNING, STORED_MEAN, STORED_PEAK
from roambus.python_protocol.actions import ATTACH, DETACH, DROP, REPLAY, STORE
from roambus.spark.aggregation.aggregate import aggregate
from tests.spark.synthetic import Row, deliver, publish, write_trace


def note(time_s: float, node: int, event: str, notification: str | None = None, peer: int | None = None) -> Row:
    return {"time_s": time_s, "node": node, "event": event, "notification_id": notification, "peer": peer}


STORAGE = [
    note(2.0, 7, STORE, "0.0", 1),
    note(2.0, 7, STORE, "0.0", 2),
    note(4.0, 7, REPLAY, "0.0", 1),
    note(5.0, 7, STORE, "0.1", 1),
    note(5.0, 7, REPLAY, "0.1", 1),
    note(6.0, 8, STORE, "0.0", 1),
    note(8.0, 7, DROP, "0.0", 2),
    note(9.0, 7, REPLAY, "0.2", 1),
    note(10.0, 8, REPLAY, "0.0", 1),
]
"""One at 2 s for two subscribers; gone at 4 s and 8 s; one at another broker from 6 s to the end, 10 s."""
AWAY = [
    publish(1.0, 0, "0.0", [1, 2]),
    deliver(1.1, 1, "0.0", 1),
    note(2.0, 1, DETACH),
    publish(3.0, 0, "0.1", [1, 2]),
    publish(4.0, 0, "0.2", [1]),
    note(5.0, 1, ATTACH),
    deliver(5.5, 1, "0.1", 1),
    deliver(6.0, 1, "0.1", 1),
    publish(7.0, 0, "0.3", [1]),
    note(9.0, 2, DETACH),
]
"""Node 1 misses two and gets one of them; node 2 never returns."""


def test_metrics_of_clients_that_return(tmp_path: Path, session: SparkSession) -> None:
    """Storage adds up over brokers and subscribers; only absences that end count."""
    write_trace(tmp_path, "agent=a/seed=0", STORAGE)
    write_trace(tmp_path, "agent=a/seed=1", [*AWAY, note(9.0, 7, DROP, "0.2", 1)])
    assert aggregate(tmp_path, extra=RETURNING) == []
    table = pd.read_csv(tmp_path / "metrics" / "runs.csv")[[STORED_MEAN, STORED_PEAK, HANDED_OVER, CATCH_UP_S]]
    stored, away = table.to_numpy().tolist()
    np.testing.assert_equal(stored, [(2 + 6 + 4) / 10, 2, np.nan, np.nan])
    np.testing.assert_equal(away, [np.nan, np.nan, 0.5, 0.5])
