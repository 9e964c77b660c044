"""A run as metrics see it: pandas tables of its trace, without Spark.

A table is made of `roambus.spark.metrics.arrays` on first use; each caller gets a copy. Rows are in order of time (s).
A missing value is NaN, or None for a text. The warm-up is left out but for absences, energy, and a
node's last parent, which counts as its first.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from roambus.bridge.trace import schema
from roambus.spark.metrics.arrays import Arrays
from roambus.spark.metrics.rows import plain

Result = TypeVar("Result")


def once(function: Callable[[Run], Result]) -> Callable[[Run], Result]:
    """Compute a function once for each run; callers get copies."""

    @wraps(function)
    def get(run: Run) -> Result:
        if function not in run.known:
            run.known[function] = function(run)
        found: Result = run.known[function]
        return copy(found) if isinstance(found, pd.DataFrame | pd.Series) else found

    return get


class Run:
    """The run of a trace; raises DamagedTraceError, and so do tables of invalid rows."""

    def __init__(self, file: Path, deadline_s: float = 1.0) -> None:
        self.arrays = Arrays(file)
        """The tables without pandas."""
        self.file, self.row_count, self.deadline_s = file, self.arrays.row_count, deadline_s
        self.warm_up_s, self.air = self.arrays.warm_up_s, self.arrays.air
        self.migration_messages = self.arrays.migration_messages
        self.known: dict[Callable[..., Any], Any] = {}
        """Results of functions under `once`."""

    def rows(self, *events: str) -> pd.DataFrame:
        """The rows of these events, or all."""
        coded = self.arrays.rows.coded(events)
        return pd.DataFrame({name: plain(coded[name]) for name in coded.column_names})

    @property
    def end_s(self) -> float:
        """The run's time limit."""
        return self.arrays.end_s

    @property
    def counted_s(self) -> float:
        """How long the run was, without its warm-up."""
        return max(self.end_s - self.warm_up_s, 0.0)

    @property
    @once
    def publications(self) -> pd.DataFrame:
        """A row for each publication: `time_s`, `node`, `notification_id`, `detail` (its receivers)."""
        rows = self.rows(schema.PUBLISH)[[schema.TIME_S, schema.NODE, schema.NOTIFICATION_ID, schema.DETAIL]]
        return rows[rows[schema.TIME_S] >= self.warm_up_s].reset_index(drop=True)

    @property
    @once
    def deliveries(self) -> pd.DataFrame:
        """A row for each delivery to others: `time_s`, `node`, `notification_id`, `hops`."""
        rows = self.rows(schema.DELIVER)[[schema.TIME_S, schema.NODE, schema.NOTIFICATION_ID, schema.HOPS]]
        published = self.rows(schema.PUBLISH).drop_duplicates(schema.NOTIFICATION_ID)
        publisher = rows[schema.NOTIFICATION_ID].map(published.set_index(schema.NOTIFICATION_ID)[schema.NODE])
        rows = rows[rows[schema.NODE] != publisher]
        if self.warm_up_s:
            early = published[schema.NOTIFICATION_ID][published[schema.TIME_S] < self.warm_up_s]
            rows = rows[(rows[schema.TIME_S] >= self.warm_up_s) & ~rows[schema.NOTIFICATION_ID].isin(early)]
        return rows.reset_index(drop=True)

    @property
    @once
    def sends(self) -> pd.DataFrame:
        """A row for each packet: `time_s`, `node`, `message_type` (a category), `bytes` (no headers)."""
        packets = vars(self.arrays.packets)
        types = pd.Index(self.arrays.types, dtype=object)
        kinds = pd.Categorical.from_codes(packets[schema.MESSAGE_TYPE], types)
        return pd.DataFrame({**packets, schema.MESSAGE_TYPE: kinds}, copy=False)

    @property
    @once
    def pairs(self) -> pd.DataFrame:
        """A row for each notification and node, other than its publisher, that wanted it and was not down for good.

        `notification_id`, `subscriber`, `published_s`, `routed` (whether the protocol began to deliver it),
        `deliveries`, and of the first delivery `delivered_s`, `delay_s` and `hops`. Fewest hops break ties.
        """
        columns = dict(vars(self.arrays.pairs))
        ids = self.arrays.notifications(columns.pop("notification"))
        return pd.DataFrame({schema.NOTIFICATION_ID: ids, **columns})

    @property
    @once
    def whereabouts(self) -> pd.DataFrame:
        """A row for each of `pairs`: `notification_id`, `subscriber`, and where it went.

        `where` is delivered, stored, lost, under way, unseen or not attempted (`roambus.spark.metrics.whereabouts`);
        `reason`, `node` and its `role` say why, and whose row says so.
        """
        pairs = self.pairs[[schema.NOTIFICATION_ID, "subscriber"]]
        found = pd.DataFrame(vars(self.arrays.whereabouts))
        return pairs.join(found.assign(role=found[schema.NODE].map(self.nodes["role"])))

    @property
    @once
    def nodes(self) -> pd.DataFrame:
        """A row for each node: `role`, `messages`, `air_frames`, `air_bytes`, `energy_mj`, `died_s`.

        Frames and bytes on the air are all that the radio counted; without its counts, the packets with headers.
        """
        return pd.DataFrame(vars(self.arrays.nodes)).set_index(schema.NODE)

    @property
    @once
    def migrations(self) -> pd.DataFrame:
        """A row for each further parent of a node: `time_s`, `node`, `peer` (the new parent)."""
        return pd.DataFrame(vars(self.arrays.parents))
